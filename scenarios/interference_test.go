package scenarios

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
)

// TestInterference measures simulated servers in virtual time. The same engine computes the tokens once more without
// a client, and every metric of the measurement must be within 0.1 ms of the metric of these tokens. The servers differ
// in how they process a long prompt. A formula gives the longest gap of the stream for each of them.
func TestInterference(t *testing.T) {
	e := episodes{count: 2, in: 32, out: 32, long: 2048, interval: 20 * time.Millisecond, shorts: 16, pause: 200 * time.Millisecond}
	base := engine.Profile{Step: 1500, Prefill: 5000, PrefillPerToken: 50, MaxBatch: 32}
	prefill := func(tokens int) time.Duration { return 5*time.Millisecond + time.Duration(tokens)*50*time.Microsecond }
	long, short, step := prefill(e.long), prefill(e.in), 1500*time.Microsecond
	slots := e.slots(long)
	for _, tt := range []struct {
		name    string
		change  func(p *engine.Profile)
		longest time.Duration
	}{
		// A short request is processed when the long prompt comes. 5 are due in 107 ms, 2 more while these are
		// processed, and 1 more while those are.
		{"decoding waits for the long prompt, and for the short ones that came meanwhile", func(*engine.Profile) {}, long + 9*short + step},
		{"a step comes between two prompts", func(p *engine.Profile) { p.PrefillGap = 1 }, long + step},
		{"the prompt is processed in chunks", func(p *engine.Profile) { p.PrefillChunk = 256 }, prefill(256) + step},
	} {
		p := base
		tt.change(&p)
		virtual(t, mockserver.Config{Engine: &p}, func(t *testing.T, target llmbench.Target) {
			l := e.load(slots)
			var err error
			l.Requests, err = e.requests(server{target: target, counter: counter{tokens: tokenizer.Words{}}}, slots, 1)
			assert.NilError(t, err)
			result, err := llmbench.Pass(t.Context(), "", target, l)
			assert.NilError(t, err)
			got, want := l.Figures(result.All()), interfered(slots, computed(t, p, e, slots))
			assert.Equal(t, len(got), len(want), "%s: %v", tt.name, got)
			for unit := range want {
				assert.Assert(t, math.Abs(got[unit]-want[unit]) < 1e5, "%s: %s: %v, want %v", tt.name, unit, time.Duration(got[unit]), time.Duration(want[unit]))
			}
			assert.Equal(t, time.Duration(want["p50-max-itl-during-ns"]), tt.longest, tt.name)
		})
	}
}

// computed returns when an engine has computed each token of the requests of slots.
func computed(t *testing.T, p engine.Profile, e episodes, slots []slot) [][]time.Duration {
	t.Helper()
	tokens := make([][]time.Duration, len(slots))
	index := map[*engine.Sequence]int{}
	server, err := engine.New(p, engine.Watcher{Token: func(s *engine.Sequence, at time.Duration) { tokens[index[s]] = append(tokens[index[s]], at) }})
	assert.NilError(t, err)
	for i, one := range slots {
		job := engine.Job{Prompt: e.in, Output: e.out}
		if one.role == longRequest {
			job = engine.Job{Prompt: e.long, Output: 1}
		}
		s, err := server.Submit(one.at, job)
		assert.NilError(t, err)
		index[s] = i
	}
	server.Advance(time.Hour)
	return tokens
}

// interfered returns the figures of tokens, by the definitions of the units.
func interfered(slots []slot, tokens [][]time.Duration) map[string]float64 {
	values := map[string][]time.Duration{}
	for i, one := range slots {
		switch one.role {
		case longRequest:
			values["mean-ttft-long-ns"] = append(values["mean-ttft-long-ns"], tokens[i][0]-one.at)
			continue
		case idleRequest:
			values["mean-ttft-idle-ns"] = append(values["mean-ttft-idle-ns"], tokens[i][0]-one.at)
			continue
		}
		long := slices.IndexFunc(slots, func(o slot) bool { return o.role == longRequest && o.episode == one.episode })
		phase := func(from, to time.Duration) string {
			if to <= slots[long].at {
				return "-before-ns"
			} else if from >= tokens[long][0] {
				return "-after-ns"
			}
			return "-during-ns"
		}
		unit := "p50-ttft" + phase(one.at, tokens[i][0])
		values[unit] = append(values[unit], tokens[i][0]-one.at)
		longest := map[string]time.Duration{}
		for k, at := range tokens[i][1:] {
			unit := "p50-max-itl" + phase(tokens[i][k], at)
			longest[unit] = max(longest[unit], at-tokens[i][k])
		}
		for unit, gap := range longest {
			values[unit] = append(values[unit], gap)
		}
	}
	figures := map[string]float64{}
	for unit, all := range values {
		slices.Sort(all)
		figures[unit] = sample.Quantile(all, 0.5)
		if strings.HasPrefix(unit, "mean") { // of two episodes
			figures[unit] = float64(all[0]+all[1]) / 2
		}
	}
	return figures
}

// TestInterferenceOfFailures checks that an episode whose long prompt failed has no figures, and that failed short
// requests enter none.
func TestInterferenceOfFailures(t *testing.T) {
	e := episodes{count: 2, interval: 10, shorts: 3, pause: 100}
	slots := e.slots(20)
	for _, tt := range []struct {
		name   string
		failed func(i int, s slot) bool
		want   map[string]float64
	}{
		{"none", func(int, slot) bool { return false }, map[string]float64{
			"p50-ttft-before-ns": 4, "p50-ttft-during-ns": 4, "p50-ttft-after-ns": 4, "mean-ttft-long-ns": 20, "mean-ttft-idle-ns": 4}},
		{"a long one", func(_ int, s slot) bool { return s.episode == 0 && s.role == longRequest }, map[string]float64{
			"p50-ttft-before-ns": 4, "p50-ttft-during-ns": 4, "p50-ttft-after-ns": 4, "mean-ttft-long-ns": 20, "mean-ttft-idle-ns": 4}},
		{"both long ones", func(_ int, s slot) bool { return s.role == longRequest }, map[string]float64{}},
		{"short ones", func(i int, s slot) bool { return s.role == shortRequest && i%len(slots) > 1 }, map[string]float64{
			"p50-ttft-before-ns": 4, "mean-ttft-long-ns": 20, "mean-ttft-idle-ns": 4}},
	} {
		var all []sample.Sample
		for i, one := range slots {
			// A blank delta, as of a gateway that keeps the connection open, comes before the token.
			s := sample.Sample{Request: i, Due: one.at, Start: one.at, First: one.at + 1, Deltas: 2, Blank: 1, Gaps: []time.Duration{3}, Outcome: sample.OK}
			if one.role == longRequest {
				s.Gaps[0] = 19
			}
			if tt.failed(i, one) {
				s.Outcome, s.Err, s.Gaps[0] = sample.Truncated, errors.New("cut"), s.Gaps[0]+1000
			}
			all = append(all, s)
		}
		assert.DeepEqual(t, interferenceFigures(slots, sample.All(all...)), tt.want)
	}
}
