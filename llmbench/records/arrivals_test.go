package records

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestArrivals reads the arrivals of both versions of the format.
func TestArrivals(t *testing.T) {
	for _, c := range []struct {
		version int
		text    string
		want    string
	}{
		{1, `"llmbench.Poisson{Rate:8 Seed:1}"`, "poisson rate=8 seed=1"},
		{1, `"llmbench.Gamma{Rate:8 Shape:0.5 Seed:1}"`, "gamma rate=8 seed=1 shape=0.5"},
		{1, `"llmbench.Constant{Rate:0.25}"`, "constant rate=0.25"},
		{1, `"llmbench.Stages{Stages:[10:1m0s 10..50:2m0s] Shape:1 Seed:1}"`, "stages"},
		{1, `"llmbench.Replay{At:[0s 1s 2s] Speed:2}"`, "replay"},
		{1, `"*mine.Trace"`, "*mine.Trace"},
		{2, `{"process":"poisson","parameters":{"rate":"8","seed":"1"}}`, "poisson rate=8 seed=1"},
		{2, `{"process":"mine"}`, "mine"},
	} {
		text := strings.NewReplacer(`"version":1`, `"version":`+string(rune('0'+c.version)), `"concurrency":2`, `"arrivals":`+c.text).Replace(head)
		run, err := Read(strings.NewReader(text+rec()), "f")
		assert.NilError(t, err)
		assert.Equal(t, run.Head.Version, c.version)
		assert.Equal(t, run.Head.Arrivals.String(), c.want)
		for q := range run.All() {
			assert.Assert(t, q.Scheduled)
		}
	}
	for _, bad := range []string{`{}`, `{"process":1}`, `7`, `[]`} {
		_, err := Read(strings.NewReader(strings.Replace(head, `"concurrency":2`, `"arrivals":`+bad, 1)), "f")
		assert.ErrorContains(t, err, "f:1: want the line about the benchmark that llmbench writes: ")
	}
	run, err := Read(strings.NewReader(head), "f")
	assert.NilError(t, err)
	assert.Assert(t, run.Head.Arrivals == nil, "a closed loop has arrivals %v", run.Head.Arrivals)
}
