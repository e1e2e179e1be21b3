package llmbench

import (
	"fmt"
	"iter"
	"math"
	"net/http/httptest"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
)

// ramp returns numbers of users.
func ramp(text string) arrivals.Users {
	u, err := arrivals.ParseUsers(text)
	if err != nil {
		panic(err)
	}
	return u
}

// checkLog fails t unless the samples are the first requests of the sequence, each of them once, and are what the server has
// in its log.
func checkLog(t *testing.T, samples []sample.Sample, log []mockserver.Entry) {
	t.Helper()
	byID := map[string]mockserver.Entry{}
	for _, e := range log {
		byID[e.ID] = e
	}
	assert.Equal(t, len(byID), len(log), "the server has answered a request twice")
	assert.Equal(t, len(samples), len(log))
	for i, s := range samples {
		e, known := byID[s.ID]
		assert.Assert(t, known && s.Request == i && s.Outcome == sample.OK, "sample %d: %+v", i, s)
		assert.Equal(t, s.OutputTokens, len(e.Tokens))
		assert.Equal(t, s.Start, e.Accepted-log[0].Accepted)
	}
}

// within counts what the server did from from until before to, after its first request: the tokens that it sent, and the
// requests that came.
func within(log []mockserver.Entry, from, to time.Duration) (tokens, requests int) {
	start := log[0].Accepted
	for _, e := range log {
		if at := e.Accepted - start; at >= from && at < to {
			requests++
		}
		for _, at := range e.Tokens {
			if at -= start; at >= from && at < to {
				tokens++
			}
		}
	}
	return tokens, requests
}

// TestUsers compares a closed loop whose users come and leave with the server's log: no request is lost or counted twice,
// the requests in flight are never more than the users of the time, but for the requests of users who have left, and the figures of
// each stage are what the log shows.
func TestUsers(t *testing.T) {
	const users = "1..9:8.0003s,9:10s,9..2:7s,2:5s,6:4s" // no token comes at the end of a stage
	for _, warmup := range []time.Duration{0, 3 * time.Second} {
		l := endless(10, func(i int) int { return 20 + i*37%100 })
		l.Users, l.WarmupFor = ramp(users), warmup
		bubble(t, mockserver.Config{TTFT: 200 * ms, PerToken: 10 * ms, Slots: 6}, l, func(samples []sample.Sample, srv *mockserver.Server) {
			log := srv.Log()
			checkLog(t, samples, log)
			l, err := l.check()
			assert.NilError(t, err)
			checkUsers(t, &l, samples)
			s := sample.Summarize(sample.All(samples...), sample.Elapsed(sample.All(samples...)), sample.SLO{})
			tokens, requests := within(log, warmup, warmup+l.Duration)
			assert.Equal(t, s.Requests, requests)
			assert.Equal(t, s.Elapsed, l.Duration)
			assert.Assert(t, math.Abs(s.Metrics["output-tok/s"]*l.Duration.Seconds()-float64(tokens)) < 1e-6)
			l, err = l.withGroups("mock")
			assert.NilError(t, err)
			figures := l.Figures(sample.All(samples...))
			begin := warmup
			for i, g := range l.Users {
				unit := func(name string) float64 { return figures[fmt.Sprintf("stage%d-%s", i+1, name)] }
				tokens, _ := within(log, begin, begin+g.For)
				assert.Assert(t, math.Abs(unit("output-tok/s")*g.For.Seconds()-float64(tokens)) < 1e-6, "stage %d: %v and %d tokens", i+1, unit("output-tok/s")*g.For.Seconds(), tokens)
				var ttft []time.Duration
				for _, s := range samples {
					if d, _ := s.TTFT(); s.Start >= begin && s.Start < begin+g.For {
						ttft = append(ttft, d)
					}
				}
				slices.Sort(ttft)
				assert.Equal(t, unit("p50-ttft-ns"), sample.Quantile(ttft, 0.5))
				begin += g.For
			}
			_, more := figures["stage6-output-tok/s"]
			assert.Assert(t, !more)
		})
	}
}

