package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

const ms = time.Millisecond

// TestTruth computes the figures of two workers with two requests each. The epoch of the
// client is 1 s after that of the server.
func TestTruth(t *testing.T) {
	const epoch = int64(1e18)
	var requests []sent
	var log []mockserver.Entry
	add := func(accepted, wrote time.Duration) {
		id := fmt.Sprint(len(log))
		sends := sent{ID: id, Epoch: epoch + 1e9, Start: accepted - time.Second - 5*ms, Outcome: sample.OK}
		if wrote > 0 {
			sends.Wrote = wrote - time.Second
		}
		requests = append(requests, sends)
		log = append(log, mockserver.Entry{
			ID: id, Accepted: accepted, Tokens: []time.Duration{accepted + 100*ms, accepted + 110*ms, accepted + 150*ms}, End: accepted + 160*ms,
			PromptTokens: 7, OutputTokens: 3,
		})
	}
	add(1000*ms, 0)       // the client does not know when it had written the request
	add(1002*ms, 1001*ms) // the server was late
	add(1200*ms, 1300*ms) // the client was late, after it had written the request
	add(1400*ms, 1400*ms)
	log = append(log, mockserver.Entry{ID: "of the warm-up"})
	got, err := truth(requests, log, epoch, 2)
	assert.NilError(t, err)
	// Perfect workers begin at 0 and 200 µs. The first sends the requests of 160 ms, 160 ms.
	elapsed := llmbench.DefaultStagger + 161*ms + 160*ms
	for unit, want := range map[string]float64{
		"p50-ttft-ns": 100e6, "mean-ttft-ns": 100.25e6, "mean-tpot-ns": 25e6, "p50-e2e-ns": 150e6, "mean-itl-ns": 25e6,
		"req/s": 4 / elapsed.Seconds(), "output-tok/s": 12 / elapsed.Seconds(), "in-tok/req": 7, "out-tok/req": 3,
	} {
		assert.Equal(t, got[unit], want, unit)
	}

	_, err = truth(append(requests, sent{ID: "x", Outcome: sample.OK}), log, epoch, 2)
	assert.ErrorContains(t, err, `request x`)
	requests[0].Outcome = sample.Stalled
	_, err = truth(requests, log, epoch, 2)
	assert.ErrorContains(t, err, `"stalled"`)
}

// TestPromises checks each promise at its limit and beyond.
func TestPromises(t *testing.T) {
	said := func(v float64) *float64 { return &v }
	right := result{load: load{64, 0}, ClientError: said(0.1), Figures: []figure{{"a", 1.02, 1, 2, true}}}
	wrong := result{load: load{64, 2}, ClientError: said(12), Figures: []figure{{"a", 1.06, 1, 6, true}}}
	withheld := result{load: load{64, 2}, ClientError: said(12), Figures: []figure{{"a", 1.06, 1, 6, false}, {"b", 1, 1, 0, false}}, Withheld: []string{"a", "b"}}
	accused := result{load: load{64, 2}, ClientError: said(2), Figures: []figure{{"a", 1.02, 1, 2, false}}, Withheld: []string{"a"}}
	small, large := withheld, withheld
	small.ClientError, large.ClientError = said(2.9), said(12.1)
	silent := right
	silent.ClientError = nil
	many := func(n int, r result) (all []result) {
		for range n {
			all = append(all, r)
		}
		return all
	}
	for _, test := range []struct {
		name    string
		results []result
		held    string
	}{
		{"right", many(100, right), "yes yes yes"},
		{"wrong", append(many(99, right), wrong), "no yes yes"},
		{"withheld", many(100, withheld), "yes yes yes"},
		{"two accused", append(many(98, right), many(2, accused)...), "yes yes yes"},
		{"three accused", append(many(97, right), many(3, accused)...), "yes no yes"},
		{"one of ten accused", append(many(9, right), accused), "yes no yes"},
		{"ten too small", append(many(90, right), many(10, small)...), "yes yes yes"},
		{"eleven too small or too large", append(append(many(89, right), many(6, small)...), many(5, large)...), "yes yes no"},
		{"unknown", append(many(89, right), many(11, silent)...), "yes yes no"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var held []string
			for _, p := range promises(test.results) {
				held = append(held, map[bool]string{true: "yes", false: "no"}[p.held])
			}
			assert.Equal(t, strings.Join(held, " "), test.held)
		})
	}

	assert.Equal(t, table([]result{wrong, right, withheld}), ""+
		"| streams | busy loops | runs | refused | refused, all figures within 2 % | client-err-% tells the error | figures shown, more than 5 % wrong | largest error shown | figures withheld, within 2 % |\n"+
		"| ---     | ---        | ---  | ---     | ---                             | ---                          | ---                                | ---                 | ---                          |\n"+
		"| 64      | 0          | 1    | 0       | 0                               | 1                            | 1, 0                               | 2 %                 | 0, 0                         |\n"+
		"| 64      | 2          | 2    | 1       | 0                               | 2                            | 1, 1                               | 6 %                 | 2, 1                         |\n"+
		"| all     | all        | 3    | 1       | 0                               | 3                            | 2, 1                               | 6 %                 | 2, 1                         |\n")
}

// TestRun makes a run of each of two loads. What the runs show depends on the machine.
func TestRun(t *testing.T) {
	if _, err := exec.LookPath("taskset"); err != nil || runtime.NumCPU() < 2 {
		t.Skipf("want taskset and two CPUs: %v, %d CPUs", err, runtime.NumCPU())
	}
	t.Chdir("../..")
	dir := t.TempDir()
	var stdout, stderr strings.Builder
	status := run(t.Context(), []string{"-runs=2", "-streams=5", "-loops=0,1", "-waves=2", "-tokens=3", "-keep", "-dir=" + dir}, &stdout, &stderr)
	assert.Equal(t, stderr.String(), "")
	assert.Assert(t, status < 2, stdout.String())
	text, err := os.ReadFile(filepath.Join(dir, "results.jsonl"))
	assert.NilError(t, err)
	assert.Equal(t, strings.Count(string(text), "\n"), 2)
	for _, part := range []string{`"streams":5,"loops":1,"run":2`, `{"unit":"p50-ttft-ns","measured":`, `{"unit":"req/s","measured":`, `BenchmarkServe/`} {
		assert.Assert(t, strings.Contains(string(text), part), "%s in\n%s", part, text)
	}
	for _, name := range []string{"001-streams=5-loops=0.jsonl", "002-streams=5-loops=1.mock.json", "002-streams=5-loops=1.txt"} {
		_, err := os.Stat(filepath.Join(dir, name))
		assert.NilError(t, err)
	}
}

// TestArguments checks the answers to bad arguments.
func TestArguments(t *testing.T) {
	for args, want := range map[string]string{
		"-streams=0":     `invalid value "0" for flag -streams: "0"; want numbers of at least 1`,
		"-loops=1,x":     `invalid value "1,x" for flag -loops: "x"; want numbers of at least 0`,
		"-runs=0":        "0 runs of 4 waves; want at least 1 of 1",
		"-tokens=1":      "1 tokens; want at least 2",
		"-mock-core=1":   "core 1 for both the mock server and the client; want two cores",
		"more":           `argument "more": want flags only`,
		"-dir=/dev/null": "/dev/null",
	} {
		var stderr strings.Builder
		assert.Equal(t, run(t.Context(), strings.Fields(args), &strings.Builder{}, &stderr), 2)
		assert.Assert(t, strings.Contains(stderr.String(), want), "%s: %s", args, &stderr)
	}
}
