package llmbench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// endless returns a load of requests with prompts that name their number, in parts of n.
func endless(n int, out func(i int) int) Load {
	part := func(k int) []Request {
		all := make([]Request, n)
		for i := range all {
			number := k*n + i
			all[i] = Request{Prompt: fmt.Sprintf("request %d of many", number), MaxTokens: out(number), FixedOutput: true}
		}
		return all
	}
	return Load{Requests: part(0), More: func(_, k int) ([]Request, error) { return part(k), nil }}
}

// TestDuration compares a closed loop for a time with the server's log: the requests are the first ones of the sequence,
// none is sent after the time, each of them has one sample, and the rates are what the server sent within the time.
func TestDuration(t *testing.T) {
	const users, duration = 8, 20 * time.Second
	cfg := mockserver.Config{TTFT: 200 * ms, PerToken: 10 * ms, Slots: 6}
	for _, stream := range []bool{true, false} {
		l := endless(10, func(i int) int { return 20 + i*37%100 })
		l.Concurrency, l.Duration, l.NoStream = users, duration, !stream
		bubble(t, cfg, l, func(samples []sample.Sample, srv *mockserver.Server) {
			log := srv.Log()
			assert.Equal(t, len(samples), len(log))
			start := log[0].Accepted
			inTime, after := 0, 0
			for _, e := range log {
				assert.Assert(t, e.Accepted-start < duration, "%+v", e)
				for _, at := range e.Tokens {
					if at-start < duration {
						inTime++
					} else {
						after++
					}
				}
			}
			for i, s := range samples {
				assert.Equal(t, s.Request, i)
				assert.Equal(t, s.Outcome, sample.OK)
				assert.Equal(t, s.OutputTokens, 20+i*37%100)
				assert.Assert(t, s.Start < duration && s.Until == duration, "%+v", s)
			}
			elapsed := sample.Elapsed(sample.All(samples...))
			assert.Equal(t, elapsed, duration)
			f := sample.Summarize(sample.All(samples...), elapsed, sample.SLO{E2E: time.Hour})
			assert.Equal(t, f.Outcomes[sample.OK], len(log))
			assert.Assert(t, after > 100, "%d tokens after the time", after)
			want, most := float64(inTime)/duration.Seconds(), 1e-9
			if !stream { // nothing shows when the tokens of such an answer were made: what the slots can do is all that is known
				busy := time.Duration(0)
				for _, e := range log {
					busy += e.End - e.Admitted
				}
				want, most = float64(cfg.Slots)*float64(inTime+after)/busy.Seconds(), 0.01
			}
			got := f.Metrics["output-tok/s"]
			assert.Assert(t, math.Abs(got/want-1) < most, "%v tokens per second: want %v", got, want)
			// All tokens in the time until the last response would be too few per second, and in the time alone too many.
			last := time.Duration(0)
			for _, s := range samples {
				last = max(last, s.End)
			}
			assert.Assert(t, float64(inTime+after)/last.Seconds() < 0.99*want && float64(inTime+after)/duration.Seconds() > 1.01*want)
			assert.Assert(t, math.Abs(f.Metrics["req/s"]*f.Metrics["out-tok/req"]/want-1) < 0.02, "%v", f.Metrics)
			assert.Equal(t, f.Metrics["good-req/s"], f.Metrics["req/s"])
		})
	}
}

// TestDurationOfSessions checks that a session that has begun is sent to its end, whose turns then count for latencies
// only.
func TestDurationOfSessions(t *testing.T) {
	l := endless(5, func(int) int { return 11 })
	more := l.More
	sessions := func(all []Request) []Request {
		for i := range all {
			all[i].Then = []Turn{{Prompt: "and", MaxTokens: 11, FixedOutput: true, Think: time.Second}, {Prompt: "then", MaxTokens: 11, FixedOutput: true}}
		}
		return all
	}
	l.Requests = sessions(l.Requests)
	l.More = func(pass, part int) ([]Request, error) { all, err := more(pass, part); return sessions(all), err }
	l.Concurrency, l.Duration = 3, 10*time.Second
	bubble(t, mockserver.Config{TTFT: 100 * ms, PerToken: 10 * ms}, l, func(samples []sample.Sample, srv *mockserver.Server) {
		assert.Equal(t, len(samples), len(srv.Log()))
		turns, late := map[int]int{}, 0
		for _, s := range samples {
			assert.Equal(t, s.Outcome, sample.OK)
			turns[s.Request]++
			if s.Start >= l.Duration {
				late++
				assert.Equal(t, s.Within(), 0.0)
			}
		}
		for i := range len(turns) {
			assert.Equal(t, turns[i], 3)
		}
		assert.Assert(t, late > 0)
	})
}

