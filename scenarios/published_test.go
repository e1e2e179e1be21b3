package scenarios

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/mockserver/profiles"
)

const publishedDir = "../benchdata/published"

// A publishedRow is a result of a published experiment. benchdata's tests see to it
// that there is nothing else in the files.
type publishedRow struct {
	*benchfmt.Result
	study, lines string // the file's letter, and where it stands in the text
}

// key names what was measured, of whatever server: the study and what stands below
// the model.
func (r publishedRow) key() string {
	base, parts := r.Name.Parts()
	name := string(base)
	for _, part := range parts {
		key, _, _ := strings.Cut(string(part), "=")
		if key != "/backend" && key != "/model" && key != "/quant" {
			name += string(part)
		}
	}
	return name
}

func (r publishedRow) value(unit string) (float64, bool) {
	for _, v := range r.Values {
		switch unit {
		case v.OrigUnit:
			return v.OrigValue, true
		case v.Unit:
			return v.Value, true
		}
	}
	return 0, false
}

func publishedRows(t *testing.T) []publishedRow {
	t.Helper()
	files, err := filepath.Glob(publishedDir + "/*.txt")
	assert.NilError(t, err)
	var all []publishedRow
	for _, file := range files {
		text, err := os.ReadFile(file)
		assert.NilError(t, err)
		lines := strings.Split(string(text), "\n")
		study, _, _ := strings.Cut(filepath.Base(file), "-")
		r := benchfmt.NewReader(strings.NewReader(string(text)), file)
		for r.Scan() {
			if rec, ok := r.Result().(*benchfmt.Result); ok {
				_, line := rec.Pos()
				at := ""
				for at == "" {
					line--
					at, _ = strings.CutPrefix(lines[line-1], "# lines ")
					if !strings.HasPrefix(lines[line-1], "# lines ") {
						at = ""
					}
				}
				all = append(all, publishedRow{rec.Clone(), strings.ToUpper(study), at})
			}
		}
		assert.NilError(t, r.Err())
	}
	assert.Assert(t, len(all) > 200)
	return all
}

// TestPublishedRowsHaveCells checks that every published row is one of a scenario's
// loads, with the same number of requests and the same timeout, and the other way
// round.
func TestPublishedRowsHaveCells(t *testing.T) {
	cells := map[string]cell{} // by experiment and name
	used := map[string]bool{}
	for _, st := range studies() {
		for _, c := range st.published {
			key := c.experiment + " " + st.name + "/" + st.cellName(c)
			if _, twice := cells[key]; twice {
				t.Errorf("%s: twice", key)
			}
			cells[key] = c
		}
	}
	for _, row := range publishedRows(t) {
		experiment := row.GetConfig("experiment")
		if _, none := unrepeatable[experiment]; none {
			used[experiment] = true
			continue
		}
		key := experiment + " " + row.key()
		c, found := cells[key]
		if !found {
			t.Errorf("%s of %s: no scenario has this load", row.Name, experiment)
			continue
		}
		used[key] = true
		if n, has := row.value("expected-req"); has && int(n) != c.requests {
			t.Errorf("%s of %s: %g requests, the scenario sends %d", row.Name, experiment, n, c.requests)
		}
		if out, has := row.value("out-tok/req"); has && c.data.out > 0 && math.Round(out) != float64(c.data.out) {
			t.Errorf("%s of %s: %g tokens an answer, the scenario has %d", row.Name, experiment, out, c.data.out)
		}
		if timeout := row.GetConfig("client-timeout"); timeout != "" {
			if d, err := time.ParseDuration(timeout); err != nil || d != c.timeout {
				t.Errorf("%s of %s: client-timeout %s, the scenario's is %v", row.Name, experiment, timeout, c.timeout)
			}
		}
	}
	for key := range cells {
		if !used[key] {
			t.Errorf("%s: nothing of it is published", key)
		}
	}
	for experiment := range unrepeatable {
		if !used[experiment] {
			t.Errorf("%s: nothing of it is published", experiment)
		}
	}
}

// TestPublishedExperiments checks that the table in benchdata/published/README.md
// lists every experiment, with the scenarios that repeat it.
func TestPublishedExperiments(t *testing.T) {
	text, err := os.ReadFile(publishedDir + "/README.md")
	assert.NilError(t, err)
	listed := map[string][]string{} // the benchmarks of each experiment
	for _, m := range regexp.MustCompile("(?m)^\\| (`[^|]*) \\| ([^|]*) \\|").FindAllStringSubmatch(string(text), -1) {
		for _, id := range regexp.MustCompile("`([A-D][0-9]*)`").FindAllStringSubmatch(m[1], -1) {
			listed[id[1]] = slices.Sorted(slices.Values(strings.Split(m[2], ", ")))
		}
	}
	want := map[string][]string{"B1": {"`LengthGrid`"}, "D9": {"-"}}
	for _, st := range studies() {
		for _, c := range st.published {
			if name := "`" + st.name + "`"; !slices.Contains(want[c.experiment], name) {
				want[c.experiment] = append(want[c.experiment], name)
			}
		}
	}
	assert.DeepEqual(t, listed, want)
}

// TestProfilesHavePublishedFigures checks that the points which the mock's profiles
// were fitted to are the published ones: they stand in two places, because the
// profiles know no file of results.
func TestProfilesHavePublishedFigures(t *testing.T) {
	rows := map[string][]publishedRow{} // by study and lines
	for _, row := range publishedRows(t) {
		rows[row.study+" "+row.lines] = append(rows[row.study+" "+row.lines], row)
	}
	renamed := map[string]string{"tok/s": "output-tok/s", "mean-tpot-ns": "mean-token-ns"}
	points := 0
	for _, name := range profiles.Names() {
		p, err := profiles.Load(name)
		assert.NilError(t, err)
		study, _, _ := strings.Cut(p.Source.Study, ":")
		for _, pt := range p.Points {
			found := rows[study+" "+pt.Lines]
			if len(found) != 1 {
				t.Errorf("%s: c=%d, lines %s of study %s: %d published rows", name, pt.Concurrency, pt.Lines, study, len(found))
				continue
			}
			row := found[0]
			points++
			if c := "/concurrency=" + strconv.Itoa(pt.Concurrency); !strings.HasSuffix(string(row.Name.Full()), c) {
				t.Errorf("%s: lines %s: c=%d, published is %s", name, pt.Lines, pt.Concurrency, row.Name)
			}
			for unit, v := range pt.Values {
				got, has := row.value(unit)
				if !has {
					got, has = row.value(renamed[unit])
				}
				if unit == "requests" {
					got, has = float64(row.Iters), true
				}
				// Study C prints few digits; the totals of the same row have more.
				run, _ := row.value("run-ns")
				tokens, _ := row.value("out-tok")
				exact := map[string]float64{"req/s": float64(row.Iters) / run * 1e9, "tok/s": tokens / run * 1e9}[unit]
				if (!has || got != v) && !(math.Abs(v/exact-1) <= 1e-4) {
					t.Errorf("%s: c=%d: %v %s, published is %v", name, pt.Concurrency, v, unit, got)
				}
			}
		}
	}
	assert.Assert(t, points > 130, "%d points", points)
}
