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

// TestTruth computes the metrics of two workers with two requests each. The client's epoch is 1 s after the
// server's epoch.
func TestTruth(t *testing.T) {
	const epoch = int64(1e18)
	var requests []sent
	var log []mockserver.Entry
	add := func(accepted, wrote time.Duration) {
		id := fmt.Sprint(len(log))
		sends := sent{ID: id, Epoch: epoch + 1e9, Outcome: sample.OK}
		if wrote > 0 {
			sends.Wrote = wrote - time.Second
		}
		requests = append(requests, sends)
		log = append(log, mockserver.Entry{
			ID: id, Accepted: accepted, Tokens: []time.Duration{accepted + 100*ms, accepted + 110*ms, accepted + 150*ms}, End: accepted + 160*ms,
			PromptTokens: 7, OutputTokens: 3,
		})
	}
	add(1000*ms, 0)       // the client has no time at which the request was written
	add(1002*ms, 1001*ms) // the server was late
	add(1200*ms, 1300*ms) // the client was late, but only after it had written the request
	add(1400*ms, 1400*ms)
	log = append(log, mockserver.Entry{ID: "of the warm-up"})
	got, err := truth(requests, log, epoch, 2)
	assert.NilError(t, err)
	// Workers without delays begin at 0 and 200 µs. The second worker ends last: it sends a request of 161 ms
	// and then one of 160 ms.
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

// TestOnTheWire checks when tokens left the server: at the server's write, or when the client saw them if the
// write took long.
func TestOnTheWire(t *testing.T) {
	e := &mockserver.Entry{Tokens: []time.Duration{100 * ms, 120 * ms, 120 * ms, 140 * ms}, SlowWrites: []mockserver.SlowWrite{{Token: 2, Took: 10 * ms}, {Token: 3, Took: 2 * ms}}}
	r := sent{First: 50 * ms, Gaps: []time.Duration{25 * ms, 10 * ms, 8 * ms}} // seen at 110, 135, 145, 153 ms
	assert.DeepEqual(t, onTheWire(r, e, 60*ms), []time.Duration{100 * ms, 130 * ms, 130 * ms, 142 * ms})
	r.First = 35 * ms // seen at 95, 120, 130, 138 ms
	assert.DeepEqual(t, onTheWire(r, e, 60*ms), []time.Duration{100 * ms, 120 * ms, 130 * ms, 140 * ms})
	r.Gaps = nil // the client saw another number of deltas
	assert.DeepEqual(t, onTheWire(r, e, 60*ms), e.Tokens)
}

// TestPromises checks each promise at its limit and beyond.
func TestPromises(t *testing.T) {
	said := func(v float64) *float64 { return &v }
	slow, fast := load{TTFT: 10 * time.Millisecond, PerToken: slowToken, Streams: 8}, load{TTFT: 10 * time.Millisecond, PerToken: fastToken, Streams: 8}
	busy := load{PerToken: slowToken, Streams: 8, Loops: 1}
	of := func(l load, err float64, shown bool, client *float64) result {
		return result{load: l, ClientError: client, TrueTPOT: float64(l.PerToken), TrueTTFT: float64(l.TTFT), Figures: []figure{{"a", 1 + err/100, 1, err, shown}}}
	}
	many := func(n int, r result) (all []result) {
		for range n {
			all = append(all, r)
		}
		return all
	}
	right := of(slow, 2, true, said(0.1))
	late := of(slow, 2, false, said(2))
	late.TrueTPOT *= 1.06
	later := of(slow, 2, false, said(2))
	later.TrueTTFT *= 1.31
	for _, test := range []struct {
		name    string
		results []result
		held    string
	}{
		{"right", many(100, right), "yes yes yes yes"},
		{"wrong", append(many(99, right), of(busy, 6, true, said(12))), "no yes yes yes"},
		{"withheld", many(100, of(slow, 6, false, said(12))), "yes yes yes yes"},
		{"right, withheld", append(many(99, right), of(slow, 2, false, said(2))), "yes no yes yes"},
		{"right, withheld beside a loop", append(many(99, right), of(busy, 2, false, said(2))), "yes yes yes yes"},
		{"right, withheld of a late server", append(many(98, right), late, later), "yes yes yes yes"},
		{"one fast of ten", append(many(9, of(fast, 1, true, said(1))), of(fast, 2, false, said(2))), "yes yes yes yes"},
		{"two fast of ten", append(many(8, of(fast, 1, true, said(1))), many(2, of(fast, 2, false, said(2)))...), "yes yes no yes"},
		{"ten too small", append(many(90, right), many(10, of(busy, 6, false, said(2.9)))...), "yes yes yes yes"},
		{"eleven too small or too large", append(append(many(89, right), many(6, of(busy, 6, false, said(2.9)))...), many(5, of(busy, 6, false, said(12.1)))...), "yes yes yes no"},
		{"unknown", append(many(89, right), many(11, of(slow, 2, true, nil))...), "yes yes yes no"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var held []string
			for _, p := range grid.promises(test.results) {
				held = append(held, map[bool]string{true: "yes", false: "no"}[p.held])
			}
			assert.Equal(t, strings.Join(held, " "), test.held)
		})
	}

	assert.Equal(t, table([]result{of(busy, 6, true, said(12)), right, of(fast, 1, false, said(1))}), ""+
		"| a token | beside | runs | figures | within 2 % | of these shown | shown | more than 5 % wrong | largest error shown | client-err-% tells the error |\n"+
		"| ---     | ---    | ---  | ---     | ---        | ---            | ---   | ---                 | ---                 | ---                          |\n"+
		"| 500µs   | -      | 1    | 1       | 1          | 0              | 0     | 0                   | 0 %                 | 1                            |\n"+
		"| 2ms     | -      | 1    | 1       | 1          | 1              | 1     | 0                   | 2 %                 | 1                            |\n"+
		"| 2ms     | 1 loop | 1    | 1       | 0          | 0              | 1     | 1                   | 6 %                 | 1                            |\n"+
		"| all     | all    | 3    | 3       | 2          | 1              | 2     | 1                   | 6 %                 | 3                            |\n")
}

