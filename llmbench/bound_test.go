package llmbench

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

// TestDistortions checks the share of each unit that a client distorts.
func TestDistortions(t *testing.T) {
	metrics := map[string]float64{
		"p50-ttft-ns": 200e6, "p99-ttft-ns": 400e6, "p99-service-ttft-ns": 100e6, "mean-tpot-ns": 20e6, "p99-itl-ns": 40e6, "p50-e2e-ns": 1e9, "mean-e2e-ns": 1e9,
		"output-tok/s": 100, "req/s": 10, "user-tok/s": 50, "in-tok/req": 5, "p99-read-lag-ns": 1e6, "fail-%": 0,
	}
	few := offs{ttft: []time.Duration{4 * ms, 2 * ms}, tpot: []time.Duration{ms, 3 * ms}, itl: []time.Duration{0, 4 * ms}, e2e: []time.Duration{10 * ms}}
	busy := []sample.Sample{{Start: 0, End: 900 * ms}, {Start: 100 * ms, End: time.Second}}
	late := []sample.Sample{{Scheduled: true}, {Scheduled: true, Due: 10 * ms, Start: 20 * ms}}
	queued := []sample.Sample{{Scheduled: true}, {Scheduled: true, Due: 10 * ms, Granted: 19 * ms, Start: 20 * ms}}
	for _, tt := range []struct {
		name    string
		samples []sample.Sample
		idles   []time.Duration
		offs    offs
		strain  strain.Strain
		want    string // in thousandths
	}{
		{"nothing", busy, nil, offs{}, strain.Strain{}, "output-tok/s 0 req/s 0 user-tok/s 0"},
		{"the control's errors", busy, nil, few, strain.Strain{}, "mean-e2e-ns 10 mean-tpot-ns 100 output-tok/s 0 p50-e2e-ns 10 p50-ttft-ns 15 p99-itl-ns 99 p99-service-ttft-ns 40 p99-ttft-ns 10 req/s 0 user-tok/s 10"},
		{"idle workers", busy, []time.Duration{50 * ms, 150 * ms}, offs{}, strain.Strain{}, "output-tok/s 100 req/s 100 user-tok/s 0"},
		{"a rate that was missed", late, nil, offs{}, strain.Strain{}, "mean-e2e-ns 5 output-tok/s 500 p50-e2e-ns 5 p50-ttft-ns 25 p99-ttft-ns 25 req/s 500 user-tok/s 5"},
		{"a server that had no slot", queued, nil, offs{}, strain.Strain{}, "mean-e2e-ns 0 output-tok/s 91 p50-e2e-ns 0 p50-ttft-ns 2 p99-ttft-ns 2 req/s 91 user-tok/s 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var v verdict
			v.add(tt.samples, tt.idles, tt.offs, tt.strain)
			d := v.distortions(metrics, false)
			var got []string
			for _, unit := range slices.Sorted(maps.Keys(d)) {
				got = append(got, fmt.Sprintf("%s %.0f", unit, 1000*d[unit]))
			}
			assert.Equal(t, strings.Join(got, " "), tt.want)
		})
	}
	// What stops the process distorts everything.
	var v verdict
	stopped := strain.Strain{
		GCPauses: strain.Histogram{Counts: []uint64{0, 2}, Bounds: []float64{0, 0.1, 0.3}},
		Waits:    strain.Histogram{Counts: []uint64{0, 9}, Bounds: []float64{0, 1, 2}},
	}
	v.add(busy, nil, few, stopped)
	v.add(busy, nil, few, stopped)
	assert.Equal(t, v.elapsed, 2*time.Second)
	assert.Equal(t, v.strain.Paused(), 800*ms)
	d := v.distortions(metrics, false)
	for unit, want := range map[string]float64{"output-tok/s": 0.4, "p50-ttft-ns": 0.4, "user-tok/s": 0.4} {
		assert.Equal(t, d[unit], want, unit)
	}
}

