package llmbench

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/distortion"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/judge"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/strain"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// derivedUnits are computed from other units, shown and not shown.
var derivedUnits = []sample.Unit{
	{Name: "ttft-ratio", Better: "lower", Core: true, Parts: "p50-ttft-ns", Means: "A ratio of latencies."},
	{Name: "mean-itl-x", Better: "lower", Core: true, Parts: "mean-itl-ns", Means: "A multiple of a latency that is not shown."},
	{Name: "e2e-x", Better: "lower", Core: true, Parts: "p50-e2e-ns req/s", Means: "A multiple of an E2E latency."},
	{Name: "count-x", Better: "higher", Core: true, Means: "A count, which needs no clock."},
}

// deriving returns a load with derivedUnits.
func deriving(l Load) Load {
	l.Units = derivedUnits
	l.Figures = func(iter.Seq[*sample.Sample]) map[string]float64 {
		return map[string]float64{"ttft-ratio": 2, "mean-itl-x": 3, "e2e-x": 4, "count-x": 5}
	}
	return l
}

// TestDerivedWithheld checks that a metric is withheld if one of its parts is: in its own result or in another one, and
// whatever the reason is. A metric that needs no clock stays.
func TestDerivedWithheld(t *testing.T) {
	for _, c := range []struct {
		name      string
		distorted bool // the client distorts every metric
		unread    bool
		elsewhere map[string]error
		bound     ClientBound
		want      string // metrics that are left
		text      string // what is said about the others
	}{
		{"nothing", false, false, nil, BoundWithheld, "ttft-ratio mean-itl-x e2e-x count-x", ""},
		{"the client", true, false, nil, BoundWithheld, "count-x", ""},
		{"the client, and metrics are reported", true, false, nil, BoundReported, "ttft-ratio mean-itl-x e2e-x count-x", ""},
		{"text that was not read", false, true, nil, BoundWithheld, "e2e-x count-x", ""},
		{"bursts elsewhere", false, false, map[string]error{"p50-ttft-ns": cause{ErrBursts, 60}, "mean-itl-ns": cause{ErrBursts, 60}}, BoundWithheld, "e2e-x count-x",
			"ttft-ratio, mean-itl-x: withheld, because computed from mean-itl-ns, p50-ttft-ns of another result: answers came in bursts there"},
		{"the client elsewhere", false, false, map[string]error{"req/s": cause{ErrClientBound, 7}, "p99-ttft-ns": ErrClientBound}, BoundWithheld, "ttft-ratio mean-itl-x count-x",
			"e2e-x: withheld, because computed from req/s of another result: the client may have changed the figures there"},
		{"two reasons elsewhere", false, false, map[string]error{"req/s": cause{ErrClientBound, 7}, "p50-ttft-ns": fmt.Errorf("x: %w", ErrUnread)}, BoundWithheld, "mean-itl-x count-x",
			"ttft-ratio: withheld, because computed from p50-ttft-ns of another result: answers may have text there that was not read; e2e-x: withheld, because computed from req/s of another result: the client may have changed the figures there"},
		{"other metrics elsewhere", false, false, map[string]error{"p99-ttft-ns": ErrBursts}, BoundWithheld, "ttft-ratio mean-itl-x e2e-x count-x", ""},
	} {
		m := measuredGaps(t, c.bound, 0)
		m.load = deriving(m.load)
		m.load.PartsWithheld = []map[string]error{c.elsewhere}
		if c.distorted {
			m.estimate.Add(distortion.Pass{Samples: sample.All(), Strain: strain.Strain{Throttled: time.Second}})
		}
		facts := judge.Facts{}
		for s := range m.all() {
			if one := *s; c.unread {
				one.Unread, one.Streamed = "delta.x", true
				facts = judge.FindFacts(sample.All(one), m.elapsed, 0, sample.SLO{}, judge.Tolerated{})
			}
		}
		metrics, more := m.figures(m.all(), m.elapsed)
		for unit, v := range more {
			metrics[unit] = v
		}
		v, err := m.judge(metrics, facts)
		assert.NilError(t, err)
		var left []string
		for _, u := range derivedUnits {
			if _, has := metrics[u.Name]; has {
				left = append(left, u.Name)
			}
			assert.Equal(t, (m.result().Withheld[u.Name] == nil), metrics[u.Name] > 0, "%s: %s", c.name, u.Name)
		}
		assert.Equal(t, strings.Join(left, " "), c.want, c.name)
		assert.Equal(t, v.parts, c.text, c.name)
		if !c.distorted { // the result says why figures are missing, also if the reason is in another one
			assert.Equal(t, metrics[sample.ClientBound], map[bool]float64{true: 7}[strings.Contains(c.text, "the client")], c.name)
			assert.Equal(t, metrics[sample.BurstShare], map[bool]float64{true: 60}[strings.Contains(c.text, "bursts")], c.name)
		}
	}
}