// TestOtherPromises checks the promises of the checks "starved" and "k6".
func TestOtherPromises(t *testing.T) {
	run := func(isStarved bool, said, off float64) result {
		return result{load: load{Starved: isStarved}, ClientError: &said, Figures: []figure{{"a", 1, 1, off, true}}}
	}
	unknown := run(true, 0, 100)
	unknown.ClientError = nil
	ttft := func(measured float64) result {
		return result{Figures: []figure{{"p99-ttft-ns", 0, 1, 100, true}, {"p50-ttft-ns", measured, 200e6, 0, true}}}
	}
	for _, test := range []struct {
		check   check
		results []result
		held    []bool
	}{
		{starved, []result{run(false, 5, 1), run(true, 5.1, 100), run(true, 100, 10)}, []bool{true, true}},
		{starved, []result{run(true, 5.1, 100), run(true, 5, 100)}, []bool{false, true}},
		{starved, []result{run(true, 4.8, 4.8), run(true, 1, 1.9)}, []bool{true, true}},
		{starved, []result{run(true, 2.1, 4.8)}, []bool{false, true}},
		{starved, []result{unknown}, []bool{false, true}},
		{starved, []result{run(false, 5.1, 2.6), run(false, 5.1, 2.5)}, []bool{true, false}},
		{starved, []result{run(false, 5.1, 2.6)}, []bool{true, true}},
		{k6, []result{ttft(199e6), ttft(201e6)}, []bool{true}},
		{k6, []result{ttft(200e6), ttft(201.1e6)}, []bool{false}},
		{k6, []result{{}}, []bool{false}},
	} {
		var held []bool
		for _, p := range test.check.promises(test.results) {
			held = append(held, p.held)
		}
		assert.DeepEqual(t, held, test.held)
	}
}

