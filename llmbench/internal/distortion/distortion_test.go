package distortion

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/strain"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestShares checks by which share the client distorts each figure.
func TestShares(t *testing.T) {
	metrics := map[string]float64{
		"p50-ttft-ns": 200e6, "p99-ttft-ns": 400e6, "p99-service-ttft-ns": 100e6, "mean-tpot-ns": 20e6, "p99-itl-ns": 40e6, "p50-e2e-ns": 1e9, "mean-e2e-ns": 1e9,
		"output-tok/s": 100, "req/s": 10, "user-tok/s": 50, "in-tok/req": 5, "p99-read-lag-ns": 1e6, "fail-%": 0,
	}
	few := Errors{TTFT: []time.Duration{4 * ms, 2 * ms}, TPOT: []time.Duration{ms, 3 * ms}, ITL: []time.Duration{0, 4 * ms}, E2E: []time.Duration{10 * ms}}
	busy := []sample.Sample{{Start: 0, End: 900 * ms}, {Start: 100 * ms, End: time.Second}}
	late := []sample.Sample{{Scheduled: true}, {Scheduled: true, Due: 10 * ms, Start: 20 * ms}}
	queued := []sample.Sample{{Scheduled: true}, {Scheduled: true, Due: 10 * ms, Granted: 19 * ms, Start: 20 * ms}}
	for _, tt := range []struct {
		name    string
		samples []sample.Sample
		pauses  []time.Duration
		errors  Errors
		strain  strain.Strain
		want    string // in thousandths
	}{
		{"nothing", busy, nil, Errors{}, strain.Strain{}, "output-tok/s 0 req/s 0 user-tok/s 0"},
		{"the control's errors", busy, nil, few, strain.Strain{}, "mean-e2e-ns 10 mean-tpot-ns 100 output-tok/s 0 p50-e2e-ns 10 p50-ttft-ns 15 p99-itl-ns 99 p99-service-ttft-ns 40 p99-ttft-ns 10 req/s 0 user-tok/s 10"},
		{"idle workers", busy, []time.Duration{50 * ms, 150 * ms}, Errors{}, strain.Strain{}, "output-tok/s 100 req/s 100 user-tok/s 0"},
		{"a rate that was missed", late, nil, Errors{}, strain.Strain{}, "mean-e2e-ns 5 output-tok/s 500 p50-e2e-ns 5 p50-ttft-ns 25 p99-ttft-ns 25 req/s 500 user-tok/s 5"},
		{"a server that had no slot", queued, nil, Errors{}, strain.Strain{}, "mean-e2e-ns 0 output-tok/s 91 p50-e2e-ns 0 p50-ttft-ns 2 p99-ttft-ns 2 req/s 91 user-tok/s 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var e Estimate
			e.Add(Pass{sample.All(tt.samples...), tt.pauses, tt.errors, tt.strain})
			d := e.Shares(sample.Units, metrics, false)
			var got []string
			for _, unit := range slices.Sorted(maps.Keys(d)) {
				got = append(got, fmt.Sprintf("%s %.0f", unit, 1000*d[unit]))
			}
			assert.Equal(t, strings.Join(got, " "), tt.want)
		})
	}
	// A process that is stopped distorts everything.
	var e Estimate
	stopped := strain.Strain{
		GCPauses: strain.Histogram{Counts: []uint64{0, 2}, Bounds: []float64{0, 0.1, 0.3}},
		Waits:    strain.Histogram{Counts: []uint64{0, 9}, Bounds: []float64{0, 1, 2}},
	}
	e.Add(Pass{sample.All(busy...), nil, few, stopped})
	e.Add(Pass{sample.All(busy...), nil, few, stopped})
	assert.Equal(t, e.elapsed, 2*time.Second)
	assert.Equal(t, e.strain.Paused(), 800*ms)
	d := e.Shares(sample.Units, metrics, false)
	for unit, want := range map[string]float64{"output-tok/s": 0.4, "p50-ttft-ns": 0.4, "user-tok/s": 0.4} {
		assert.Equal(t, d[unit], want, unit)
	}
}

// TestUnits checks which figures are compared with which errors of the control.
func TestUnits(t *testing.T) {
	var e Estimate
	e.Add(Pass{Samples: sample.All(), Errors: Errors{TTFT: alike(10 * ms), ITL: alike(ms)}})
	units := append(sample.Named("p50-ttft-turn2-ns", "p50-itl-ns", "mean-itl-ns", "p99-itl-ns", "output-chars/s", "p99-ttft-ns"),
		sample.Unit{Name: "p50-ttft-hit-ns", Family: sample.FamilyTTFT, Statistic: sample.P50},
		sample.Unit{Name: "p50-ttft-err-ns", Statistic: sample.P50})
	d := e.Shares(units, map[string]float64{
		"p50-ttft-turn2-ns": 100e6, "p50-ttft-hit-ns": 50e6, "p50-ttft-err-ns": 50e6, "p50-ttft-ns": 1,
		"p50-itl-ns": 1, "mean-itl-ns": 20e6, "p99-itl-ns": 40e6, "output-chars/s": 9,
	}, true)
	assert.DeepEqual(t, d, map[string]float64{"p50-ttft-turn2-ns": 0.1, "p50-ttft-hit-ns": 0.2, "p50-itl-ns": 0.05, "mean-itl-ns": 0.05, "p99-itl-ns": 0.025, "output-chars/s": 0})
}

