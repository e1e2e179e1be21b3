package llmbench

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/judge"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/send"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/testkit/runtest"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// TestCancelAfterDeltas lets half of the clients of a closed loop leave. Each client must leave at the
// delta that was drawn for it. The server's log must show the answer as aborted, and the slot must be free
// for the next request at once.
func TestCancelAfterDeltas(t *testing.T) {
	const tokens, ttft, perToken = 20, 100 * ms, 10 * ms
	l := Load{Requests: words(40, tokens), Concurrency: 1, Cancel: Cancel{Share: 0.5, Deltas: 10, Seed: 3}}
	cfg := mockserver.Config{TTFT: ttft, PerToken: perToken, Slots: 1}
	bubble(t, cfg, l, func(samples []sample.Sample, srv *mockserver.Server) {
		synctest.Wait() // until the server has noticed that the last client left
		log := srv.Log()
		assert.Equal(t, len(log), len(samples))
		left, drawn := 0, map[int]bool{}
		for i, s := range samples {
			if s.Outcome == sample.OK {
				assert.Equal(t, s.Deltas, tokens)
				assert.Assert(t, !log[i].Aborted)
			} else {
				left++
				drawn[s.Deltas] = true
				assert.Equal(t, s.Outcome, sample.Left, "%v", s.Err)
				assert.ErrorContains(t, s.Err, "the client left")
				assert.Assert(t, s.Deltas >= 1 && s.Deltas <= 10, "left after %d deltas", s.Deltas)
				assert.Equal(t, s.OutputTokens, 0)
				assert.Assert(t, log[i].Aborted, "the server's log of request %d: %+v", i, log[i])
			}
			// A client leaves at the instant of its last delta. The next request finds the
			// slot free.
			took := ttft + time.Duration(s.Deltas-1)*perToken
			assert.Equal(t, s.End-s.Start, took)
			assert.Equal(t, log[i].Admitted, log[i].Accepted)
			if i > 0 {
				assert.Equal(t, s.Start, samples[i-1].End)
			}
		}
		assert.Equal(t, left, 20)
		assert.Assert(t, len(drawn) > 5, "%v", drawn)

		s := sample.Summarize(sample.All(samples...), sample.Elapsed(sample.All(samples...)), sample.SLO{})
		assert.Equal(t, s.Failed(), 0)
		assert.Equal(t, s.Metrics["fail-%"], 0.0)
		assert.Equal(t, s.Metrics["left-%"], 50.0)
		assert.Equal(t, s.Metrics["req/s"], 20/sample.Elapsed(sample.All(samples...)).Seconds())
		assert.Equal(t, s.Metrics["output-tok/s"], 20*tokens/sample.Elapsed(sample.All(samples...)).Seconds())
		assert.Equal(t, s.Metrics["p50-e2e-ns"], float64(ttft+(tokens-1)*perToken))
		assert.Equal(t, judge.TooManyFailed(sample.All(samples...), judge.Tolerated{}), "")
	})
}

// TestCancelAfterTime lets clients leave after a given time: before the answer begins, in the middle of a
// stream, or not at all because the answer ends earlier.
func TestCancelAfterTime(t *testing.T) {
	for _, noStream := range []bool{false, true} {
		cfg := mockserver.Config{TTFT: 100 * ms, PerToken: 10 * ms}
		l := Load{Requests: words(60, 11), Arrivals: arrivals.Constant{Rate: 100}, NoStream: noStream, Cancel: Cancel{Share: 1, Time: 400 * ms}}
		bubble(t, cfg, l, func(samples []sample.Sample, srv *mockserver.Server) {
			synctest.Wait()
			log := srv.Log()
			var early, middle, whole int
			for i, s := range samples {
				assert.Equal(t, log[i].Aborted, s.Outcome == sample.Left)
				switch {
				case s.Outcome == sample.OK:
					whole++
				case s.Deltas == 0:
					early++
				default:
					middle++
				}
				if s.Outcome == sample.Left {
					assert.Assert(t, s.End-s.Start > 0 && s.End-s.Start <= 200*ms, "left after %v", s.End-s.Start)
				}
			}
			assert.Assert(t, early > 5 && whole > 15 && (middle > 5 || noStream), "early %d, in the middle %d, not at all %d", early, middle, whole)
		})
	}
}

// TestCancelBatch lets a client leave a server that processes one sequence at a time. The next request must
// wait for the rest of the step. If the server continues abandoned answers, the next request must wait for
// the rest of the answer.
func TestCancelBatch(t *testing.T) {
	for _, zombies := range []bool{false, true} {
		p := engine.Profile{Step: 10000, MaxBatch: 1, Zombies: zombies}
		l := Load{Requests: words(2, 50), Arrivals: arrivals.Constant{Rate: 1000}}
		l.Cancel = Cancel{Share: 0.5, Deltas: 1, Seed: 2}
		bubble(t, mockserver.Config{Engine: &p}, l, func(samples []sample.Sample, srv *mockserver.Server) {
			assert.Equal(t, samples[0].Outcome, sample.Left)
			assert.Equal(t, samples[1].Outcome, sample.OK, "%v", samples[1].Err)
			waited := samples[1].First - samples[0].End
			if zombies {
				assert.Assert(t, waited >= 49*10*ms, "%v", waited)
			} else {
				assert.Assert(t, waited <= 3*10*ms, "%v", waited)
			}
		})
	}
}