// TestDistortedUnits checks which figures the control's errors are held against.
func TestDistortedUnits(t *testing.T) {
	var v verdict
	v.add(nil, nil, offs{ttft: alike(10 * ms), itl: alike(ms)}, strain.Strain{})
	d := v.distortions(map[string]float64{
		"p50-ttft-turn2-ns": 100e6, "p50-ttft-hit-ns": 50e6, "p50-ttft-err-ns": 50e6, "p99-ttft-err-ns": 1,
		"p50-itl-ns": 1, "mean-itl-ns": 20e6, "p99-itl-ns": 40e6, "output-chars/s": 9,
	}, true)
	assert.DeepEqual(t, d, map[string]float64{"p50-ttft-turn2-ns": 0.1, "p50-ttft-hit-ns": 0.2, "p50-itl-ns": 0.05, "mean-itl-ns": 0.05, "p99-itl-ns": 0.025, "output-chars/s": 0})
}

// TestOneHiccup checks that a client which met the scheduler once is not sure to
// have distorted rates, and that one which always does is.
func TestOneHiccup(t *testing.T) {
	metrics := map[string]float64{"req/s": 10}
	busy := []sample.Sample{{End: 940 * ms}}
	once := append(make([]time.Duration, 8), 60*ms)
	for _, tt := range []struct {
		name            string
		idles           []time.Duration
		estimated, sure float64
	}{
		{"one", once, 0.06, 0},
		{"too few to tell", []time.Duration{60 * ms}, 0.06, 0},
		{"every time", slices.Repeat([]time.Duration{6 * ms}, 10), 0.06, 0.06},
	} {
		var v verdict
		v.add(busy, tt.idles, offs{}, strain.Strain{})
		assert.Equal(t, v.distortions(metrics, false)["req/s"], tt.estimated, tt.name)
		assert.Equal(t, v.distortions(metrics, true)["req/s"], tt.sure, tt.name)
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
		var v verdict
		for _, pass := range tt.passes {
			v.add(pass, nil, offs{}, strain.Strain{})
		}
		assert.Equal(t, v.distortions(metrics, false)["req/s"], tt.estimated, tt.name)
		assert.Equal(t, v.distortions(metrics, true)["req/s"], tt.sure, tt.name)
	}
}

// TestThrottled checks that throttling is a share of the CPUs that the process may
// use, not of those there are.
func TestThrottled(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var v verdict
	v.add([]sample.Sample{{End: time.Second}}, nil, offs{}, strain.Strain{Throttled: 100 * ms})
	assert.Equal(t, v.distortions(map[string]float64{"req/s": 1}, true)["req/s"], 0.1)
}

// TestWithhold checks which units are withheld, and what is said.
func TestWithhold(t *testing.T) {
	var v verdict
	v.add([]sample.Sample{{End: time.Second}}, nil, offs{ttft: alike(12 * ms), itl: alike(3 * ms), e2e: alike(0), tpot: alike(0)}, strain.Strain{})
	metrics := map[string]float64{"p50-ttft-ns": 100e6, "p99-itl-ns": 20e6, "p50-itl-ns": 5e6, "mean-tpot-ns": 5e6, "req/s": 1}
	core := func(u sample.Unit) bool { return u.Core }
	units, text := v.withhold(metrics, 0.05, core)
	assert.DeepEqual(t, units, []string{"p99-itl-ns", "p50-ttft-ns"})
	assert.Equal(t, metrics[clientError], 15.0) // p50-itl-ns is not shown
	assert.Assert(t, strings.HasPrefix(text, "the client distorts these figures by more than 5%: p99-itl-ns 15%, p50-ttft-ns 12%\n"), text)
	units, text = v.withhold(metrics, 0.7, core)
	assert.Assert(t, units == nil && text == "", "%v %s", units, text)
}

func alike(d time.Duration) []time.Duration { return slices.Repeat([]time.Duration{d}, 9) }

// TestCertain checks what is certain of a few values.
func TestCertain(t *testing.T) {
	few := []time.Duration{1, 1, 1, 1, 1, 100} // one of six
	many := append(slices.Repeat([]time.Duration{1}, 100), slices.Repeat([]time.Duration{100}, 100)...)
	for _, tt := range []struct {
		statistic string
		of        []time.Duration
		want      float64
	}{
		{"p50", few[2:], 0}, {"p50", few, 1}, {"p90", few, 1}, {"p99", few, 1}, {"mean", few, 0.5},
		{"p50", many, 1}, {"p90", many, 100}, {"p99", many, 100}, {"mean", alike(7), 7}, {"mean", nil, 0},
	} {
		assert.Equal(t, certain(tt.statistic, tt.of), tt.want, "%s of %v", tt.statistic, tt.of)
	}
}

