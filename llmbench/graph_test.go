package llmbench

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// agent returns the session of an agent, whose answers take 100 ms and then 10 ms for each token after the first:
//
//	turn  what it is                      waits for  pause  starts  ends
//	0     the agent begins                           0      0       120 (3 tokens)
//	1     a sub-agent begins              0          30     150     250 (1 token)
//	2     another one in the background   0          500    620     820 (11 tokens)
//	3     the sub-agent goes on           1          0      250     360 (2 tokens)
//	4     a third one                     0          40     160     310 (6 tokens)
//	5     the agent, with both replies    0, 3, 4    100    460     560 (1 token)
func agent() Request {
	task := func(text string) []Message {
		return []Message{{Role: "system", Content: "sub-agent"}, {Role: "user", Content: text}}
	}
	return Request{
		Prompt: "begin", MaxTokens: 3, FixedOutput: true, Reply: "I ask two agents",
		Then: []Turn{
			{Messages: task("search"), Whole: true, MaxTokens: 1, FixedOutput: true, Think: 30 * ms},
			{Messages: task("watch"), Whole: true, After: []int{0}, MaxTokens: 11, FixedOutput: true, Think: 500 * ms},
			{Prompt: "go on", After: []int{1}, MaxTokens: 2, FixedOutput: true},
			{Messages: task("test"), Whole: true, After: []int{0}, MaxTokens: 6, FixedOutput: true, Think: 40 * ms},
			{Messages: []Message{{Role: "user", Content: "found"}, {Role: "user", Content: "tested"}}, After: []int{0, 3, 4}, MaxTokens: 1, FixedOutput: true, Think: 100 * ms},
		},
	}
}

// TestGraph compares the instants and the conversations of a session that branches with computed ones, in a closed and in an
// open loop.
func TestGraph(t *testing.T) {
	for _, loop := range []Load{{Concurrency: 1}, {Arrivals: arrivals.Replay{At: []time.Duration{time.Second}}}, {Arrivals: arrivals.Replay{At: []time.Duration{time.Second}}, MaxInFlight: 1}} {
		synctest.Test(t, func(t *testing.T) {
			srv, err := mockserver.New(mockserver.Config{TTFT: 100 * ms, PerToken: 10 * ms})
			assert.NilError(t, err)
			listener := &listener{Handler: srv}
			target, stop := inMemory(t, listener)
			defer stop()
			loop.Requests = []Request{agent()}
			samples := onePass(t, target, loop)
			assert.Equal(t, len(samples), 6)
			begin := samples[0].Start
			for i, want := range [][2]time.Duration{{0, 120}, {150, 250}, {620, 820}, {250, 360}, {160, 310}, {460, 560}} {
				s := samples[i]
				assert.Equal(t, s.Outcome, sample.OK, "%v", s.Err)
				assert.Equal(t, s.Turn, i)
				assert.DeepEqual(t, [2]time.Duration{s.Start - begin, s.End - begin}, [2]time.Duration{want[0] * ms, want[1] * ms})
				assert.Equal(t, s.Scheduled, i == 0 && loop.Arrivals != nil)
			}
			said := map[string][]Message{} // conversations by their last message
			for _, c := range listener.conversations {
				said[c[len(c)-1].Content] = c
			}
			system := Message{Role: "system", Content: "sub-agent"}
			assert.DeepEqual(t, said["go on"], []Message{system, {Role: "user", Content: "search"}, {Role: "assistant", Content: " the"}, {Role: "user", Content: "go on"}})
			assert.DeepEqual(t, said["test"], []Message{system, {Role: "user", Content: "test"}})
			assert.DeepEqual(t, said["tested"], []Message{{Role: "user", Content: "begin"}, {Role: "assistant", Content: "I ask two agents"}, {Role: "user", Content: "found"}, {Role: "user", Content: "tested"}})
		})
	}
}

// TestGraphFails checks that a session ends with the turn that fails: requests in flight go on, no other is sent, and pauses end.
func TestGraphFails(t *testing.T) {
	cfg := mockserver.Config{TTFT: 100 * ms, PerToken: 10 * ms, Faults: []fault.Fault{{Kind: fault.Truncate, Every: 2, At: 1}}}
	bubble(t, cfg, Load{Requests: []Request{agent()}, Concurrency: 1}, func(samples []sample.Sample, _ *mockserver.Server) {
		for i, want := range []sample.Outcome{sample.OK, sample.Empty, sample.Canceled, sample.Canceled, sample.OK, sample.Canceled} {
			assert.Equal(t, samples[i].Outcome, want, "turn %d", i)
		}
		failed := samples[1].End
		assert.Equal(t, samples[2].End, failed) // not at the end of its pause
		assert.Equal(t, samples[4].End, 310*ms)
		assert.ErrorContains(t, samples[2].Err, "turn 1 of its session: empty")
		assert.ErrorContains(t, samples[5].Err, "turn 1 of its session: empty")
	})
}

