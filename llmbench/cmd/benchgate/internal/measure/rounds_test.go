package measure

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestEndConfiguration checks the lines that reset the configuration at the end of a process's output.
func TestEndConfiguration(t *testing.T) {
	for text, want := range map[string]string{
		"":                 "",
		"PASS\n":           "",
		"a: 1\nb: 2\na:\n": "b:\n",
		"a: 1\ngoos: linux\ngoarch: amd64\npkg: x\ncpu: y\n": "a:\n",
		"a: 1\nBenchmarkX 1 2 x\nBenchmarkX 1\nb: 2":         "a:\nb:\n",
	} {
		assert.Equal(t, string(endConfiguration([]byte(text))), want, "%q", text)
	}
}

// TestKeptOrder checks that the samples of a round are taken in the order that the seed determines, even if the
// folder already has one of the two.
func TestKeptOrder(t *testing.T) {
	for _, c := range []struct {
		missing int // position of the missing sample in its round
		kept    int // number of samples of that round that are not taken again
	}{{0, 0}, {1, 1}} {
		var progress bytes.Buffer
		r := &rounds{folder: folder{path: t.TempDir()}, sides: [2]side{{name: "a"}, {name: "b"}}, seed: 1, progress: &progress, hard: context.Background()}
		all := func() { // without binaries, samples are empty
			progress.Reset()
			assert.NilError(t, r.do(t.Context(), 6, func(int) (bool, error) { return false, nil }))
		}
		all()
		for i, secondFirst := range r.secondFirst(6) {
			place := c.missing
			if secondFirst {
				place = 1 - place
			}
			assert.NilError(t, os.Remove(r.file(r.sides[place], i+1)))
		}
		all()
		assert.Equal(t, strings.Count(progress.String(), " kept"), 6*c.kept, &progress)
	}
}
