package llmbench

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/judge"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// replying returns the session of [agent] with a Reply to each turn that another one continues.
func replying() Request {
	r := agent()
	r.Then[0].Reply, r.Then[2].Reply = "searching", "done"
	return r
}

// TestSkip compares a session that begins in its midst with computed instants and conversations. Of the session of [agent], turns 3 and 4 remain
// with turn 5, which waits for both, if it begins with turn 3: turn 4 waits 40 ms from the begin, and turn 5 waits for turns 3 and 4, and
// begins 100 ms after the last of them. What the server should have in its cache comes first.
func TestSkip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, err := mockserver.New(mockserver.Config{TTFT: 100 * ms, PerToken: 10 * ms})
		assert.NilError(t, err)
		listener := &listener{Handler: srv}
		target, stop := inMemory(t, listener)
		defer stop()
		r := replying()
		r.Skip = 3
		samples := passOf(t, target, Load{Requests: []Request{r, replying()}, Concurrency: 1, WholePass: true})
		assert.Equal(t, len(samples), 3+6)
		for i, want := range []struct {
			turn     int
			from, to time.Duration
		}{{3, 0, 110}, {4, 40, 190}, {5, 290, 390}} { // the last one begins 100 ms after the end of turn 4
			s := samples[i]
			assert.Equal(t, s.Outcome, sample.OK, "%v", s.Err)
			assert.DeepEqual(t, []any{s.Request, s.Turn, s.Start, s.End}, []any{0, want.turn, want.from * ms, want.to * ms})
		}
		full := replying()
		var primed [][]Message // none of the first three turns continues another one
		for _, turn := range []int{0, 1, 2} {
			primed = append(primed, full.upTo(turn, noReply))
		}
		assert.DeepEqual(t, listener.conversations[:3], primed)
		assert.DeepEqual(t, listener.conversations[3:6], [][]Message{full.upTo(3, noReply), full.upTo(4, noReply), full.upTo(5, noReply)})
		for i, e := range srv.Log()[:3] {
			assert.Equal(t, len(e.Tokens), 1, "request %d", i)
		}
		assert.Equal(t, len(listener.conversations), 3+3+6)
	})
}

// passOf makes a pass with [Pass], and returns its samples in order.
func passOf(t *testing.T, target Target, l Load) []sample.Sample {
	t.Helper()
	l.ClientBound = BoundReported
	result, err := Pass(t.Context(), "", target, l)
	assert.NilError(t, err)
	defer result.Close()
	return ordered(result.All())
}

// TestPrimer checks that conversations that a later one continues are not sent.
func TestPrimer(t *testing.T) {
	r := Request{Prompt: "a", MaxTokens: 9, Reply: "b", Model: "m", Then: []Turn{{Prompt: "c", MaxTokens: 9, Reply: "d"}, {Prompt: "e", MaxTokens: 9}}}
	say := func(texts ...string) (all []Message) {
		for i, text := range texts {
			all = append(all, Message{Role: []string{"user", "assistant"}[i%2], Content: text})
		}
		return all
	}
	for skip, want := range map[int][]Message{1: say("a"), 2: say("a", "b", "c")} {
		r.Skip = skip
		p := r.primer()
		assert.DeepEqual(t, []any{p.Messages, p.MaxTokens, p.Model, len(p.Then)}, []any{want, 1, "m", 0})
		assert.NilError(t, r.checkSkip())
	}
}

// TestSkipErrors checks that a session that cannot begin in its midst is an error.
func TestSkipErrors(t *testing.T) {
	for skip, want := range map[int]string{
		-1: "request 0: the first -1 turns are not sent: want from 0 to 5",
		6:  "request 0: the first 6 turns are not sent: want from 0 to 5",
		3:  "request 0: the first 3 turns are not sent, and turn 3 continues turn 1, which has no Reply: want one",
	} {
		r := agent()
		r.Skip = skip
		_, err := newPlan(&Load{}, Target{}, []Request{r})
		assert.Error(t, err, want)
	}
}

// talk returns n sessions of the given number of turns, whose answers take 100 ms, with a second between turns.
func talk(n, turns int) []Request {
	all := make([]Request, n)
	for i := range all {
		all[i] = Request{Prompt: fmt.Sprintf("session %d", i), MaxTokens: 1, FixedOutput: true, Reply: "yes"}
		for range turns - 1 {
			all[i].Then = append(all[i].Then, Turn{Prompt: "go on", MaxTokens: 1, FixedOutput: true, Reply: "yes", Think: time.Second})
		}
	}
	return all
}