// TestPriorityPromises checks the promises of the check "priority", and its table.
func TestPriorityPromises(t *testing.T) {
	run := func(priority string, rate, left, off float64) result {
		said := off
		return result{
			load: load{Streams: 4, Loops: 2, Priority: priority}, Check: byPriority, Obtained: map[string]string{"auto": "rr", "none": "none"}[priority],
			ClientError: &said, Figures: []figure{{"a", 1, 1, off, true}}, Rate: rate, Left: left, ReadLag: 2e5,
		}
	}
	pairsOf := func(n int, rate, left, off float64) (all []result) {
		for range n {
			all = append(all, run("none", 100, 2, 1), run("auto", rate, left, off))
		}
		return all
	}
	empty := func(n int) []result {
		all := pairsOf(n, 100, 2, 1)
		all[1].Output = "failed: " + noFigures
		return all
	}
	mixed := append(pairsOf(5, 99, 2, 1), pairsOf(5, 98, 2, 1)...)
	for _, test := range []struct {
		name    string
		results []result
		held    []bool
	}{
		{"at the limits", pairsOf(6, 99, 1.98, 5), []bool{true, true, true, true}},
		{"too few", pairsOf(5, 100, 2, 1), []bool{true, true, false, false}},
		{"slower", pairsOf(6, 98.9, 2, 1), []bool{true, true, false, true}},
		{"slower in half of the pairs", mixed, []bool{true, true, false, true}},
		{"less for others", pairsOf(6, 100, 1.97, 1), []bool{true, true, true, false}},
		{"wrong", pairsOf(6, 100, 2, 5.1), []bool{true, false, true, true}},
		{"one of 59 is empty", empty(59), []bool{false, true, true, true}},
		{"one of 60 is empty", empty(60), []bool{true, true, true, true}},
	} {
		var held []bool
		for _, p := range byPriority.promises(test.results) {
			held = append(held, p.held)
		}
		assert.DeepEqual(t, held, test.held)
	}
	rate := ratios(mixed)[0]
	assert.Equal(t, rate.String(), "throughput with priority / without: 0.9850 (95 %: 0.9800 to 0.9900), the median of 10 pairs")
	for n, want := range map[int]int{6: 0, 8: 0, 9: 1, 20: 5, 100: 39} { // tables of the sign test
		assert.Equal(t, outside(n), want, "%d", n)
	}
	assert.Equal(t, priorityTable(pairsOf(2, 99, 2, 6)), ""+
		"| streams | priority    | runs | no figures | withheld | shown and more than 5 % wrong | client-err-%, median and largest | p99 read lag, median and largest | median tok/s |\n"+
		"| ---     | ---         | ---  | ---        | ---      | ---                           | ---                              | ---                              | ---          |\n"+
		"| 4       | none (none) | 2    | 0          | 0        | 0                             | 1, 1                             | 0.2 ms, 0.2 ms                   | 100          |\n"+
		"| 4       | auto (rr)   | 2    | 0          | 0        | 2                             | 6, 6                             | 0.2 ms, 0.2 ms                   | 99           |\n")
}

// TestK6 builds k6 and makes one run with it. It does not check the error of the TTFT, which depends on the
// machine.
func TestK6(t *testing.T) {
	if testing.Short() {
		t.Skip("builds k6")
	}
	t.Chdir("../..")
	var stdout, stderr strings.Builder
	status := run(t.Context(), []string{"k6", "-ttft=10ms", "-per-token=2ms", "-streams=3", "-waves=2", "-tokens=3", "-dir=" + t.TempDir()}, &stdout, &stderr)
	assert.Equal(t, stderr.String(), "")
	assert.Assert(t, status < 2, stdout.String())
	for _, part := range []string{"3 streams, beside -: ", "p50-ttft-ns ", ", true ", "of 1 runs: want all"} {
		assert.Assert(t, strings.Contains(stdout.String(), part), "%q in\n%s", part, &stdout)
	}
}

