package sample

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gotest.tools/v3/assert"
)

const ms = time.Millisecond

// answer returns a successful streamed request with the given instants in ms.
func answer(start, first, last float64, tokens int) Sample {
	at := func(x float64) time.Duration { return time.Duration(x * float64(ms)) }
	s := Sample{Due: at(start), Start: at(start), First: at(first), Last: at(last), End: at(last) + ms, Streamed: true,
		Deltas: tokens, Outputs: tokens, FirstOutput: at(first), OutputTokens: tokens, PromptTokens: 10, TokenSource: FromUsage, Outcome: OK, Status: 200}
	for i := 1; i < tokens; i++ {
		s.Gaps = append(s.Gaps, (s.Last-s.First)/time.Duration(tokens-1))
	}
	return s
}

func TestSummarize(t *testing.T) {
	failed := Sample{Due: 0, First: time.Hour, Last: 2 * time.Hour, End: 3 * time.Hour, Streamed: true, Deltas: 1000,
		Gaps: []time.Duration{time.Hour}, OutputTokens: 1e6, PromptTokens: 1e6, Outcome: Truncated}
	noText := Sample{Streamed: true, OutputTokens: 2, PromptTokens: 10, TokenSource: FromUsage, Outcome: OK, End: 50 * ms}
	thought, found := answer(0, 100, 500, 5), answer(0, 100, 500, 5)
	thought.Outputs, thought.FirstOutput, thought.CachedTokens = 1, 500*ms, 3
	found.CachedTokens = 5
	whole := Sample{Due: 10 * ms, Start: 10 * ms, End: 110 * ms, OutputTokens: 5, PromptTokens: 10, TokenSource: FromUsage, Outcome: OK}
	chars := answer(0, 100, 500, 5)
	chars.PromptChars, chars.OutputChars = 8, 3
	silent := failed
	silent.PromptChars, silent.OutputChars = 1e6, 1e6
	for _, c := range []struct {
		name    string
		samples []Sample
		elapsed time.Duration
		slo     SLO
		want    map[string]float64
	}{
		{"nothing", nil, 0, SLO{}, map[string]float64{}},
		{"only failures", []Sample{failed, failed}, time.Second, SLO{TTFT: 1}, map[string]float64{"fail-%": 100}},
		{"one request", []Sample{answer(100, 300, 500, 5)}, 2 * time.Second, SLO{}, map[string]float64{
			"output-tok/s": 2.5, "prompt-tok/s": 5, "total-tok/s": 7.5, "req/s": 0.5, "user-tok/s": 12.5,
			"mean-ttft-ns": 200e6, "mean-tpot-ns": 50e6, "mean-itl-ns": 50e6, "mean-e2e-ns": 400e6,
			"p50-itl-ns": 50e6, "in-tok/req": 10, "out-tok/req": 5, "fail-%": 0,
		}},
		{"a failure changes nothing but its share", []Sample{answer(100, 300, 500, 5), failed}, 2 * time.Second, SLO{}, map[string]float64{
			"output-tok/s": 2.5, "prompt-tok/s": 5, "total-tok/s": 7.5, "req/s": 0.5, "user-tok/s": 12.5,
			"mean-ttft-ns": 200e6, "mean-tpot-ns": 50e6, "mean-itl-ns": 50e6, "mean-e2e-ns": 400e6,
			"p50-itl-ns": 50e6, "in-tok/req": 10, "out-tok/req": 5, "fail-%": 50,
		}},
		{"characters", []Sample{chars, silent}, 2 * time.Second, SLO{}, map[string]float64{
			"output-tok/s": 2.5, "prompt-tok/s": 5, "total-tok/s": 7.5, "req/s": 0.5, "user-tok/s": 10,
			"output-chars/s": 1.5, "prompt-chars/s": 4,
			"mean-ttft-ns": 100e6, "mean-tpot-ns": 100e6, "mean-itl-ns": 100e6, "mean-e2e-ns": 500e6,
			"p50-itl-ns": 100e6, "in-tok/req": 10, "out-tok/req": 5, "fail-%": 50,
		}},
		{"no text is no TTFT, and not zero", []Sample{noText}, time.Second, SLO{}, map[string]float64{
			"output-tok/s": 2, "prompt-tok/s": 10, "total-tok/s": 12, "req/s": 1, "in-tok/req": 10, "out-tok/req": 2, "fail-%": 0,
		}},
		{"not streamed is end to end alone", []Sample{whole, whole}, time.Second, SLO{}, map[string]float64{
			"output-tok/s": 10, "prompt-tok/s": 20, "total-tok/s": 30, "req/s": 2, "user-tok/s": 50,
			"mean-e2e-ns": 100e6, "p50-e2e-ns": 100e6, "in-tok/req": 10, "out-tok/req": 5, "fail-%": 0,
		}},
		{"one token has no time per token", []Sample{answer(0, 100, 100, 1)}, time.Second, SLO{TPOT: 1}, map[string]float64{
			"output-tok/s": 1, "prompt-tok/s": 10, "total-tok/s": 11, "req/s": 1, "good-req/s": 1, "user-tok/s": 10,
			"mean-ttft-ns": 100e6, "mean-e2e-ns": 100e6, "in-tok/req": 10, "out-tok/req": 1, "fail-%": 0,
		}},
		{"reasoning and a cache", []Sample{thought, found}, time.Second, SLO{}, map[string]float64{
			"output-tok/s": 10, "prompt-tok/s": 20, "total-tok/s": 30, "req/s": 2, "user-tok/s": 10, "mean-ttft-ns": 100e6, "p50-ttft-ns": 100e6,
			"mean-ttfo-ns": 300e6, "p50-ttfo-ns": 300e6, "mean-tpot-ns": 100e6, "p50-tpot-ns": 100e6, "mean-itl-ns": 100e6, "p50-itl-ns": 100e6,
			"mean-e2e-ns": 500e6, "p50-e2e-ns": 500e6, "in-tok/req": 10, "out-tok/req": 5, "cached-%": 40, "fail-%": 0,
		}},
		{"good requests", []Sample{answer(0, 100, 500, 5), answer(0, 101, 500, 5), answer(0, 100, 504, 5), answer(0, 50, 600, 2), failed},
			time.Second, SLO{TTFT: 100 * ms, TPOT: 100 * ms}, map[string]float64{"good-req/s": 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Summarize(All(c.samples...), c.elapsed, c.slo).Metrics
			if len(c.want) == 1 && c.want["good-req/s"] > 0 { // only in cases about the SLO
				got = map[string]float64{"good-req/s": got["good-req/s"]}
			}
			if diff := cmp.Diff(c.want, got, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
				t.Errorf("Summarize() mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSummarizeCounts checks the counts of a summary, and that the order of samples does not matter.
func TestSummarizeCounts(t *testing.T) {
	var samples []Sample
	for i := range 100 { // the latest last, and every second of the others
		s := answer(float64(i), float64(i)+100+float64(i*37%100), float64(i)+500, 5)
		s.Scheduled = true
		s.Due -= time.Duration(i) * ms / 100
		s.Resent, s.Connect = i%2, time.Duration(i%4/3)
		samples = append(samples, s)
	}
	forward := Summarize(All(samples...), time.Second, SLO{})
	assert.Equal(t, forward.Resent, 50)
	assert.Equal(t, forward.Connected, 25)
	assert.DeepEqual(t, forward.Sources, map[TokenSource]int{FromUsage: 100})
	if got := forward.Metrics["p99-lag-ns"]; math.Abs(got-0.9801e6) > 1 {
		t.Errorf("p99-lag-ns = %v; want 980100", got)
	}
	assert.Equal(t, forward.Metrics["p50-service-ttft-ns"], 149.5e6)
	slices.Reverse(samples)
	assert.DeepEqual(t, Summarize(All(samples...), time.Second, SLO{}), forward)

	shifted := []Sample{answer(50, 60, 70, 2), answer(20, 30, 40, 2)}
	assert.Equal(t, Elapsed(All(shifted...)), 51*ms)
}

// TestUnknownIsLeftOut checks that a metric is omitted if one answer lacks a count that the metric needs.
// The count must not be taken for zero.
func TestUnknownIsLeftOut(t *testing.T) {
	known := answer(0, 100, 200, 10)
	noOutput := Sample{End: 100 * ms, PromptTokens: 10, TokenSource: FromNothing, Outcome: OK}
	noPrompt := answer(0, 100, 200, 10)
	noPrompt.PromptTokens = 0
	for _, c := range []struct {
		other  Sample
		absent []string
	}{
		{noOutput, []string{"output-tok/s", "out-tok/req", "total-tok/s", "user-tok/s"}},
		{noPrompt, []string{"prompt-tok/s", "in-tok/req", "total-tok/s"}},
	} {
		with := Summarize(All(known, known), time.Second, SLO{}).Metrics
		without := Summarize(All(known, c.other), time.Second, SLO{}).Metrics
		for _, unit := range c.absent {
			_, before := with[unit]
			_, after := without[unit]
			assert.Assert(t, before && !after, "%s: %t with all counts known, %t without", unit, before, after)
		}
	}
	buffered := answer(0, 100, 100, 10) // the whole text in one delta
	buffered.Deltas, buffered.Gaps = 1, nil
	got := Summarize(All(buffered), time.Second, SLO{TPOT: 1}).Metrics
	_, has := got["mean-tpot-ns"]
	assert.Assert(t, !has, "one delta has a time per token: %v", got)
	assert.Equal(t, got["good-req/s"], 0.0)
	whole := Sample{End: ms, OutputTokens: 1, PromptTokens: 1, TokenSource: FromUsage, Outcome: OK}
	limit := SLO{TPOT: 1}
	assert.Assert(t, !limit.Met(&whole), "an answer that was not streamed keeps a limit on its time per token")
}

// TestPercentiles checks that a percentile of too few samples is omitted, and how percentiles are
// interpolated.
func TestPercentiles(t *testing.T) {
	for _, c := range []struct {
		n    int
		want map[string]float64 // of TTFTs 1 ms, 2 ms, … n ms
	}{
		{1, map[string]float64{"mean": 1e6}},
		{2, map[string]float64{"mean": 1.5e6, "p50": 1.5e6}},
		{9, map[string]float64{"mean": 5e6, "p50": 5e6}},
		{10, map[string]float64{"mean": 5.5e6, "p50": 5.5e6, "p90": 9.1e6}},
		{99, map[string]float64{"mean": 50e6, "p50": 50e6, "p90": 89.2e6}},
		{100, map[string]float64{"mean": 50.5e6, "p50": 50.5e6, "p90": 90.1e6, "p99": 99.01e6}},
		{298, map[string]float64{"mean": 149.5e6, "p50": 149.5e6, "p90": 268.3e6, "p99": 295.03e6}},
		{299, map[string]float64{"mean": 150e6, "p50": 150e6, "p90": 269.2e6, "p99": 296.02e6, "p99-bound": 299e6}},
		{473, map[string]float64{"mean": 237e6, "p50": 237e6, "p90": 425.8e6, "p99": 468.28e6, "p99-bound": 472e6}},
	} {
		var samples []Sample
		for i := range c.n {
			samples = append(samples, answer(0, float64(i+1), float64(i+2), 2))
		}
		all := Summarize(All(samples...), time.Second, SLO{}).Metrics
		got := map[string]float64{}
		for _, s := range latencies[0].statistics() {
			if v, has := all[unitName(s, "ttft")]; has {
				got[string(s)] = v
			}
		}
		if diff := cmp.Diff(c.want, got, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
			t.Errorf("TTFT of %d samples mismatch (-want +got):\n%s", c.n, diff)
		}
	}
}

// TestMetricsCanBeReported checks that no metric is NaN, infinite, or a time of zero, and that
// each one is a unit, for samples of several kinds.
func TestMetricsCanBeReported(t *testing.T) {
	known := map[string]bool{}
	for _, u := range Units {
		assert.Assert(t, !known[u.Name], "unit %s twice", u.Name)
		known[u.Name] = true
	}
	instant := answer(0, 0, 0, 3) // all at once, below the clock's resolution
	instant.Scheduled = true
	many := make([]Sample, 200)
	for i := range many {
		many[i] = instant
	}
	for _, samples := range [][]Sample{nil, {instant}, many, {{Outcome: OK}}, {{}}} {
		for _, elapsed := range []time.Duration{0, 1, time.Hour} {
			for unit, v := range Summarize(All(samples...), elapsed, SLO{E2E: 1}).Metrics {
				if math.IsNaN(v) || math.IsInf(v, 0) || !known[unit] {
					t.Errorf("%s = %v for %d samples in %v", unit, v, len(samples), elapsed)
				}
				if len(unit) > 3 && unit[len(unit)-3:] == "-ns" && v <= 0 {
					t.Errorf("%s = %v: benchstat keeps zeros of a time apart", unit, v)
				}
			}
		}
	}
}

func TestParseSLO(t *testing.T) {
	for text, want := range map[string]SLO{
		"ttft=500ms":                   {TTFT: 500 * ms},
		"ttft=500ms,tpot=50ms,e2e=10s": {500 * ms, 50 * ms, 10 * time.Second},
		" e2e=1s , ttft=1ms":           {TTFT: ms, E2E: time.Second},
	} {
		got, err := ParseSLO(text)
		assert.NilError(t, err)
		assert.Equal(t, got, want)
		again, err := ParseSLO(got.String())
		assert.NilError(t, err)
		assert.Equal(t, again, got)
	}
	for _, text := range []string{"", "ttft", "ttft=", "ttft=0s", "ttft=-1s", "ttft=5", "itl=5ms", "ttft=1s,ttft=2s", "ttft=1s,"} {
		if got, err := ParseSLO(text); err == nil {
			t.Errorf("ParseSLO(%q) = %v; want an error", text, got)
		}
	}
}

// TestContradictions checks that a metric is omitted if a part is larger than the whole, and that other
// metrics are not omitted.
func TestContradictions(t *testing.T) {
	sound := answer(0, 100, 200, 32)
	sound.PromptTokens, sound.CachedTokens, sound.ReasoningTokens = 100, 100, 32
	cached, reasoned := sound, sound
	cached.CachedTokens, reasoned.ReasoningTokens = 5000, 5000
	for _, c := range []struct {
		samples []Sample
		absent  string
		want    []string
	}{
		{[]Sample{sound, sound}, "", nil},
		{[]Sample{sound, cached, cached}, "cached-%", []string{"cached-% is omitted: 2 answers report more cached than prompt tokens, the first 5000 of 100"}},
		{[]Sample{reasoned, sound}, "reason-tok/req", []string{"reason-tok/req is omitted: 1 answers report more reasoning than output tokens, the first 5000 of 32"}},
	} {
		got := Summarize(All(c.samples...), time.Second, SLO{})
		assert.DeepEqual(t, got.Contradictions, c.want)
		for _, unit := range []string{"cached-%", "reason-tok/req", "in-tok/req", "out-tok/req", "output-tok/s"} {
			_, has := got.Metrics[unit]
			assert.Equal(t, has, unit != c.absent, unit)
		}
	}
}
