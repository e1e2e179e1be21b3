package gate

import (
	"bytes"
	"encoding/json"
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

// compareFiles compares files of testdata; units may be "".
func compareFiles(t *testing.T, units, old, new string) *Report {
	t.Helper()
	var lines string
	if units != "" {
		lines = read(t, units)
	}
	r, err := Compare(File{units, strings.NewReader(lines)}, File{old, strings.NewReader(read(t, old))}, File{new, strings.NewReader(read(t, new))}, Options{})
	assert.NilError(t, err)
	return r
}

// awkward returns a report with problems, and with names that a terminal or Markdown
// would interpret.
func awkward(t *testing.T) *Report {
	lines := []string{
		"gpu: A100 | *big* <b> @team",
		"Unit tok_s/req better=higher gate=5%",
		"BenchmarkA/x=`1|2`/\x1b[31m_red_ 1 NaN tok_s/req 0 x",
		"BenchmarkB/x=1 1 100 tok_s/req",
	}
	return compare(t, "", runs(3, lines...), runs(3, append(lines, "BenchmarkC 1 1 x")...)+"--- FAIL: BenchmarkC\n", Options{})
}

func TestRenderings(t *testing.T) {
	for name, r := range map[string]*Report{
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

// TestWords compares results of a small package that has nothing to do with inference
// servers. They were recorded from ten runs of each version, in turn, on a busy machine.
// In words/new.txt, Longest counts runes.
func TestWords(t *testing.T) {
	r := compareFiles(t, "words/units.txt", "words/old.txt", "words/new.txt")
	assert.Equal(t, r.Verdict, Regression)
	assert.DeepEqual(t, r.reasons(), []string{"Longest sec/op: +76.25%, may be 5% worse"})
	r = compareFiles(t, "words/units.txt", "words/old.txt", "words/same.txt")
	assert.Equal(t, r.Verdict, Pass)
	assert.Equal(t, r.Cells, 6)
}
