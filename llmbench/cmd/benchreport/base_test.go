package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
)

// goTest returns the output of go test for a benchmark.
func goTest(tpot float64) string {
	return fmt.Sprintf("backend: mock\ngoos: linux\ngoarch: amd64\npkg: p\ncpu: c\nUnit mean-tpot-ns better=lower gate=2%%\n"+
		"BenchmarkChat/concurrency=2-2 \t       1\t   %.0f mean-tpot-ns\nPASS\nok  \tp\t1.2s\n", tpot)
}

// reportText returns the report with -base, as text.
func reportText(t *testing.T, old, new string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	assert.Equal(t, run([]string{"-o=-", "-format=text", "-base", old, new}, &stdout, &stderr), 0, "%s", &stderr)
	return stdout.String()
}

// TestBaseOfFolders checks that folders in which each file is the output of one run are judged.
func TestBaseOfFolders(t *testing.T) {
	folder := func(tpot float64) string {
		dir := t.TempDir()
		for i := range 8 {
			assert.NilError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.txt", i)), []byte(goTest(tpot+float64(1000*(i%3)))), 0o600))
		}
		return dir
	}
	old := folder(2e6)
	text := reportText(t, old, folder(2e6))
	assert.Assert(t, strings.Contains(text, "Pass: in none of 1 figure with a margin"), "%s", text)
	text = reportText(t, old, folder(3e6))
	assert.Assert(t, strings.Contains(text, "Regression: in 1 of 1 figure with a margin"), "%s", text)
}

// TestKeyOfSetting checks that a sentence that begins with the key of a setting keeps the spelling of the key.
func TestKeyOfSetting(t *testing.T) {
	var files []string
	for _, profile := range []string{"fast", "slow"} {
		files = append(files, filepath.Join(t.TempDir(), profile+".txt"))
		assert.NilError(t, os.WriteFile(files[len(files)-1], []byte(strings.Repeat("mock-profile: "+profile+"\n"+goTest(2e6), 8)), 0o600))
	}
	text := reportText(t, files[0], files[1])
	assert.Assert(t, strings.Contains(text, "Reason: mock-profile is slow, but fast in "), text)
}

// TestSamplesInFolders checks that each of several folders is one system, whose files are samples.
func TestSamplesInFolders(t *testing.T) {
	t.Chdir(t.TempDir())
	for folder, tpot := range map[string]float64{"a": 2e6, "b": 3e6} {
		assert.NilError(t, os.Mkdir(folder, 0o777))
		for i := range 5 {
			assert.NilError(t, os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d.txt", i)), []byte(goTest(tpot+float64(1000*i))), 0o600))
		}
	}
	for _, args := range [][]string{{"a", "b"}, {"a/*.txt", "b/*.txt"}, {"a/*.txt"}, {"a", "a"}} {
		var stdout, stderr bytes.Buffer
		assert.Equal(t, run(append([]string{"-o=-", "-format=text"}, args...), &stdout, &stderr), 0, "%s", &stderr)
		assert.Assert(t, strings.Contains(stdout.String(), "5 runs"), "%s", &stdout)
		assert.Assert(t, !strings.Contains(stdout.String(), "1.txt"), "%s", &stdout)
	}
	var stdout, stderr bytes.Buffer // a lone folder may have a file for each system
	assert.Equal(t, run([]string{"-o=-", "-format=text", "a"}, &stdout, &stderr), 0, "%s", &stderr)
	assert.Assert(t, strings.Contains(stdout.String(), "1.txt"), "%s", &stdout)
}

// TestOneEstimate checks that the report has the same change as benchgate ab for the samples that benchgate ab took.
func TestOneEstimate(t *testing.T) {
	const rounds = 10
	random := rand.New(rand.NewPCG(3, 4))
	var sides, marked [2]string
	newFirst := make([]bool, rounds)
	for i := range rounds {
		newFirst[i] = random.IntN(2) == 1
		for side, tpot := range []float64{2e6, 3.9e6} {
			text := goTest(tpot * (1 + 0.05*float64(i%4)) * (1 + 0.06*random.NormFloat64()))
			sides[side] += text
			marked[side] += gate.RoundLine(i+1, newFirst[i] == (side == 1)) + text
		}
	}
	file := func(i int) gate.File { return gate.File{Data: strings.NewReader(sides[i])} }
	ab, err := gate.Compare(gate.File{}, file(0), file(1), gate.Options{NewFirst: newFirst})
	assert.NilError(t, err)
	files, err := gate.Compare(gate.File{}, file(0), file(1), gate.Options{})
	assert.NilError(t, err)
	want := fmt.Sprintf("changed by %+.2f%%", 100**ab.Rows[0].Change)
	assert.Assert(t, want != fmt.Sprintf("changed by %+.2f%%", 100**files.Rows[0].Change))
	dir := t.TempDir()
	var paths [2]string
	for i, name := range []string{"base.txt", "head.txt"} {
		paths[i] = filepath.Join(dir, name)
		assert.NilError(t, os.WriteFile(paths[i], []byte(marked[i]), 0o600))
	}
	text := reportText(t, paths[0], paths[1])
	assert.Assert(t, strings.Contains(text, want), "want %q:\n%s", want, text)
}