// TestControlJudges holds samples against when their tokens were written.
func TestControlJudges(t *testing.T) {
	zero := time.Now()
	at := func(from, to time.Duration) written { return written{zero.Add(from * ms), zero.Add(to * ms)} }
	good := sample.Sample{ID: "a", Outcome: sample.OK, Start: 5 * ms, Wrote: 6 * ms, Deltas: 3, First: 10 * ms, Gaps: []time.Duration{10 * ms, 12 * ms}, Last: 32 * ms}
	for _, tt := range []struct {
		name   string
		spoil  func(s *sample.Sample)
		writes []written
		want   offs
	}{
		{"within the writes", nil, []written{at(9, 11), at(20, 21), at(31, 32)},
			offs{ttft: []time.Duration{ms}, itl: []time.Duration{0, 0}, e2e: []time.Duration{ms}, tpot: []time.Duration{0}}},
		{"read too late, all alike", nil, []written{at(6, 8), at(17, 18), at(29, 30)},
			offs{ttft: []time.Duration{3 * ms}, itl: []time.Duration{0, 0}, e2e: []time.Duration{3 * ms}, tpot: []time.Duration{0}}},
		{"two tokens in one read", nil, []written{at(9, 11), at(12, 13), at(31, 32)},
			offs{ttft: []time.Duration{ms}, itl: []time.Duration{7 * ms, 7 * ms}, e2e: []time.Duration{ms}, tpot: []time.Duration{0}}},
		{"the first too late", nil, []written{at(3, 4), at(20, 21), at(31, 32)},
			offs{ttft: []time.Duration{7 * ms}, itl: []time.Duration{6 * ms, 0}, e2e: []time.Duration{ms}, tpot: []time.Duration{3 * ms}}},
		{"another count", nil, []written{at(9, 11)}, offs{}},
		{"a failure", func(s *sample.Sample) { s.Outcome = sample.Truncated }, []written{at(9, 11), at(20, 21), at(31, 32)}, offs{}},
		{"a connection that had to be opened", func(s *sample.Sample) { s.Connect = ms }, []written{at(9, 11), at(20, 21), at(31, 32)}, offs{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := &control{writes: map[string][]written{"a": tt.writes}}
			s := good
			if tt.spoil != nil {
				tt.spoil(&s)
			}
			k.judge(&s, zero)
			assert.Equal(t, fmt.Sprint(k.offs), fmt.Sprint(tt.want))
			assert.Equal(t, len(k.writes), 0)
		})
	}
}

// TestControl runs a control beside nothing.
func TestControl(t *testing.T) {
	k, err := newControl(0)
	assert.NilError(t, err)
	defer k.close()
	assert.Equal(t, k.tokens, 12)
	for range 2 {
		k.begin(t.Context(), perControl)
		got := k.end()
		assert.Equal(t, len(got.ttft), 2, "two workers, which end what they began")
		assert.Equal(t, len(got.itl), 2*(k.tokens-1))
		assert.Equal(t, len(got.e2e), 2)
		assert.Equal(t, len(got.tpot), 2)
	}
	for _, tt := range []struct{ pace, want time.Duration }{{1, ms}, {time.Hour, 25 * ms}, {20 * ms, 20 * ms}} {
		k, err := newControl(tt.pace)
		assert.NilError(t, err)
		assert.Equal(t, k.pace, tt.want)
		k.close()
	}
}

// TestTypicalGap is what the control's pace comes from.
func TestTypicalGap(t *testing.T) {
	assert.Equal(t, typicalGap(nil), time.Duration(0))
	assert.Equal(t, typicalGap([]sample.Sample{{Gaps: []time.Duration{9, 1}}, {}, {Gaps: []time.Duration{5}}}), time.Duration(5))
}

// TestBound checks what becomes of distorted figures.
func TestBound(t *testing.T) {
	for _, tt := range []struct {
		load      ClientBound
		cfg       ClientBound
		simulated bool
		want      ClientBound
	}{
		{"", "", false, BoundFails},
		{"", "", true, BoundReported},
		{"", BoundWithheld, false, BoundWithheld},
		{"", BoundFails, true, BoundFails},
		{BoundReported, BoundFails, false, BoundReported},
	} {
		assert.Equal(t, Load{ClientBound: tt.load}.bound(config{bound: tt.cfg}, Target{Simulated: tt.simulated}), tt.want, "%+v", tt)
	}
}
