package benchdata

import (
	"bufio"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchunit"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A published row is a result together with its lines in the study.
type published struct {
	*benchfmt.Result
	lines string
}

// readPublished reads a file of results. The file must not have lines, other than
// comments, that benchfmt ignores.
func readPublished(t *testing.T, file string) []published {
	t.Helper()
	f, err := os.Open(file)
	assert.NilError(t, err)
	defer f.Close()
	lines := map[int]string{} // lines in the study, keyed by the row's line in the file
	text := bufio.NewScanner(f)
	at := ""
	for n := 1; text.Scan(); n++ {
		line := text.Text()
		if m := regexp.MustCompile(`^# (?:study \w+, )?lines (.*)`).FindStringSubmatch(line); m != nil {
			at = m[1]
		}
		known := line == "" || regexp.MustCompile(`^(#|Unit |Benchmark|[a-z][a-z-]*:)`).MatchString(line)
		assert.Assert(t, known, "%s:%d: neither a result nor a comment: %s", file, n, line)
		lines[n] = at
	}
	assert.NilError(t, text.Err())
	_, err = f.Seek(0, 0)
	assert.NilError(t, err)
	var all []published
	r := benchfmt.NewReader(f, file)
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.Result:
			_, line := rec.Pos()
			all = append(all, published{rec.Clone(), lines[line]})
		case *benchfmt.SyntaxError:
			t.Error(rec)
		}
	}
	assert.NilError(t, r.Err())
	return all
}

func publishedFiles(t *testing.T) []string {
	files, err := filepath.Glob("published/*.txt")
	assert.NilError(t, err)
	assert.Equal(t, len(files), 5)
	return files
}

// original returns a value and its unit as they are in the file.
func original(v benchfmt.Value) (float64, string) {
	if v.OrigUnit != "" {
		return v.OrigValue, v.OrigUnit
	}
	return v.Value, v.Unit
}

// value returns the value of a row in a unit of the file.
func (p published) value(unit string) (float64, bool) {
	for _, v := range p.Values {
		if x, u := original(v); u == unit {
			return x, true
		}
	}
	return 0, false
}

// TestPublishedNames checks that the names of published rows follow the naming scheme of this
// module's benchmarks.
func TestPublishedNames(t *testing.T) {
	order := []string{"backend", "model", "quant", "workload", "stream", "output", "rate", "concurrency"}
	for _, file := range publishedFiles(t) {
		seen := map[string]bool{}
		for _, row := range readPublished(t, file) {
			name := string(row.Name.Full())
			if seen[name] {
				t.Errorf("%s: %s: twice; benchstat would take the second for another sample", file, name)
			}
			seen[name] = true
			_, parts := row.Name.Parts()
			last, key := -1, ""
			for _, part := range parts {
				k, value, _ := strings.Cut(strings.TrimPrefix(string(part), "/"), "=")
				i := slices.Index(order, k)
				if i <= last || value == "" || value != llmbench.NameValue(value) {
					t.Errorf("%s: %s: %s: keys stand in the order %v, values are of a-z0-9._-", file, name, part, order)
				}
				last, key = i, k
			}
			if last < slices.Index(order, "output") && row.GetConfig("experiment") != "D9" {
				t.Errorf("%s: %s: ends with %s; the last key has a number", file, name, key)
			}
			for _, key := range []string{"source", "tool", "date", "hardware", "experiment"} {
				if row.GetConfig(key) == "" {
					t.Errorf("%s: %s: no %s", file, name, key)
				}
			}
		}
	}
}