// TestRun makes one run for each of two loads. It does not check the metrics, which depend on the machine.
func TestRun(t *testing.T) {
	if _, err := exec.LookPath("taskset"); err != nil || runtime.NumCPU() < 2 {
		t.Skipf("want taskset and two CPUs: %v, %d CPUs", err, runtime.NumCPU())
	}
	t.Chdir("../..")
	dir := t.TempDir()
	var stdout, stderr strings.Builder
	status := run(t.Context(), []string{"-runs=2", "-ttft=10ms", "-per-token=2ms", "-streams=5", "-loops=0,1", "-build=false", "-waves=2", "-tokens=3", "-keep", "-dir=" + dir}, &stdout, &stderr)
	assert.Equal(t, stderr.String(), "")
	assert.Assert(t, status < 2, stdout.String())
	text, err := os.ReadFile(filepath.Join(dir, "results.jsonl"))
	assert.NilError(t, err)
	assert.Equal(t, strings.Count(string(text), "\n"), 2)
	for _, part := range []string{`"streams":5,"loops":1,"build":false,"starved":false,"priority":"none","check":"","run":2`, `{"unit":"p50-ttft-ns","measured":`, `{"unit":"req/s","measured":`, `BenchmarkServe/`} {
		assert.Assert(t, strings.Contains(string(text), part), "%s in\n%s", part, text)
	}
	for _, name := range []string{"001-ttft=10ms-token=2ms-streams=5-loops=0-build=false-starved=false.jsonl", "002-ttft=10ms-token=2ms-streams=5-loops=1-build=false-starved=false.mock.json", "002-ttft=10ms-token=2ms-streams=5-loops=1-build=false-starved=false.txt"} {
		_, err := os.Stat(filepath.Join(dir, name))
		assert.NilError(t, err)
	}
}

// TestPriority makes a pair of runs. It does not check the metrics, which depend on the machine.
func TestPriority(t *testing.T) {
	t.Chdir("../..")
	var stdout, stderr strings.Builder
	status := run(t.Context(), []string{"priority", "-runs=2", "-ttft=10ms", "-per-token=2ms", "-streams=2", "-loops=0", "-waves=2", "-tokens=3", "-dir=" + t.TempDir()}, &stdout, &stderr)
	assert.Equal(t, stderr.String(), "")
	assert.Assert(t, status < 2, stdout.String())
	for _, part := range []string{"priority auto, obtained ", "priority none, obtained none", "\n| 2       | none (none) | 1    |", "the median of 1 pairs"} {
		assert.Assert(t, strings.Contains(stdout.String(), part), "%q in\n%s", part, &stdout)
	}
}

// TestArguments checks the errors for bad arguments.
func TestArguments(t *testing.T) {
	for args, want := range map[string]string{
		"-streams=0":                  `invalid value "0" for flag -streams: "0": want values of at least 1`,
		"-loops=1,x":                  `invalid value "1,x" for flag -loops: "x": want values of at least 0`,
		"-waves=0":                    "0 runs of 0 waves: want at least 0 of 1",
		"-ttft=1":                     `invalid value "1" for flag -ttft: "1": want values of at least 0s`,
		"-tokens=1":                   "1 tokens: want at least 2",
		"-mock-core=1 -client-core=1": "core 1 for both the mock server and the client: want two cores",
		"more":                        `argument "more": want starved, k6 or priority first, and then flags`,
		"-dir=/dev/null":              "/dev/null",
		"-priority=rr":                `priority "rr": want auto or none`,
		"-url=http://127.0.0.1:1":     "the server at http://127.0.0.1:1 has no log to compare with: want the check priority",
		"priority -runs=3":            "3 runs: want pairs of runs, one with and one without priority",
	} {
		var stderr strings.Builder
		assert.Equal(t, run(t.Context(), strings.Fields(args), &strings.Builder{}, &stderr), 2)
		assert.Assert(t, strings.Contains(stderr.String(), want), "%s: %s", args, &stderr)
	}
}
