package scenarios

import (
	"encoding/json"
	"maps"
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
)

const publishedDir = "../benchdata/published"

// A publishedRow is a result of a published experiment. The tests of benchdata check that the files
// contain nothing else.
type publishedRow struct {
	*benchfmt.Result
	study string // the letter of the study
	lines string // the lines of the study's text from which the result was taken
}

// key returns the name of the row without the server. It consists of the scenario and the parts
// that come after the model.
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

// value returns the value of a unit in the row. The unit may be written as published or as benchfmt
// changes it.
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

// publishedRows returns the results in all files.
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
			if result, ok := r.Result().(*benchfmt.Result); ok {
				_, line := result.Pos()
				all = append(all, publishedRow{result.Clone(), strings.ToUpper(study), sourceLines(lines[:line])})
			}
		}
		assert.NilError(t, r.Err())
	}
	assert.Assert(t, len(all) > 200)
	return all
}

// sourceLines returns the content of the last comment "# lines …" in a file.
func sourceLines(file []string) string {
	for _, line := range slices.Backward(file) {
		if source, found := strings.CutPrefix(line, "# lines "); found {
			return source
		}
	}
	return ""
}

// TestPublishedRowsHaveCells checks that every published row is the result of a load of a scenario.
// The load must have the same number of requests and the same timeout. Also, every published load
// must have a row.
func TestPublishedRowsHaveCells(t *testing.T) {
	cells := map[string]cell{} // the cells by experiment and name
	used := map[string]bool{}
	for _, st := range studies() {
		for _, c := range st.published {
			key := c.experiment + " " + st.name + "/" + st.cellName(c)
			_, twice := cells[key]
			assert.Check(t, !twice, "two loads are called %s", key)
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
		assert.Check(t, found, "%s of %s: no scenario has this load", row.Name, experiment)
		used[key] = true
		if n, stated := row.value("expected-req"); stated {
			assert.Check(t, int(n) == c.requests, "%s of %s: %g requests, the scenario sends %d", row.Name, experiment, n, c.requests)
		}
		if out, stated := row.value("out-tok/req"); stated && c.data.out > 0 {
			assert.Check(t, math.Round(out) == float64(c.data.out), "%s of %s: answers of %g tokens, the scenario's have %d", row.Name, experiment, out, c.data.out)
		}
		if timeout := row.GetConfig("client-timeout"); timeout != "" {
			d, err := time.ParseDuration(timeout)
			assert.Check(t, err == nil && d == c.timeout, "%s of %s: client-timeout %s, the scenario's is %v", row.Name, experiment, timeout, c.timeout)
		}
	}
	for _, key := range slices.Concat(slices.Collect(maps.Keys(cells)), slices.Collect(maps.Keys(unrepeatable))) {
		assert.Check(t, used[key], "%s: no such result is published", key)
	}
}

// TestPublishedExperiments checks that the table in benchdata/published/README.md lists every
// experiment, and the scenarios that repeat it.
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

// TestProfilesHavePublishedFigures checks that the points to which the profiles of the
// simulated server were fitted are the published figures. Both are stored, because the
// profiles read no file of results.
func TestProfilesHavePublishedFigures(t *testing.T) {
	rows := map[string][]publishedRow{} // by study and lines
	for _, row := range publishedRows(t) {
		rows[row.study+" "+row.lines] = append(rows[row.study+" "+row.lines], row)
	}
	points := 0
	files, err := filepath.Glob("../mockserver/internal/profiles/*.json")
	assert.NilError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		assert.NilError(t, err)
		var p struct {
			Name   string
			Source struct{ Study string }
			Points []struct {
				Concurrency int
				Lines       string
				Values      map[string]float64
			}
		}
		assert.NilError(t, json.Unmarshal(text, &p), file)
		study, _, _ := strings.Cut(p.Source.Study, ":")
		for _, pt := range p.Points {
			found := rows[study+" "+pt.Lines]
			assert.Equal(t, len(found), 1, "%s: concurrency %d: published rows of lines %s of study %s", p.Name, pt.Concurrency, pt.Lines, study)
			row := found[0]
			points++
			assert.Check(t, strings.HasSuffix(string(row.Name.Full()), "/concurrency="+strconv.Itoa(pt.Concurrency)),
				"%s: lines %s: concurrency %d, the published row is %s", p.Name, pt.Lines, pt.Concurrency, row.Name)
			for unit, v := range pt.Values {
				assert.Check(t, row.hasFigure(unit, v), "%s: concurrency %d: %v %s is not in the published row %s", p.Name, pt.Concurrency, v, unit, row.Name)
			}
		}
	}
	assert.Assert(t, points > 130, "%d points", points)
}

// hasFigure reports whether v is the row's figure of a unit, by its name in a profile.
func (r publishedRow) hasFigure(unit string, v float64) bool {
	published, found := r.value(unit)
	switch {
	case unit == "requests":
		published, found = float64(r.Iters), true
	case !found && unit == "tok/s":
		published, found = r.value("output-tok/s")
	case !found && unit == "mean-tpot-ns":
		published, found = r.value("mean-token-ns")
	}
	if found && published == v {
		return true
	}
	// Study C prints few digits of its rates; its totals have more.
	run, _ := r.value("run-ns")
	tokens, _ := r.value("out-tok")
	exact := map[string]float64{"req/s": float64(r.Iters) / run * 1e9, "tok/s": tokens / run * 1e9}[unit]
	return math.Abs(v/exact-1) <= 1e-4
}
