package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"
)

// read returns a file of testdata.
func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	assert.NilError(t, err)
	return string(data)
}

// compareFiles compares files in testdata. The name units may be "".
func compareFiles(t *testing.T, units, old, new string) *Report {
	t.Helper()
	var lines string
	if units != "" {
		lines = read(t, units)
	}
	r, err := Compare(unitsFile(units, lines), File{Name: old, Data: strings.NewReader(read(t, old))}, File{Name: new, Data: strings.NewReader(read(t, new))}, Options{})
	assert.NilError(t, err)
	return r
}

// awkward returns a report with problems. Its names contain characters that a terminal or Markdown
// would interpret.
func awkward(t *testing.T) *Report {
	lines := []string{
		"gpu: A100 | *big* <b> @team",
		"Unit tok_s/req better=higher gate=5%",
		"BenchmarkA/x=`1|2`/\x1b[31m_red_ 1 NaN tok_s/req 0 x",
		"BenchmarkB/x=1 1 100 tok_s/req",
	}
	return judge(t, "", runs(3, lines...), runs(3, append(lines, "BenchmarkC 1 1 x")...)+"--- FAIL: BenchmarkC\n", Options{})
}

// moved returns the report on a benchmark that passes. Its tail and some other units that are not
// gated change.
func moved(t *testing.T) *Report {
	units := "Unit p50-ttft-ns better=lower gate=5%\nUnit p99-itl-ns better=lower\nUnit fail-% better=lower\nUnit hits better=higher\n"
	side := func(p99, fail, hits, other float64) (all string) {
		for i := range 6 {
			x := 1 + 0.01*float64(i)
			all += run(fmt.Sprintf("BenchmarkChat/c=8-2 1 %.0f p50-ttft-ns %.0f p99-itl-ns %.4f fail-%% %.1f hits %.3f client-err-%% %.1f other",
				30e6*x, p99*x, fail*x, hits*x, 0.5794*x, other*x))
		}
		return all
	}
	return judge(t, units, side(13e6, 0, 100, 1), side(56e6, 3, 120, 1.05), Options{})
}

func TestRenderings(t *testing.T) {
	for name, r := range map[string]*Report{
		"moved": moved(t),
		"look": judge(t, gateOp, runs(8, "BenchmarkA 1 100 ns/op"), runs(8, "BenchmarkA 1 110 ns/op"),
			Options{Planned: 10, Max: 25, RequireQuiet: true, NewFirst: order(8)}),
		"end": judge(t, gateOp, runs(10, "BenchmarkA 1 100 ns/op"), runs(10, "BenchmarkA 1 100 ns/op", "BenchmarkB 1 100 ns/op"),
			Options{Planned: 10, RequireQuiet: true, NewFirst: order(10)}),
		"regression": compareFiles(t, "", "chat/old.txt", "chat/new.txt"),
		"pass":       compareFiles(t, "", "chat/old.txt", "chat/same.txt"),
		"missing":    compareFiles(t, "", "words/old.txt", "chat/new.txt"),
		"awkward":    awkward(t),
	} {
		var text, markdown, object bytes.Buffer
		assert.NilError(t, r.Text(&text))
		assert.NilError(t, r.Markdown(&markdown))
		assert.NilError(t, r.JSON(&object))
		golden.Assert(t, text.String(), name+".text.golden")
		golden.Assert(t, markdown.String(), name+".md.golden")
		golden.Assert(t, object.String(), name+".json.golden")

		var back Report
		assert.NilError(t, json.Unmarshal(object.Bytes(), &back))
		assert.DeepEqual(t, &back, r)
	}
}

// TestAmount checks how values are shown to readers.
func TestAmount(t *testing.T) {
	for _, c := range []struct {
		value float64
		unit  string
		want  string
	}{
		{31_559_468, "p50-ttft-ns", "31.56ms"},
		{0.031559468, "p50-ttft-sec", "31.56ms"},
		{1_500_000_000, "ns/op", "1.500s"},
		{0, "ns/op", "0s"},
		{5000, "B/op", "4.883KiB"},
		{12, "MB/s", "11.44MiB"},
		{0.5794, "client-err-%", "0.5794"},
		{0.00001234, "x", "1.234e-05"},
		{-0.5, "x", "-0.5"},
		{118.4, "output-tok/s", "118.4"},
		{1305, "output-tok/s", "1.305k"},
		{0, "fail-%", "0"},
		{3, "tok/sec", "3.000"},
	} {
		assert.Equal(t, amount(c.value, c.unit), c.want, "amount(%v, %q)", c.value, c.unit)
	}
}

// TestWords compares results of a small package that has nothing to do with inference servers. They
// were recorded on a busy machine, from ten runs of each version, in turn. In words/new.txt,
// Longest counts runes.
func TestWords(t *testing.T) {
	r := compareFiles(t, "words/units.txt", "words/old.txt", "words/new.txt")
	assert.Equal(t, r.Verdict, Regression)
	assert.DeepEqual(t, r.reasons(), []string{"Longest ns/op: +76.25%, may be 5% worse"})
	r = compareFiles(t, "words/units.txt", "words/old.txt", "words/same.txt")
	assert.Equal(t, r.Verdict, Pass)
	assert.Equal(t, r.Cells, 6)
}