// TestOneHiccup checks that a client which waited for a CPU once has not certainly distorted
// rates, and that a client which always waits has.
func TestOneHiccup(t *testing.T) {
	metrics := map[string]float64{"req/s": 10}
	busy := []sample.Sample{{End: 940 * ms}}
	once := append(make([]time.Duration, 8), 60*ms)
	for _, tt := range []struct {
		name            string
		pauses          []time.Duration
		estimated, sure float64
	}{
		{"one", once, 0.06, 0},
		{"too few values", []time.Duration{60 * ms}, 0.06, 0},
		{"every time", slices.Repeat([]time.Duration{6 * ms}, 10), 0.06, 0.06},
	} {
		var e Estimate
		e.Add(Pass{Samples: sample.All(busy...), Pauses: tt.pauses})
		assert.Equal(t, e.Shares(sample.Units, metrics, false)["req/s"], tt.estimated, tt.name)
		assert.Equal(t, e.Shares(sample.Units, metrics, true)["req/s"], tt.sure, tt.name)
	}
	open := func(late func(i int) time.Duration) (all []sample.Sample) {
		for i := range 101 {
			due := time.Duration(i) * 10 * ms
			all = append(all, sample.Sample{Scheduled: true, Due: due, Start: due + late(i)})
		}
		return all
	}
	hiccup := open(func(i int) time.Duration { return max(0, time.Duration(i-98)) * 100 * ms }) // at the end of the pass
	behind := open(func(i int) time.Duration { return time.Duration(i) * 5 * ms })
	punctual := open(func(int) time.Duration { return 0 })
	for _, tt := range []struct {
		name            string
		passes          [][]sample.Sample
		estimated, sure float64
	}{
		{"one", [][]sample.Sample{hiccup}, 0.2 / 1.2, 0},
		{"one in two passes", [][]sample.Sample{hiccup, punctual}, 0.2 / 2.2, 0},
		{"a generator that is too slow", [][]sample.Sample{behind}, 0.5 / 1.5, 0.455 / 1.455},
	} {
		var e Estimate
		for _, pass := range tt.passes {
			e.Add(Pass{Samples: sample.All(pass...)})
		}
		assert.Equal(t, e.Shares(sample.Units, metrics, false)["req/s"], tt.estimated, tt.name)
		assert.Equal(t, e.Shares(sample.Units, metrics, true)["req/s"], tt.sure, tt.name)
	}
}

// TestThrottled checks that throttling is a share of the CPUs that the process may use, not
// of all CPUs.
func TestThrottled(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var e Estimate
	e.Add(Pass{Samples: sample.All(sample.Sample{End: time.Second}), Strain: strain.Strain{Throttled: 100 * ms}})
	assert.Equal(t, e.Shares(sample.Units, map[string]float64{"req/s": 1}, true)["req/s"], 0.1)
}

// TestReport checks which units are distorted too much, and the text about them.
func TestReport(t *testing.T) {
	var e Estimate
	e.Add(Pass{Samples: sample.All(sample.Sample{End: time.Second}), Errors: Errors{TTFT: alike(12 * ms), ITL: alike(3 * ms), E2E: alike(0), TPOT: alike(0)}})
	metrics := map[string]float64{"p50-ttft-ns": 100e6, "p99-itl-ns": 20e6, "p50-itl-ns": 5e6, "mean-tpot-ns": 5e6, "req/s": 1}
	core := func(u sample.Unit) bool { return u.Core }
	r := e.Report(sample.Units, metrics, 0.05, core)
	assert.DeepEqual(t, r.Units, []string{"p99-itl-ns", "p50-ttft-ns"})
	assert.Equal(t, r.Worst, 0.15) // p50-itl-ns is not shown
	assert.Assert(t, strings.HasPrefix(r.Text, "the client distorts these figures by more than 5%: p99-itl-ns 15%, p50-ttft-ns 12%\n"), r.Text)
	r = e.Report(sample.Units, metrics, 0.7, core)
	assert.Assert(t, r.Units == nil && r.Text == "", "%+v", r)
}