// TestCancelSessions checks that a session ends with the turn in which its client left.
func TestCancelSessions(t *testing.T) {
	requests := words(30, 8)
	for i := range requests {
		requests[i].Then = []Turn{{Prompt: "a", MaxTokens: 8}, {Prompt: "b", MaxTokens: 8}}
	}
	bubble(t, mockserver.Config{TTFT: ms}, Load{Requests: requests, Concurrency: 3, Cancel: Cancel{Share: 1, Deltas: 3}}, func(samples []sample.Sample, srv *mockserver.Server) {
		turns := map[int]int{}
		for i := 0; i < len(samples); i += 3 {
			outcomes := []sample.Outcome{samples[i].Outcome, samples[i+1].Outcome, samples[i+2].Outcome}
			turn := slices.Index(outcomes, sample.Left)
			turns[turn]++
			for j, o := range outcomes {
				assert.Equal(t, o == sample.Left, j >= turn, "%v", outcomes)
				if j > turn {
					assert.ErrorContains(t, samples[i+j].Err, send.ErrNotSent.Error())
				}
			}
		}
		assert.Assert(t, turns[0] > 2 && turns[1] > 2 && turns[2] > 2 && len(turns) == 3, "%v", turns)
		assert.Equal(t, judge.TooManyFailed(sample.All(samples...), judge.Tolerated{}), "")
	})
}

// TestCancelSockets checks, on real sockets, that clients that leave close their connections, and that the
// server sees no other answer aborted.
func TestCancelSockets(t *testing.T) {
	runtest.CheckLeaks(t)
	srv, target := loopback(t, mockserver.Config{TTFT: ms, PerToken: ms})
	samples, err := tryPass(t, t.Context(), target, Load{Requests: words(60, 40), Concurrency: 8, Cancel: Cancel{Share: 0.25, Deltas: 20, Seed: 1}})
	assert.NilError(t, err)
	left := map[string]bool{}
	for i := range samples {
		if samples[i].Outcome == sample.Left {
			left[samples[i].ID] = true
		} else {
			assert.Equal(t, samples[i].Outcome, sample.OK, "%v", samples[i].Err)
		}
	}
	assert.Equal(t, len(left), 15)
	runtest.Until(t, "all requests are in the log", func() bool { return len(srv.Log()) == len(samples) })
	for _, e := range srv.Log() { // the server may have sent all of the answer before the client left
		assert.Assert(t, left[e.ID] || !e.Aborted, "%+v", e)
	}
}

// TestCancelPlan checks that the same seed always draws the same clients and that another seed draws
// others. It also checks that a failed request whose client was to leave counts as a failure.
func TestCancelPlan(t *testing.T) {
	plan := func(seed uint64) (all []int) {
		leaves := planLeaves(Cancel{Share: 0.4, Deltas: 100, Seed: seed}, source{8, func(int) Request { return words(1, 1)[0] }})
		for i := range 8 {
			all = append(all, leaves[i].Deltas)
		}
		return all
	}
	assert.DeepEqual(t, plan(1), []int{0, 0, 0, 0, 66, 55, 72, 0})
	assert.Assert(t, !slices.Equal(plan(1), plan(2)))
	_, target := loopback(t, mockserver.Config{Faults: []fault.Fault{{Kind: fault.HTTP500, Every: 2}}})
	samples, err := tryPass(t, context.Background(), target, Load{Requests: words(20, 40), Concurrency: 1, Cancel: Cancel{Share: 1, Deltas: 2}})
	assert.NilError(t, err)
	s := sample.Summarize(sample.All(samples...), sample.Elapsed(sample.All(samples...)), sample.SLO{})
	assert.Equal(t, s.Outcomes[sample.HTTP], 10)
	assert.Equal(t, s.Outcomes[sample.Left], 10)
	assert.Equal(t, s.Metrics["fail-%"], 50.0)
}

func TestCancelErrors(t *testing.T) {
	for _, c := range []struct {
		cancel Cancel
		want   string // "" means no error
	}{
		{Cancel{}, ""},
		{Cancel{Seed: 1}, ""},
		{Cancel{Share: 1, Deltas: 1}, ""},
		{Cancel{Share: -0.1, Deltas: 1}, "share -0.1: want a number in [0,1]"},
		{Cancel{Share: 2, Deltas: 1}, "share 2"},
		{Cancel{Deltas: 1}, "a share of 0, and 1 deltas or 0s"},
		{Cancel{Share: 0.5}, "0 deltas and 0s: want one of them"},
		{Cancel{Share: 0.5, Deltas: 1, Time: 1}, "1 deltas and 1ns: want one of them"},
		{Cancel{Share: 0.5, Deltas: -1}, "-1 deltas"},
	} {
		_, err := Load{Requests: words(1, 1), Concurrency: 1, Cancel: c.cancel}.check()
		if c.want == "" {
			assert.NilError(t, err)
		} else {
			assert.ErrorContains(t, err, c.want)
		}
	}
	_, err := Load{Requests: words(1, 1), Concurrency: 1, NoStream: true, Cancel: Cancel{Share: 0.5, Deltas: 1}}.check()
	assert.ErrorContains(t, err, "answers that are not streamed have none")
	for _, text := range []string{"", "0.5", "x:1", "0.5:", "0.5:x", "0.5:0", "0.5:-1s", "2:1", "0:1", "NaN:1"} {
		if c, err := ParseCancel(text); err == nil {
			t.Errorf("ParseCancel(%q) = %+v; want an error", text, c)
		}
	}
	for _, c := range []Cancel{{Share: 0.25, Deltas: 7}, {Share: 1, Time: time.Minute}} {
		got, err := ParseCancel(fmt.Sprint(c))
		assert.NilError(t, err)
		assert.Equal(t, got, c)
	}
}