// TestDurationEnds checks how a loop for a time ends sooner: by the end of the requests, by a context, by an error of
// More, and by requests that all fail.
func TestDurationEnds(t *testing.T) {
	dead := func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", http.StatusInternalServerError) }
	full := func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(time.Second / 2)
		http.Error(w, "no", http.StatusTooManyRequests)
	}
	srv := func() http.Handler {
		s, err := mockserver.New(mockserver.Config{TTFT: 100 * ms, PerToken: 10 * ms})
		assert.NilError(t, err)
		return s
	}
	parts := func(n int) func(int, int) ([]Request, error) {
		l := endless(10, func(int) int { return 11 })
		return func(pass, part int) ([]Request, error) {
			if part >= n {
				return nil, nil
			}
			return l.More(pass, part)
		}
	}
	for _, c := range []struct {
		name     string
		more     func(pass, part int) ([]Request, error)
		server   http.Handler
		maxFail  float64
		maxShed  float64
		after    time.Duration // when the context ends
		min, max int           // number of samples
		err      string
	}{
		{name: "no more", server: srv(), min: 10, max: 10},
		{name: "two parts", more: parts(2), server: srv(), min: 20, max: 20},
		{name: "endless", more: parts(math.MaxInt), server: srv(), min: 600, max: 600},
		{name: "interrupted", more: parts(math.MaxInt), server: srv(), after: time.Second, min: 10, max: 12},
		{name: "error", more: func(_, part int) ([]Request, error) { return nil, errors.New("the file is gone") }, server: srv(), max: 10, err: "part 1 of the requests: the file is gone"},
		{name: "invalid", more: func(_, part int) ([]Request, error) { return []Request{{}}, nil }, server: srv(), max: 10, err: "request 10: "},
		{name: "dead", more: parts(math.MaxInt), server: http.HandlerFunc(dead), min: 100, max: 102},
		{name: "half may fail", more: parts(math.MaxInt), server: http.HandlerFunc(dead), maxFail: 0.5, min: 100, max: 102},
		{name: "full", more: parts(math.MaxInt), server: http.HandlerFunc(full), min: 100, max: 102},
		{name: "half may be shed", more: parts(math.MaxInt), server: http.HandlerFunc(full), maxShed: 0.5, min: 100, max: 102},
		{name: "all may be shed", more: parts(math.MaxInt), server: http.HandlerFunc(full), maxShed: 1, min: 240, max: 240},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				target, stop := inMemory(t, c.server)
				defer stop()
				l := endless(10, func(int) int { return 11 })
				l.More, l.Concurrency, l.Duration, l.MaxFail, l.MaxShed = c.more, 2, time.Minute, c.maxFail, c.maxShed
				ctx := t.Context()
				if c.after > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.after)
					defer cancel()
				}
				samples, err := tryPass(t, ctx, target, l)
				if c.err == "" {
					assert.NilError(t, err)
				} else {
					assert.ErrorContains(t, err, c.err)
				}
				assert.Assert(t, len(samples) >= c.min && len(samples) <= c.max, "%d samples", len(samples))
				for i, s := range samples {
					assert.Equal(t, s.Request, i)
				}
			})
		})
	}
}