// TestCutSessions checks that a session ends with the time of the load: turns that are due later are not sent, are left at its end, and count for
// nothing. Until then no user begins another session. Without CutSessions they are sent, and count for no latency either.
func TestCutSessions(t *testing.T) {
	for _, cut := range []bool{true, false} {
		bubble(t, mockserver.Config{TTFT: 100 * ms}, Load{Requests: talk(4, 5), Concurrency: 1, Duration: 8 * time.Second, CutSessions: cut}, func(samples []sample.Sample, srv *mockserver.Server) {
			assert.Equal(t, len(samples), 10) // a session takes 4.5 s: the second one begins at 4.5 s and has turns at 4.5, 5.6, 6.7, 7.8 and 8.9 s
			last := samples[9]
			if cut {
				assert.Equal(t, len(srv.Log()), 9)
				assert.DeepEqual(t, []any{last.Outcome, last.Due, last.End}, []any{sample.Left, 8 * time.Second, 8 * time.Second})
				assert.ErrorContains(t, last.Err, "the time of the pass was over")
			} else {
				assert.DeepEqual(t, []any{last.Outcome, last.Due}, []any{sample.OK, 8900 * ms})
			}
			s := sample.Summarize(sample.All(samples...), sample.Elapsed(sample.All(samples...)), sample.SLO{})
			assert.Equal(t, s.Requests, 9)
			assert.Equal(t, s.Outcomes[sample.Left], 0)
			assert.Equal(t, judge.Coverage(sample.All(samples...), 1, 1, 8*time.Second), 1.0)
		})
	}
}

// TestCutBranches checks that the end of the time does not end turns of the same session that are due before it.
func TestCutBranches(t *testing.T) {
	r := talk(1, 1)[0]
	r.Then = []Turn{
		{Prompt: "later", MaxTokens: 1, FixedOutput: true, After: []int{0}, Think: 10 * time.Second},
		{Prompt: "soon", MaxTokens: 1, FixedOutput: true, After: []int{0}, Think: 4 * time.Second, Reply: "yes"},
		{Prompt: "and then", MaxTokens: 1, FixedOutput: true, After: []int{2, 1}},
	}
	bubble(t, mockserver.Config{TTFT: 100 * ms}, Load{Requests: []Request{r, r}, Concurrency: 1, Duration: 5 * time.Second, CutSessions: true}, func(samples []sample.Sample, _ *mockserver.Server) {
		var outcomes []sample.Outcome
		for _, s := range samples {
			outcomes = append(outcomes, s.Outcome)
		}
		assert.DeepEqual(t, outcomes, []sample.Outcome{sample.OK, sample.Left, sample.OK, sample.Left})
	})
}

// TestCoverage compares the coverage with a computed one: of 10 s, two users have three sessions of 1.2 s each.
func TestCoverage(t *testing.T) {
	bubble(t, mockserver.Config{TTFT: 100 * ms}, Load{Requests: talk(6, 2), Concurrency: 2, Duration: 10 * time.Second}, func(samples []sample.Sample, _ *mockserver.Server) {
		assert.Equal(t, judge.Coverage(sample.All(samples...), 2, 1, 10*time.Second), 0.36)
	})
}

// TestRunIdle checks that a benchmark whose users had no sessions for a part of the time shows no rates and no latencies, and says so in one line.
func TestRunIdle(t *testing.T) {
	out := t.TempDir()
	stdout, _, code, _ := runHelper(t, "Idle", nil, nil, "LLMBENCH_OUT="+out)
	all, _ := results(t, stdout)
	for unit, want := range map[string]bool{"p50-ttft-sec": false, "req/s": false, "idle-%": true, "in-tok/req": true} {
		_, has := all[0].Value(unit)
		assert.Equal(t, has, want, unit)
	}
	assert.Assert(t, code == 0, stdout)
	run, err := records.Open(filepath.Join(out, "BenchmarkHelper,Idle.1.jsonl"))
	assert.NilError(t, err)
	assert.Assert(t, slices.Contains(run.End.Idle, "p50-ttft-ns") && slices.Contains(run.Withheld(), "req/s"), "%v", run.End.Idle)
}

func helperIdle(b *testing.B) {
	_, target := loopback(b, mockserver.Config{})
	all := talk(4, 1)
	Run(b, target, Load{Requests: all, Concurrency: 2, Duration: 200 * ms, LeastCoverage: 0.98})
}

// TestPassIdle checks that a single pass whose users had no sessions for a part of the time has an error beside its result.
func TestPassIdle(t *testing.T) {
	_, target := loopback(t, mockserver.Config{})
	result, err := Pass(t.Context(), "", target, Load{Requests: talk(4, 1), Concurrency: 2, Duration: 200 * ms, LeastCoverage: 0.98, ClientBound: BoundWithheld})
	assert.ErrorIs(t, err, ErrIdle)
	defer result.Close()
	assert.Equal(t, len(slices.Collect(result.All())), 4)
}
