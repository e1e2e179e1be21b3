package scenarios

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
)

// TestSessionFigures compares the figures of sessions with computed ones. In milliseconds, the turns of a session that succeeds:
//
//	turn  waits for  pause  sent     ends  TTFT  depth  tokens
//	0                       0        100   10    1      10
//	1     0          50     150      250   20    1      20
//	2     0          0      101      301   30    2      30
//	3     2, 1       20     323      400   40    3      40
//
// The other session of the pass begins at 400, and its turn 0 fails at 500.
func TestSessionFigures(t *testing.T) {
	const ms = time.Millisecond
	graph := llmbench.Request{Then: []llmbench.Turn{{After: []int{0}, Think: 50 * ms}, {After: []int{0}}, {After: []int{2, 1}, Think: 20 * ms}}}
	shape := sessionShape{[]llmbench.Request{graph, graph}, [][]int{{1, 1, 2, 3}, {1, 1, 2, 3}}, [][]bool{{false, true, false, false}, {false, true, false, false}}, 0.25, 0}
	sent := func(request, turn int, start, end, ttft time.Duration, tokens int) sample.Sample {
		return sample.Sample{Request: request, Turn: turn, Due: start * ms, Start: start * ms, End: end * ms, First: (start + ttft) * ms, Last: end * ms, Deltas: 2, Streamed: true, Outcome: sample.OK, PromptTokens: tokens - 2, OutputTokens: 2}
	}
	samples := []sample.Sample{
		sent(0, 2, 101, 301, 30, 30), sent(0, 0, 0, 100, 10, 10), sent(0, 1, 150, 250, 20, 20), sent(0, 3, 323, 400, 40, 40),
		{Request: 1, Due: 400 * ms, Start: 400 * ms, End: 500 * ms, Outcome: sample.Timeout},
	}
	for i, outcome := range []sample.Outcome{sample.Canceled, sample.Shed, sample.Left} { // as those of turns that are not sent
		samples = append(samples, sample.Sample{Request: 1, Turn: 1 + i, Due: 500 * ms, Start: 500 * ms, End: 500 * ms, Outcome: outcome})
	}
	assert.DeepEqual(t, shape.figures(sample.All(samples...)), map[string]float64{
		"session-fail-%": 50, "lost-turns": 3, "turns/session": 4, "tok/session": 100, "implied-hit-%": 25,
		"mean-sessions": 1, "mean-requests": (100 + 100 + 200 + 77 + 100) / 500.0,
		"p50-ttft-depth1-ns": 15e6, "p50-ttft-depth2-ns": 35e6, "p50-turn-late-ms": 1,
		"out-tok/session": 8, "p50-ttft-main-ns": 30e6, "sub-req-%": 25, "sub-tok-%": 20,
	})
}

// TestMadeUpAgents replays the made-up sessions in virtual time, against a simulated server whose cache has no limit: no turn may be late, and the cache
// must have exactly the tokens that the file implies.
func TestMadeUpAgents(t *testing.T) {
	all, err := (server{}).loadSessions(benchdata.Sessions{Seed: 1}, 0)
	assert.NilError(t, err)
	assert.Equal(t, len(all.Requests), 6)
	assert.DeepEqual(t, []any{all.Format, all.Unknown, all.Cut, all.Agents}, []any{"weka", "", 0, 7})
	shape := sessionShape{all.Requests, all.Depths, all.Subs, all.ImpliedHits, all.Distinct}
	virtual(t, mockserver.Config{Engine: &engine.Profile{Step: 1000, PrefillPerToken: 1, MaxBatch: 16, PrefixCache: true}}, func(t *testing.T, target llmbench.Target) {
		result, err := llmbench.Pass(t.Context(), "agents", target, llmbench.Load{Requests: all.Requests, Concurrency: 2, ClientBound: llmbench.BoundReported})
		assert.NilError(t, err)
		defer result.Close()
		prompt, asked, cached := 0, 0, 0
		for s := range result.All() {
			assert.Equal(t, s.Outcome, sample.OK, "%v", s.Err)
			prompt, asked, cached = prompt+s.PromptTokens, asked+s.AskedTokens, cached+s.CachedTokens
		}
		assert.Equal(t, prompt, asked)
		assert.Equal(t, float64(cached)/float64(asked), all.ImpliedHits)
		figures := shape.figures(result.All())
		assert.Equal(t, figures["p50-turn-late-ms"], 0.0)
		assert.Equal(t, figures["session-fail-%"], 0.0)
	})
}

// TestSessionTexts checks that texts of a file begin differently in each pass and in each load, so that no cache has them.
func TestSessionTexts(t *testing.T) {
	s := saltOf(t, "1", llmbench.Target{}, Options{Sessions: "../benchdata/testdata/sessions/chats.json"})
	begins := func(seed uint64) string {
		all, err := s.drawSessions(1, seed)
		assert.NilError(t, err)
		return all.Requests[0].Messages[0].Content
	}
	assert.Equal(t, begins(1), begins(1))
	assert.Assert(t, begins(1) != begins(2), begins(1))
}