// drawn returns a session of n turns, each of which waits for up to three turns before it.
func drawn(n int, random *rand.Rand) Request {
	r := Request{Prompt: "begin", MaxTokens: 1 + random.IntN(5), FixedOutput: true}
	for i := 1; i < n; i++ {
		if random.IntN(8) == 0 {
			r.Then = append(r.Then, Turn{Prompt: "root", MaxTokens: 3, FixedOutput: true, Whole: true, After: []int{}, Think: time.Duration(random.IntN(300)) * ms})
			continue
		}
		t := Turn{Prompt: fmt.Sprint("turn ", i), MaxTokens: 1 + random.IntN(20), FixedOutput: true, Think: time.Duration(random.IntN(3)*random.IntN(200)) * ms, Whole: random.IntN(3) == 0}
		t.After = random.Perm(i)[:1+random.IntN(min(i, 3))]
		r.Then = append(r.Then, t)
	}
	return r
}

// TestDrawnGraphs sends sessions of any form. Each turn must begin exactly its pause after the last of the turns that it waits for, and no more
// turns may be in flight than the session is wide.
func TestDrawnGraphs(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		l := Load{Concurrency: 3}
		for range 6 {
			l.Requests = append(l.Requests, drawn(1+random.IntN(25), random))
		}
		bubble(t, mockserver.Config{TTFT: 100 * ms, PerToken: 10 * ms}, l, func(samples []sample.Sample, _ *mockserver.Server) {
			sessions := make([][]sample.Sample, len(l.Requests))
			for _, s := range samples {
				assert.Equal(t, s.Outcome, sample.OK, "%v", s.Err)
				sessions[s.Request] = append(sessions[s.Request], s)
			}
			for k, turns := range sessions {
				assert.Equal(t, len(turns), 1+len(l.Requests[k].Then))
				for i, turn := range l.Requests[k].Then {
					ready := turns[0].Start // for a turn that begins with the session
					if len(turn.After) > 0 {
						ready = 0
					}
					for _, before := range turn.After {
						ready = max(ready, turns[before].End)
					}
					assert.Equal(t, turns[i+1].Start, ready+turn.Think, "seed %d, session %d, turn %d", seed, k, i+1)
				}
				for _, s := range turns {
					at := 0
					for _, other := range turns {
						if other.Start <= s.Start && s.Start < other.End {
							at++
						}
					}
					assert.Assert(t, at <= l.Requests[k].width(), "%d turns in flight", at)
				}
			}
		})
	}
}

// TestWidth checks the width of sessions.
func TestWidth(t *testing.T) {
	for _, tt := range []struct {
		after [][]int
		want  int
	}{
		{nil, 1},
		{[][]int{nil, nil, nil}, 1},
		{[][]int{{0}, {0}, {1, 2}, {3}, {3}, {4, 5}}, 2}, // branches and joins twice
		{[][]int{{0}, {0}, {0}, {1}, {1}, {1}}, 5},       // two branches, and three that follow the first one
		{[][]int{{0}, {0}, {1}, {3}, {3}}, 3},            // one in the background
		{[][]int{{}, {0, 1}, {}}, 3},                     // three that begin with the session
	} {
		r := Request{Then: make([]Turn, len(tt.after))}
		for i, after := range tt.after {
			r.Then[i].After = after
		}
		assert.Equal(t, r.width(), tt.want, "%v", tt.after)
	}
}

func TestGraphErrors(t *testing.T) {
	for _, tt := range []struct {
		turn Turn
		want string
	}{
		{Turn{After: []int{}}, "request 0: turn 1: it waits for no turn: want Whole, or nil for the turn before"},
		{Turn{After: []int{1}}, "request 0: turn 1: it waits for turn 1: want a turn from 0 to 0"},
		{Turn{After: []int{-1}}, "request 0: turn 1: it waits for turn -1: want a turn from 0 to 0"},
		{Turn{After: []int{0, 0}}, "request 0: turn 1: it waits for turn 0 twice: want it once"},
		{Turn{Prompt: "a", Messages: []Message{{Role: "user", Content: "b"}}}, "request 0: turn 1: both Prompt and Messages are set: want only one"},
	} {
		tt.turn.MaxTokens = 1
		r := Request{Prompt: "one", MaxTokens: 1, Then: []Turn{tt.turn}}
		_, err := newPlan(&Load{Concurrency: 1}, Target{URL: "http://mem"}, []Request{r})
		assert.Error(t, err, tt.want)
	}
}

// TestGraphDigest checks that processes notice if their sessions differ.
func TestGraphDigest(t *testing.T) {
	var all []string
	for _, change := range []func(*Request){
		func(*Request) {},
		func(r *Request) { r.Reply += "!" },
		func(r *Request) { r.Then[0].Reply = "none" },
		func(r *Request) { r.Then[4].After = []int{0, 4, 3} },
		func(r *Request) { r.Then[1].Whole = false },
		func(r *Request) { r.Then[1].Messages = r.Then[1].Messages[1:] },
	} {
		r := agent()
		change(&r)
		pl, err := newPlan(&Load{Concurrency: 1, digest: true}, Target{URL: "http://mem"}, []Request{r})
		assert.NilError(t, err)
		assert.Assert(t, !slices.Contains(all, pl.digest))
		all = append(all, pl.digest)
	}
}