// checkUsers checks at each send that the user was there, and that each user who is there has a request in flight.
func checkUsers(t *testing.T, l *Load, samples []sample.Sample) {
	t.Helper()
	there := func(at time.Duration) (n int) {
		for k := range l.Concurrency {
			for _, s := range l.stays(k) {
				if at >= s.From && at < s.To {
					n++
				}
			}
		}
		return n
	}
	for _, s := range samples {
		inFlight := 0
		for _, o := range samples {
			if o.Start <= s.Start && o.End > s.Start {
				inFlight++
			}
		}
		left := inFlight - there(s.Start) // requests of users who have left
		assert.Assert(t, left >= 0, "%d requests in flight at %v, with %d users", inFlight, s.Start, there(s.Start))
		for k := range l.Concurrency {
			for _, stay := range l.stays(k) {
				if stay.To <= s.Start && s.Start-stay.To < 10*time.Second { // longer than any request
					left--
				}
			}
		}
		assert.Assert(t, left <= 0, "%d requests in flight at %v, with %d users", inFlight, s.Start, there(s.Start))
	}
}

// TestHandover compares a closed loop that is measured after a warm-up with the server's log: the users do not pause,
// no request is lost or counted twice, the requests of the warm-up count in no latency, and the rates are what the server sent in
// the measured time.
func TestHandover(t *testing.T) {
	const users, warmup, duration = 8, 5 * time.Second, 20 * time.Second
	for _, stream := range []bool{true, false} {
		l := endless(10, func(i int) int { return 20 + i*37%100 })
		l.Concurrency, l.WarmupFor, l.Duration, l.NoStream = users, warmup, duration, !stream
		bubble(t, mockserver.Config{TTFT: 200 * ms, PerToken: 10 * ms, Slots: 6}, l, func(samples []sample.Sample, srv *mockserver.Server) {
			log := srv.Log()
			checkLog(t, samples, log)
			s := sample.Summarize(sample.All(samples...), sample.Elapsed(sample.All(samples...)), sample.SLO{E2E: time.Hour})
			tokens, requests := within(log, warmup, warmup+duration)
			assert.Equal(t, s.Elapsed, duration)
			assert.Equal(t, s.Requests, requests)
			inFlight := 0
			var ttft []time.Duration
			for i := range samples {
				r := &samples[i]
				if r.Start < warmup && r.End > warmup {
					inFlight++
				}
				assert.Equal(t, r.IsWarmup(), r.Start < warmup)
				if d, has := r.TTFT(); has && !r.IsWarmup() {
					ttft = append(ttft, d)
				}
			}
			assert.Equal(t, inFlight, users)
			assert.Equal(t, s.Metrics["good-req/s"], s.Metrics["req/s"])
			if !stream {
				assert.Assert(t, math.Abs(s.Metrics["output-tok/s"]*duration.Seconds()/float64(tokens)-1) < 0.02, "%v", s.Metrics)
				return
			}
			slices.Sort(ttft)
			assert.Equal(t, s.Metrics["p50-ttft-ns"], sample.Quantile(ttft, 0.5))
			assert.Assert(t, math.Abs(s.Metrics["output-tok/s"]*duration.Seconds()-float64(tokens)) < 1e-6, "%v and %d tokens", s.Metrics, tokens)
			assert.Equal(t, len(ttft), requests)
		})
	}
}

// TestWarmupBeforeStages checks that the requests of a warm-up before the first pass are all sent, by all users, however long they take
// and whenever the users of the pass come and leave.
func TestWarmupBeforeStages(t *testing.T) {
	for _, l := range []Load{{Concurrency: 2, Duration: time.Second}, {Users: ramp("1..2:1s")}, {Users: ramp("0:1h,2:1s,1:1s")}, {Concurrency: 2, WarmupFor: ms, Duration: ms}} {
		synctest.Test(t, func(t *testing.T) {
			srv, err := mockserver.New(mockserver.Config{TTFT: time.Second})
			assert.NilError(t, err)
			target, stop := inMemory(t, srv)
			defer stop()
			l.Requests = words(2, 1)
			c, l, _, err := prepared(target, l)
			assert.NilError(t, err)
			defer c.Close()
			pl, err := newPlan(l, target, words(8, 1))
			assert.NilError(t, err)
			samples, err := sendPass(t.Context(), c, l, pl)
			assert.NilError(t, err)
			assert.Equal(t, len(samples), 8)
			for _, s := range samples {
				assert.Assert(t, s.Outcome == sample.OK && s.End < 4*time.Second+10*ms && !s.IsWarmup(), "%+v", s)
			}
		})
	}
}