// TestDerivedHasNoBound checks that the table does not say by how much a metric may be wrong that is computed from
// withheld ones: a difference may be wrong by much more than these.
func TestDerivedHasNoBound(t *testing.T) {
	r := &run{measurement: measuredGaps(t, BoundWithheld, 3*ms)}
	r.load = deriving(r.load)
	r.load.MaxDistortion = 1e-300
	metrics, more := r.figures(r.all(), r.elapsed)
	maps.Copy(metrics, more)
	measured := maps.Clone(metrics)
	v, err := r.judge(metrics, judge.Facts{})
	assert.NilError(t, err)
	bounds := map[string]bool{}
	for _, w := range r.entry(v, measured).Withheld {
		bounds[w.Unit] = w.Value > 0 && w.Most > 0
		assert.Equal(t, w.Parts, w.Unit == "ttft-ratio" || w.Unit == "mean-itl-x" || w.Unit == "e2e-x", w.Unit)
	}
	derived, known := bounds["ttft-ratio"]
	assert.Assert(t, known && !derived && bounds["p50-ttft-ns"], "%v", bounds)
}

// TestDerivedNote checks that a note about metrics that are computed from metrics of other results names these metrics: a
// note without units casts doubt on all of the result.
func TestDerivedNote(t *testing.T) {
	r := &run{measurement: measuredGaps(t, BoundWithheld, 0)}
	r.load = deriving(r.load)
	r.load.PartsWithheld = []map[string]error{{"req/s": ErrClientBound}, {"mean-itl-ns": ErrBursts}}
	metrics, more := r.figures(r.all(), r.elapsed)
	maps.Copy(metrics, more)
	v, err := r.judge(metrics, judge.Facts{})
	assert.NilError(t, err)
	r.tellVerdict(v)
	var units []string
	for _, n := range r.end.Notes {
		assert.Assert(t, n.Doubt && len(n.Units) > 0, "%+v", n)
		units = append(units, n.Units...)
	}
	slices.Sort(units)
	assert.DeepEqual(t, units, []string{"e2e-x", "mean-itl-x"})
}

// measuredGaps is like measured, with streams of several deltas. Each read was late by the given time.
func measuredGaps(t *testing.T, bound ClientBound, late time.Duration) *measurement {
	m := measured(t, bound, late, 9, false)
	one := &sample.Sample{Streamed: true, Outcome: sample.OK, Clock: sample.UserClock, Deltas: 3, First: 100 * ms, Last: 300 * ms, End: 300 * ms,
		Gaps: []time.Duration{100 * ms, 100 * ms}, OutputTokens: 3, TokenSource: sample.FromUsage, PromptTokens: 4}
	assert.NilError(t, m.samples.Add(one))
	return m
}

// TestClientErrorIsAboutShown checks that client-err-% is the largest share of the metrics that are reported: not of
// those that are withheld, and that there is none if all are withheld.
func TestClientErrorIsAboutShown(t *testing.T) {
	shown := func(most float64, bound ClientBound) (err float64, known bool, left int) {
		m := measuredGaps(t, bound, 3*ms)
		m.load.MaxDistortion = most
		metrics, _ := m.figures(m.all(), m.elapsed)
		v, fault := m.judge(metrics, judge.Facts{})
		assert.NilError(t, fault)
		for unit, share := range v.client.Likely {
			if _, has := metrics[unit]; has {
				assert.Assert(t, 100*share <= metrics[sample.ClientError], unit)
				left++
			}
		}
		err, known = metrics[sample.ClientError]
		return err, known, left
	}
	all, known, n := shown(1e9, BoundWithheld)
	assert.Assert(t, known && n > 0 && all > 0, "%v", all)
	reported, known, _ := shown(1e-300, BoundReported)
	assert.Assert(t, known && reported == all, "%v, want %v", reported, all)
	some, known, few := shown(all/100, BoundWithheld) // the largest possible share is larger than the likely one
	assert.Assert(t, known && 0 < few && few < n && some < all, "%v of %v in %d of %d metrics", some, all, few, n)
	_, known, _ = shown(1e-300, BoundWithheld)
	assert.Assert(t, !known)
}

// TestTableWithoutFamilies checks that the table has no metric that the result does not show, and that measures the
// same as a withheld metric.
func TestTableWithoutFamilies(t *testing.T) {
	r := &run{measurement: measuredGaps(t, BoundWithheld, 0)}
	metrics, _ := r.figures(r.all(), r.elapsed)
	metrics["p99-itl-ns"] = 5
	v := verdict{Figures: &judge.Figures{Metrics: metrics, Withheld: []judge.Withholding{{Units: []string{"p99-itl-ns"}}}}}
	delete(metrics, "p99-itl-ns")
	table := r.entry(v, metrics).Figures
	for unit, want := range map[string]bool{"p50-itl-ns": false, "mean-itl-ns": false, "mean-tpot-ns": true, "mean-e2e-ns": true, "p50-ttft-ns": true, "req/s": true} {
		_, measured := metrics[unit]
		_, has := table[unit]
		assert.Assert(t, measured, unit)
		assert.Equal(t, has, want, unit)
	}
}