// TestUnknown checks that the distortion is unknown if one pass has no control stream, and that
// distorted rates are found all the same.
func TestUnknown(t *testing.T) {
	checked := Pass{Samples: sample.All(sample.Sample{End: time.Second}), Errors: Errors{TTFT: alike(ms)}}
	unchecked := Pass{Samples: sample.All(sample.Sample{End: time.Second})}
	idle := Pass{Samples: sample.All(sample.Sample{End: time.Second}), Pauses: alike(time.Second)}
	for _, tt := range []struct {
		name    string
		passes  []Pass
		unknown string
		units   []string
	}{
		{"a control stream", []Pass{checked, checked}, "", nil},
		{"no control stream", []Pass{unchecked}, "in 1 of 1 passes no control stream was measured", nil},
		{"none in one pass", []Pass{checked, unchecked, checked}, "in 1 of 3 passes no control stream was measured", nil},
		{"idle workers", []Pass{idle}, "in 1 of 1 passes no control stream was measured", []string{"req/s"}},
	} {
		var e Estimate
		for _, p := range tt.passes {
			e.Add(p)
		}
		r := e.Report(sample.Units, map[string]float64{"req/s": 1, "p50-ttft-ns": 1e9}, 0.05, func(sample.Unit) bool { return true })
		assert.Equal(t, r.Unknown, tt.unknown, tt.name)
		assert.DeepEqual(t, r.Units, tt.units)
	}
}

func alike(d time.Duration) []time.Duration { return slices.Repeat([]time.Duration{d}, 9) }

// TestCertain checks the lower confidence bounds of few and of many values.
func TestCertain(t *testing.T) {
	few := []time.Duration{1, 1, 1, 1, 1, 100} // one of six
	many := append(slices.Repeat([]time.Duration{1}, 100), slices.Repeat([]time.Duration{100}, 100)...)
	for _, tt := range []struct {
		statistic sample.Statistic
		values    []time.Duration
		want      float64
	}{
		{"p50", few[2:], 0}, {"p50", few, 1}, {"p90", few, 1}, {"p99", few, 1}, {"mean", few, 0.5},
		{"p50", many, 1}, {"p90", many, 100}, {"p99", many, 100}, {"mean", alike(7), 7}, {"mean", nil, 0},
	} {
		assert.Equal(t, certain(tt.statistic, tt.values), tt.want, "%s of %v", tt.statistic, tt.values)
	}
}

// TestAddStream compares what a client measured with when the tokens were written.
func TestAddStream(t *testing.T) {
	start := time.Now()
	at := func(before, after time.Duration) Write {
		return Write{start.Add(before * ms), start.Add(after * ms)}
	}
	good := sample.Sample{ID: "a", Outcome: sample.OK, Start: 5 * ms, Wrote: 6 * ms, Deltas: 3, First: 10 * ms, Gaps: []time.Duration{10 * ms, 12 * ms}, Last: 32 * ms}
	for _, tt := range []struct {
		name   string
		change func(s *sample.Sample)
		writes []Write
		want   Errors
	}{
		{"within the writes", nil, []Write{at(9, 11), at(20, 21), at(31, 32)},
			Errors{TTFT: []time.Duration{ms}, ITL: []time.Duration{0, 0}, E2E: []time.Duration{ms}, TPOT: []time.Duration{0}}},
		{"all late by the same time", nil, []Write{at(6, 8), at(17, 18), at(29, 30)},
			Errors{TTFT: []time.Duration{3 * ms}, ITL: []time.Duration{0, 0}, E2E: []time.Duration{3 * ms}, TPOT: []time.Duration{0}}},
		{"two tokens in one read", nil, []Write{at(9, 11), at(12, 13), at(31, 32)},
			Errors{TTFT: []time.Duration{ms}, ITL: []time.Duration{7 * ms, 7 * ms}, E2E: []time.Duration{ms}, TPOT: []time.Duration{0}}},
		{"the first one late", nil, []Write{at(3, 4), at(20, 21), at(31, 32)},
			Errors{TTFT: []time.Duration{7 * ms}, ITL: []time.Duration{6 * ms, 0}, E2E: []time.Duration{ms}, TPOT: []time.Duration{3 * ms}}},
		{"another number of tokens", nil, []Write{at(9, 11)}, Errors{}},
		{"a failure", func(s *sample.Sample) { s.Outcome = sample.Truncated }, []Write{at(9, 11), at(20, 21), at(31, 32)}, Errors{}},
		{"a connection that had to be opened", func(s *sample.Sample) { s.Connect = ms }, []Write{at(9, 11), at(20, 21), at(31, 32)}, Errors{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := good
			if tt.change != nil {
				tt.change(&s)
			}
			var got Errors
			got.AddStream(&s, tt.writes, start)
			assert.DeepEqual(t, got, tt.want)
		})
	}
}

const ms = time.Millisecond