// TestFiguresOfHandover checks that the load's own figures get no requests of the warm-up.
func TestFiguresOfHandover(t *testing.T) {
	count := func(samples iter.Seq[*sample.Sample]) map[string]float64 {
		n := 0.0
		for range samples {
			n++
		}
		return map[string]float64{"n": n}
	}
	l, err := Load{Concurrency: 1, Duration: time.Second, WarmupFor: 5, Figures: count}.withGroups("m")
	assert.NilError(t, err)
	assert.Equal(t, l.Figures(sample.All(sample.Sample{Due: 4, From: 5}, sample.Sample{Due: 5, From: 5}, sample.Sample{Due: 6, From: 5}))["n"], 2.0)
}

// TestStagesReadTogether checks that the samples, which may be on a disk, are not read anew for each stage.
func TestStagesReadTogether(t *testing.T) {
	reads := func(users string) (n int) {
		l, err := Load{Users: ramp(users), Models: []string{"a", "b"}}.withGroups("a")
		assert.NilError(t, err)
		l.Figures(func(yield func(*sample.Sample) bool) {
			n++
			for i := range 100 {
				at := time.Duration(i) * 50 * ms
				if !yield(&sample.Sample{Due: at, Start: at, End: at + ms, Outcome: sample.OK}) {
					return
				}
			}
		})
		return n
	}
	assert.Equal(t, reads("1:1s,2:1s,1:1s,2:1s,1:1s"), reads("1:3s,2:2s"))
}

// TestStagesOfArrivals checks the figures of each stage of an open loop.
func TestStagesOfArrivals(t *testing.T) {
	a := arrivals.Stages{Stages: []arrivals.Stage{{For: 3001 * ms, Rate: 2}, {For: 3001 * ms, Rate: 6}}, Shape: math.Inf(1)}
	n, err := a.Requests()
	assert.NilError(t, err)
	l := Load{Requests: words(n, 41), Arrivals: a}
	bubble(t, mockserver.Config{TTFT: 100 * ms, PerToken: 10 * ms}, l, func(samples []sample.Sample, srv *mockserver.Server) {
		l, err := l.withGroups("mock")
		assert.NilError(t, err)
		figures := l.Figures(sample.All(samples...))
		last := time.Duration(0)
		for _, s := range samples {
			last = max(last, s.End)
		}
		for i, name := range []string{"stage1", "stage2"} {
			begin := time.Duration(i) * 3001 * ms
			end := min(last, begin+3001*ms) // the last answer ends before the time is over
			tokens, _ := within(srv.Log(), begin, end+1)
			assert.Assert(t, math.Abs(figures[name+"-output-tok/s"]*(end-begin).Seconds()-float64(tokens)) < 1e-6, "%v and %d tokens", figures, tokens)
			assert.Equal(t, figures[name+"-p50-ttft-ns"], 100e6)
		}
	})
}