// TestPublishedUnits checks that every unit is a unit of llmbench or has an explanation, and that
// units of llmbench have the same better direction here.
func TestPublishedUnits(t *testing.T) {
	text, err := os.ReadFile("published/README.md")
	assert.NilError(t, err)
	explained := map[string]bool{}
	_, table, _ := strings.Cut(string(text), "| unit | meaning |")
	table, _, _ = strings.Cut(table, "\n\n")
	for row := range strings.Lines(table) {
		names, _, _ := strings.Cut(strings.TrimPrefix(row, "|"), "|")
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(names, -1) {
			explained[m[1]] = true
		}
	}
	ours := map[string]sample.Unit{}
	for _, u := range sample.Units {
		ours[u.Name] = u
	}
	used := map[string]bool{}
	for _, file := range publishedFiles(t) {
		f, err := os.Open(file)
		assert.NilError(t, err)
		defer f.Close()
		r := benchfmt.NewReader(f, file)
		for r.Scan() {
			if rec, ok := r.Result().(*benchfmt.UnitMetadata); ok {
				if u, known := ours[rec.OrigUnit]; known && rec.Key == "better" && u.Better != rec.Value {
					t.Errorf("%s: %s: better=%s, want %s", file, rec.OrigUnit, rec.Value, u.Better)
				}
			}
		}
		for _, row := range readPublished(t, file) {
			for _, v := range row.Values {
				_, unit := original(v)
				used[unit] = true
				if _, known := ours[unit]; known == explained[unit] {
					t.Errorf("%s: unit %s: llmbench's %t, in published/README.md %t; want one", file, unit, known, explained[unit])
				}
				if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) || v.Value < 0 {
					t.Errorf("%s: %s: %v %s", file, row.Name, v.Value, unit)
				}
				if tidied := benchunit.Scale(v.Value, benchunit.ClassOf(v.Unit)); strings.HasSuffix(v.Unit, "-ns") {
					t.Errorf("%s: %s: %s %s is not tidied to seconds: benchstat puts it apart", file, row.Name, tidied, unit)
				}
			}
		}
	}
	for unit := range explained {
		if !used[unit] {
			t.Errorf("published/README.md explains %s, which no row has", unit)
		}
	}
}

// TestPublishedDerived checks values that were computed from other values of a row.
func TestPublishedDerived(t *testing.T) {
	checked := 0
	for _, row := range readPublished(t, "published/d-evalscope.txt") {
		run, ran := row.value("run-ns")
		if !ran {
			continue
		}
		out, _ := row.value("out-tok/req")
		expected, _ := row.value("expected-req")
		failed, _ := row.value("failed-req")
		lost, _ := row.value("lost-req")
		if expected-failed-lost != float64(row.Iters) {
			t.Errorf("%s: %g - %g - %g requests, and %d succeeded", row.Name, expected, failed, lost, row.Iters)
		}
		for unit, want := range map[string]float64{
			"output-tok/s": float64(row.Iters) * out / run * 1e9,
			"fail-%":       (failed + lost) / expected * 100,
		} {
			got, has := row.value(unit)
			if !has || math.Abs(got-want) > 1e-5*want {
				t.Errorf("%s: %g %s, want %g", row.Name, got, unit, want)
			}
			checked++
		}
		// The study stops its clock earlier than llmbench, or at the same time if no request failed.
		if own, _ := row.value("tok/s"); own < 0.999*float64(row.Iters)*out/run*1e9 {
			t.Errorf("%s: %g tok/s by the time of the last success, less than by the whole run", row.Name, own)
		}
	}
	assert.Equal(t, checked, 2*94)
	for _, row := range readPublished(t, "published/c-strix-halo.txt") {
		if expected, has := row.value("expected-req"); has {
			failed, _ := row.value("failed-req")
			if got, _ := row.value("fail-%"); got != failed/expected*100 || expected-failed != float64(row.Iters) {
				t.Errorf("%s: %g fail-%%, want %g of %g", row.Name, got, failed, expected)
			}
		}
	}
	for _, file := range []string{"published/a-yi-6b-backends.txt", "published/a0-yi-6b-backends-draft.txt"} {
		for _, row := range readPublished(t, file) {
			rate, measured := row.value("req/s")
			out, _ := row.value("out-tok/req")
			if got, _ := row.value("output-tok/s"); measured && math.Abs(got/(rate*out)-1) > 1e-5 {
				t.Errorf("%s: %g output-tok/s, want %g", row.Name, got, rate*out)
			}
		}
	}
}

// TestPublishedBenchstat checks that benchstat reads each file without a warning.
func TestPublishedBenchstat(t *testing.T) {
	for _, file := range publishedFiles(t) {
		var stderr strings.Builder
		cmd := exec.CommandContext(t.Context(), "go", "tool", "benchstat", file)
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		assert.NilError(t, err, "%s: %s", file, stderr.String())
		assert.Equal(t, stderr.String(), "", file)
		for _, row := range readPublished(t, file) {
			if name := string(row.Name.Full()); !strings.Contains(string(out), name+" ") {
				t.Errorf("%s: benchstat does not show %s", file, name)
			}
		}
	}
}