// TestParts checks that requests are drawn only when they are needed, and are forgotten when they were sent.
func TestParts(t *testing.T) {
	l := endless(10, func(int) int { return 1 })
	l.Concurrency, l.Duration = 2, time.Second
	drawn := 0
	pl, err := timedPlan(&l, Target{URL: "http://server"}, l.Requests, func(part int) ([]Request, error) {
		drawn++
		assert.Equal(t, part, drawn)
		return l.More(0, part)
	})
	assert.NilError(t, err)
	assert.Equal(t, drawn, 0)
	assert.NilError(t, pl.reserve(35))
	assert.Equal(t, pl.requests, 40)
	for i := range 40 {
		assert.Assert(t, strings.Contains(string(pl.build(i).Body), fmt.Sprintf("request %d of many", i)))
	}
	kept := 0
	for _, part := range pl.parts.kept {
		if part != nil {
			kept++
		}
	}
	assert.Equal(t, kept, 2) // part 0, of which requests may be sent again, and the last one
	assert.Equal(t, pl.sent(7), 7)
	assert.Equal(t, pl.sent(25), 10)
}

// TestLeaveForTime checks the share of clients that leave if the number of requests is unknown, and that each number of
// requests gives the same clients.
func TestLeaveForTime(t *testing.T) {
	c := Cancel{Share: 0.3, Deltas: 10, Seed: 5}
	two := Request{Then: make([]Turn, 1)}
	left := 0
	for i := range 10000 {
		leave := c.leave(i, two)
		assert.Equal(t, leave, c.leave(i, two))
		if leave.Deltas > 0 {
			left++
			assert.Assert(t, leave.Deltas <= 10 && leave.Turn < 2)
		}
	}
	assert.Assert(t, left > 2900 && left < 3100, "%d", left)
}

// TestDurationCheck checks that an invalid load for a time is an error.
func TestDurationCheck(t *testing.T) {
	more := endless(1, func(int) int { return 1 }).More
	for _, c := range []struct {
		load Load
		err  string
	}{
		{Load{Concurrency: 1, Duration: -1}, "load: duration -1ns: want 0 or more, and Concurrency: the arrivals of an open loop say how long it is"},
		{Load{Arrivals: nil, Duration: time.Second}, "load: neither Concurrency nor Users nor Arrivals is set: want one"},
		{Load{Concurrency: 1, More: more}, "load: More without a Duration: want both"},
		{Load{Concurrency: 1, Duration: time.Minute, PassTimeout: time.Minute}, "load: pass timeout 1m0s, duration 1m0s: want a longer pass timeout"},
		{Load{Concurrency: 1, Duration: time.Minute, WarmupFor: time.Second, PassTimeout: time.Minute}, "load: pass timeout 1m0s, duration 1m1s: want a longer pass timeout"},
		{Load{Concurrency: 1, WarmupFor: time.Second}, "load: a warm-up of 1s: want 0 or more, and a Duration or Users"},
		{Load{Concurrency: 1, Duration: time.Minute, WarmupFor: -1}, "load: a warm-up of -1ns: want 0 or more, and a Duration or Users"},
		{Load{Arrivals: arrivals.Constant{Rate: 1}, WarmupFor: time.Second}, "load: a warm-up of 1s: want 0 or more, and a Duration or Users"},
		{Load{Users: ramp("0..4:1s"), WarmupFor: time.Second}, "load: a warm-up of 1s before users 0..4:1s: want a first stage that begins with a user"},
		{Load{Users: arrivals.Users{{Rate: 1}}}, "load: users 1:0s: stage 1: for 0s: want above 0"},
		{Load{Users: ramp("2:1s"), Concurrency: 3}, "load: users 2:1s, concurrency 3, duration 0s: want only users, who are at most 2 for 1s"},
		{Load{Users: ramp("1..2:1s"), Duration: time.Minute}, "load: users 1..2:1s, concurrency 0, duration 1m0s: want only users, who are at most 2 for 1s"},
		{Load{Users: ramp("1..2:1s"), Arrivals: arrivals.Constant{Rate: 1}}, "load: Arrivals are set, and so is Concurrency or Users: want only one of them"},
		{Load{Users: ramp("1..2:1s")}, "load: 1 requests at concurrency 2: want at least as many"},
	} {
		c.load.Requests = words(1, 1)
		_, err := c.load.check()
		assert.Error(t, err, c.err)
	}
	var served atomic.Int64
	_, err := Pass(t.Context(), "", Target{URL: "http://server", Dial: nil}, Load{Requests: words(1, 1), Concurrency: 1, Duration: time.Second, More: more})
	assert.Error(t, err, "load: Fresh or More for a single pass: want Requests")
	assert.Equal(t, served.Load(), int64(0))
}