// TestTailAfterHandover compares the p99 TTFT of 64 users on a server with 48 places with the one of a long load, in which the
// server is in its usual state: the tail of passes of a minute that are measured from the beginning, in which 16 users first wait
// for whole answers, and the tail of passes that are measured after a warm-up.
func TestTailAfterHandover(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes half a minute")
	}
	const users, prompt, passes = 64, 512, 3
	profile := engine.Profile{Step: 80_000, StepPerSeq: 200, Prefill: 5_000, PrefillPerToken: 60, PrefillTokens: 2048, PrefillSeqs: 4, MaxBatch: 48}
	length := func(i int) int { return 8 + int(uint32(i)*2654435761>>16)%16 }
	truth := engineTail(t, profile, users, prompt, length)
	tail := func(warmup time.Duration) float64 {
		var all []sample.Sample
		for pass := range passes {
			synctest.Test(t, func(t *testing.T) {
				srv, err := mockserver.New(mockserver.Config{Engine: &profile})
				assert.NilError(t, err)
				target, stop := inMemory(t, srv)
				defer stop()
				l := endless(256, func(i int) int { return length(i + 100_003*pass) })
				l.Concurrency, l.WarmupFor, l.Duration = users, warmup, time.Minute
				long(&l, prompt)
				samples := onePass(t, target, l)
				checkLog(t, samples, srv.Log())
				assert.Equal(t, samples[0].PromptTokens, prompt)
				for i := range samples {
					samples[i].Pass = pass
				}
				all = append(all, samples...)
			})
		}
		return sample.Summarize(sample.All(all...), sample.Elapsed(sample.All(all...)), sample.SLO{}).Metrics["p99-ttft-ns"]
	}
	cold, warm := tail(0), tail(10*time.Second)
	t.Logf("p99 TTFT: %v in a long load, %v from the start (%+.1f %%), %v after a warm-up of 10 s (%+.1f %%)",
		time.Duration(truth), time.Duration(cold), 100*(cold/truth-1), time.Duration(warm), 100*(warm/truth-1))
	assert.Assert(t, cold > 1.5*truth)
	assert.Assert(t, math.Abs(warm/truth-1) < 0.03)
}

// engineTail returns the p99 TTFT of a closed loop of five hours at the engine of a mock server, without its first minute.
func engineTail(t *testing.T, p engine.Profile, users, prompt int, length func(i int) int) float64 {
	t.Helper()
	var ttft []time.Duration
	ended := 0
	e, err := engine.New(p, engine.Watcher{Ended: func(s *engine.Sequence, _ time.Duration) {
		if ended++; s.Arrived > time.Minute {
			ttft = append(ttft, s.First-s.Arrived)
		}
	}})
	assert.NilError(t, err)
	sent := 0
	for now, busy := time.Duration(0), true; busy && now < 5*time.Hour; now, busy = e.NextChange() {
		e.Advance(now)
		for ; sent < ended+users; sent++ {
			_, err := e.Submit(now, engine.Job{Prompt: prompt, Output: length(sent)})
			assert.NilError(t, err)
		}
	}
	slices.Sort(ttft)
	return sample.Quantile(ttft, 0.99)
}

// long makes the prompts of l have words words.
func long(l *Load, words int) {
	change := func(all []Request) []Request {
		for i := range all {
			for range words - 4 { // endless prompts have four
				all[i].Prompt += " a"
			}
		}
		return all
	}
	more := l.More
	l.Requests = change(l.Requests)
	l.More = func(pass, part int) ([]Request, error) { all, err := more(pass, part); return change(all), err }
}

// TestUsersOfClosedConnections checks that the TTFT of a user who comes late has no time of opening a connection, on a
// server that closes idle connections.
func TestUsersOfClosedConnections(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	mock, err := mockserver.New(mockserver.Config{TTFT: 20 * ms, PerToken: 2 * ms})
	assert.NilError(t, err)
	server := httptest.NewUnstartedServer(mock)
	server.Config.ReadHeaderTimeout = 2 * time.Second // until the first request, too
	server.Start()
	defer server.Close()
	l := endless(4, func(int) int { return 20 })
	l.Users = ramp("1:4s,4:1s")
	samples := onePass(t, Target{URL: server.URL, Model: "mock"}, l)
	late := 0
	for _, s := range samples {
		if s.Start < 4*time.Second {
			continue
		}
		late++
		assert.Equal(t, s.Connect, time.Duration(0), "the request at %v opened a connection", s.Start)
	}
	assert.Assert(t, late > 0, "no request of users who came late")
}
