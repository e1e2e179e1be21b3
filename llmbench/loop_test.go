package llmbench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
	"github.com/seed-2b9cec6d/llmbench/mockserver/testkit/memnet"
)

// bubble makes a pass against a simulated server, in a synctest bubble with a fake clock, and calls check
// with the samples.
func bubble(t *testing.T, cfg mockserver.Config, l Load, check func(samples []sample.Sample, srv *mockserver.Server)) {
	t.Helper()
	bubbleIn(t, nil, cfg, l, check)
}

// bubbleIn is like bubble, in the given dialect. Both versions of HTTP must give the same results.
func bubbleIn(t *testing.T, d dialect.Dialect, cfg mockserver.Config, l Load, check func(samples []sample.Sample, srv *mockserver.Server)) {
	t.Helper()
	for _, version := range []string{"1.1", "2"} {
		synctest.Test(t, func(t *testing.T) {
			srv, err := mockserver.New(cfg)
			assert.NilError(t, err)
			target, stop := inMemory(t, srv)
			defer stop()
			target.Dialect, target.HTTP = d, version
			defer func() {
				if t.Failed() {
					t.Log("HTTP/" + version)
				}
			}()
			check(onePass(t, target, l), srv)
		})
	}
}

// TestClosedLoopIsExact compares every metric of a closed loop with calculated values: 64 requests at
// concurrency 8 on a server with 4 slots.
func TestClosedLoopIsExact(t *testing.T) {
	const (
		ttft, perToken = 200 * ms, 10 * ms
		tokens         = 20
		service        = ttft + (tokens-1)*perToken // 390 ms
	)
	cfg := mockserver.Config{TTFT: ttft, PerToken: perToken, Slots: 4}
	for _, stream := range []bool{true, false} {
		t.Run(fmt.Sprintf("stream=%t", stream), func(t *testing.T) {
			bubble(t, cfg, Load{Requests: words(64, tokens), Concurrency: 8, Stagger: -1, NoStream: !stream}, func(samples []sample.Sample, _ *mockserver.Server) {
				total := sample.Elapsed(sample.All(samples...))
				assert.Equal(t, total, 64/4*service)
				s := sample.Summarize(sample.All(samples...), total, sample.SLO{})
				assert.Equal(t, s.Outcomes[sample.OK], 64)
				assert.Equal(t, s.Metrics["output-tok/s"], 64*tokens/total.Seconds())
				assert.Equal(t, s.Metrics["in-tok/req"], 4.0)
				assert.Equal(t, s.Metrics["out-tok/req"], float64(tokens))
				assert.Equal(t, s.Metrics["req/s"], 64/total.Seconds())
				if !stream {
					_, has := s.Metrics["p50-ttft-ns"]
					assert.Assert(t, !has, "an answer that was not streamed has a TTFT")
					assert.Equal(t, s.Metrics["p50-e2e-ns"], float64(2*service)) // wait for a slot, then be served
					return
				}
				// The first four requests find a free slot. Each later one waits while the request before
				// it is served.
				ttfts := map[time.Duration]int{}
				for i := range samples {
					d, _ := samples[i].TTFT()
					ttfts[d]++
				}
				assert.DeepEqual(t, ttfts, map[time.Duration]int{ttft: 4, ttft + service: 60})
				assert.Equal(t, s.Metrics["p50-ttft-ns"], float64(ttft+service))
				assert.Equal(t, s.Metrics["mean-tpot-ns"], float64(perToken))
				assert.Equal(t, s.Metrics["p99-itl-ns"], float64(perToken))
			})
		})
	}
}

// TestOpenLoopIsExact checks that an open loop keeps its schedule whatever the server does, and that a
// latency counts from the instant at which the request was due.
func TestOpenLoopIsExact(t *testing.T) {
	// With one slot, 100 ms of service and a request every 50 ms, the i-th request waits for i*50 ms.
	cfg := mockserver.Config{TTFT: 100 * ms, Slots: 1}
	bubble(t, cfg, Load{Requests: words(10, 1), Arrivals: arrivals.Constant{Rate: 20}}, func(samples []sample.Sample, srv *mockserver.Server) {
		for i, s := range samples {
			assert.Equal(t, s.Outcome, sample.OK)
			assert.Equal(t, s.Due, time.Duration(i)*50*ms)
			assert.Equal(t, s.Start, s.Due, "request %d was sent late", i)
			got, _ := s.TTFT()
			assert.Equal(t, got, 100*ms+time.Duration(i)*50*ms, "TTFT of request %d", i)
		}
		assert.Equal(t, sample.Elapsed(sample.All(samples...)), 1000*ms)
		for _, e := range srv.Log() {
			assert.Equal(t, e.OutputTokens, 1)
		}
	})
}

// TestLatencyCountsFromDue checks the latencies of a request that the client sent late.
func TestLatencyCountsFromDue(t *testing.T) {
	s := sample.Sample{Due: 10 * ms, Start: 15 * ms, Scheduled: true, Streamed: true, Deltas: 2,
		First: 115 * ms, Last: 135 * ms, Gaps: []time.Duration{20 * ms}, End: 136 * ms, OutputTokens: 2, TokenSource: sample.FromUsage, Outcome: sample.OK}
	got := sample.Summarize(sample.All(s), time.Second, sample.SLO{}).Metrics
	for unit, want := range map[string]float64{
		"mean-ttft-ns": 105e6, "mean-service-ttft-ns": 100e6,
		"mean-e2e-ns": 125e6, "mean-service-e2e-ns": 120e6,
		"mean-tpot-ns": 20e6, "mean-itl-ns": 20e6,
	} {
		assert.Equal(t, got[unit], want, unit)
	}
}

// TestQuirks reads streams with shapes that other tools misread.
func TestQuirks(t *testing.T) {
	base := mockserver.Config{TTFT: 500 * ms, PerToken: 10 * ms}
	with := func(shape shape.Shape) mockserver.Config {
		c := base
		c.Shape = shape
		return c
	}
	const tokens = 12
	for _, c := range []struct {
		name   string
		cfg    mockserver.Config
		deltas int
		gap    time.Duration
		source sample.TokenSource
	}{
		{"role-only chunk, then silence until the text", with(shape.Shape{RoleFirst: true}), tokens, 10 * ms, sample.FromUsage},
		{"four tokens in a chunk", with(shape.Shape{TokensPerChunk: 4}), tokens / 4, 40 * ms, sample.FromUsage},
		{"usage on the last chunk with content", with(shape.Shape{Usage: shape.UsageLast}), tokens, 10 * ms, sample.FromUsage},
		{"no usage", with(shape.Shape{Usage: shape.UsageNever}), tokens, 10 * ms, sample.FromDeltas},
		{"CRLF", with(shape.Shape{CRLF: true}), tokens, 10 * ms, sample.FromUsage},
		{"ping comments", with(shape.Shape{Ping: true}), tokens, 10 * ms, sample.FromUsage},
		{"data without a space", with(shape.Shape{NoSpace: true}), tokens, 10 * ms, sample.FromUsage},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, c.cfg, Load{Requests: words(3, tokens), Concurrency: 1}, func(samples []sample.Sample, srv *mockserver.Server) {
				for i, s := range samples {
					assert.NilError(t, s.Err)
					first := time.Duration(tokens/c.deltas-1) * 10 * ms // a chunk is sent with its last token
					ttft, _ := s.TTFT()
					assert.Equal(t, ttft, 500*ms+first)
					assert.Equal(t, s.Deltas, c.deltas)
					for _, g := range s.Gaps {
						assert.Equal(t, g, c.gap)
					}
					assert.Equal(t, s.OutputTokens, tokens)
					assert.Equal(t, s.TokenSource, c.source)
					e := srv.Log()[i]
					assert.Equal(t, e.ID, s.ID)
					assert.Equal(t, e.OutputTokens, tokens)
				}
			})
		})
	}
}

// TestFailures checks the outcome of each kind of fault. The pass must end, and failed requests must change
// no metric except the share of failures.
func TestFailures(t *testing.T) {
	cfg := func(kind fault.Kind) mockserver.Config {
		return mockserver.Config{TTFT: ms, PerToken: ms / 10, Faults: []fault.Fault{{Kind: kind, Every: 5, At: 3}}}
	}
	for _, c := range []struct {
		fault    fault.Kind
		noStream bool
		want     sample.Outcome
		text     string
	}{
		{fault.HTTP500, false, sample.HTTP, "status 500"},
		{fault.Reset, false, sample.Truncated, ""},
		{fault.Truncate, false, sample.Truncated, "neither a finish reason nor [DONE]"},
		{fault.ErrorEvent, false, sample.ServerError, ""},
		{fault.Empty, false, sample.Empty, "no event"},
		{fault.Stall, false, sample.Stalled, "no output for 300ms"},
		{fault.Malformed, false, sample.Malformed, "malformed event"},
		{fault.NoDone, false, sample.OK, ""},
		{fault.HTTP500, true, sample.HTTP, "status 500"},
		{fault.ErrorEvent, true, sample.ServerError, ""},
		{fault.Empty, true, sample.Empty, "no body"},
		{fault.Malformed, true, sample.Malformed, ""},
		{fault.Stall, true, sample.Timeout, "no end after 1s"},
	} {
		t.Run(fmt.Sprintf("%s/stream=%t", c.fault, !c.noStream), func(t *testing.T) {
			var samples []sample.Sample
			l := Load{Requests: words(20, 8), Concurrency: 4, NoStream: c.noStream, IdleTimeout: 300 * ms, Timeout: time.Second}
			bubble(t, cfg(c.fault), l, func(all []sample.Sample, _ *mockserver.Server) { samples = all })
			s := sample.Summarize(sample.All(samples...), sample.Elapsed(sample.All(samples...)), sample.SLO{})
			if c.want == sample.OK {
				assert.Equal(t, s.Outcomes[sample.OK], 20)
				return
			}
			assert.Equal(t, s.Outcomes[sample.OK], 16, "outcomes: %v", s.Outcomes)
			assert.Equal(t, s.Outcomes[c.want], 4, "outcomes: %v", s.Outcomes)
			assert.Equal(t, s.Metrics["fail-%"], 20.0)
			assert.Equal(t, s.Metrics["out-tok/req"], 8.0)
			var good []sample.Sample
			for _, r := range samples {
				if r.Outcome == sample.OK {
					good = append(good, r)
				} else {
					assert.ErrorContains(t, r.Err, c.text)
				}
			}
			alone := sample.Summarize(sample.All(good...), sample.Elapsed(sample.All(samples...)), sample.SLO{})
			alone.Metrics["fail-%"] = 20
			for _, m := range []map[string]float64{s.Metrics, alone.Metrics} {
				delete(m, "steady-output-tok/s")                                                                 // a failed request delays the next one of its worker
				maps.DeleteFunc(m, func(unit string, _ float64) bool { return strings.HasPrefix(unit, "adj-") }) // in which failed requests count
			}
			assert.DeepEqual(t, s.Metrics, alone.Metrics)
		})
	}
}

// TestTimeouts checks the timeouts of requests and passes, on a fake clock.
func TestTimeouts(t *testing.T) {
	slow := mockserver.Config{TTFT: time.Hour}
	for _, c := range []struct {
		name  string
		cfg   mockserver.Config
		load  Load
		want  map[sample.Outcome]int
		after time.Duration
		text  string
	}{
		{"request", slow, Load{Timeout: 10 * time.Second, Concurrency: 2, Stagger: -1}, map[sample.Outcome]int{sample.Timeout: 4}, 20 * time.Second, "no end after 10s"},
		{"default request", slow, Load{Concurrency: 4, Stagger: -1}, map[sample.Outcome]int{sample.Timeout: 4}, 10 * time.Minute, "no end after 10m0s"},
		{"pass", slow, Load{PassTimeout: 7 * time.Second, Concurrency: 2, Stagger: -1}, map[sample.Outcome]int{sample.Canceled: 4}, 7 * time.Second, "the pass's deadline passed: 7s"},
		{"pass, open loop", slow, Load{PassTimeout: 7 * time.Second, Arrivals: arrivals.Constant{Rate: 0.2}}, map[sample.Outcome]int{sample.Canceled: 4}, 7 * time.Second, "the pass's deadline passed: 7s"},
		{"idle", mockserver.Config{TTFT: ms, Faults: []fault.Fault{{Kind: fault.Stall, Every: 1, At: 2}}},
			Load{Concurrency: 4, Stagger: -1}, map[sample.Outcome]int{sample.Stalled: 4}, time.Minute + ms, "no output for 1m0s"},
		{"the idle timeout begins anew with each event", mockserver.Config{PerToken: 40 * time.Second}, Load{Concurrency: 4, Stagger: -1}, map[sample.Outcome]int{sample.OK: 4}, 280 * time.Second, ""},
		{"the idle timeout leaves a long prefill alone", mockserver.Config{TTFT: 5 * time.Minute}, Load{Concurrency: 4, Stagger: -1}, map[sample.Outcome]int{sample.OK: 4}, 5 * time.Minute, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.load.Requests = words(4, 8)
			// Failures are tolerated: otherwise the client gives the pass up after one failure and 30 s without a byte, which
			// is the instant at which the other requests fail.
			c.load.MaxFail = 1
			bubble(t, c.cfg, c.load, func(samples []sample.Sample, _ *mockserver.Server) {
				s := sample.Summarize(sample.All(samples...), sample.Elapsed(sample.All(samples...)), sample.SLO{})
				assert.DeepEqual(t, s.Outcomes, c.want)
				assert.Equal(t, sample.Elapsed(sample.All(samples...)), c.after)
				for _, r := range samples {
					if c.text != "" {
						assert.ErrorContains(t, r.Err, c.text)
					}
				}
			})
		})
	}
}

// TestStalledDespiteHeartbeats checks that a stream that sends only comments still hits the idle timeout.
func TestStalledDespiteHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target, stop := inMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n")
			for {
				fmt.Fprint(w, ": ping\n\n")
				w.(http.Flusher).Flush()
				select {
				case <-time.After(5 * time.Second):
				case <-r.Context().Done():
					return
				}
			}
		}))
		defer stop()
		s := onePass(t, target, Load{Requests: words(1, 8), Concurrency: 1})[0]
		assert.Equal(t, s.Outcome, sample.Stalled)
		assert.Equal(t, s.End, time.Minute)
	})
}

// TestInterrupted checks that a pass that is interrupted ends at once, and that each of its requests has an
// outcome.
func TestInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, err := mockserver.New(mockserver.Config{TTFT: time.Second})
		assert.NilError(t, err)
		target, stop := inMemory(t, srv)
		defer stop()
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(1500*ms, func() { cancel(why) })
		samples, err := tryPass(t, ctx, target, Load{Requests: words(10, 1), Concurrency: 2})
		assert.NilError(t, err)
		s := sample.Summarize(sample.All(samples...), sample.Elapsed(sample.All(samples...)), sample.SLO{})
		assert.DeepEqual(t, s.Outcomes, map[sample.Outcome]int{sample.OK: 2, sample.Canceled: 8})
		assert.Equal(t, sample.Elapsed(sample.All(samples...)), 1500*ms)
		for _, r := range samples[2:] {
			assert.ErrorContains(t, r.Err, why.Error())
			assert.Equal(t, r.Epoch, samples[0].Epoch)
		}
	})
}

// TestEnough checks that no further requests are sent after Enough, that those in flight end, and that the others have no samples.
func TestEnough(t *testing.T) {
	timed := endless(10, func(int) int { return 1 })
	timed.Concurrency, timed.Duration = 2, time.Minute
	for _, c := range []struct {
		name        string
		load        Load
		enough, end time.Duration // when the channel is closed, and when the context ends, or 0
		want        map[sample.Outcome]int
		cut         bool
	}{
		{"closed loop", Load{Requests: words(10, 1), Concurrency: 2}, 1500 * ms, 0, map[sample.Outcome]int{sample.OK: 4}, true},
		{"for a time", timed, 1500 * ms, 0, map[sample.Outcome]int{sample.OK: 4}, true},
		{"open loop", Load{Requests: words(10, 1), Arrivals: arrivals.Constant{Rate: 2}}, 1600 * ms, 0, map[sample.Outcome]int{sample.OK: 4}, true},
		{"in flight", Load{Requests: words(10, 1), Arrivals: arrivals.Constant{Rate: 2}, MaxInFlight: 1}, 1500 * ms, 0, map[sample.Outcome]int{sample.OK: 2}, true},
		{"in a session", Load{Requests: talk(4, 3), Concurrency: 2}, 1500 * ms, 0, map[sample.Outcome]int{sample.OK: 2}, true},
		{"in a session for a time", Load{Requests: talk(4, 3), Concurrency: 2, Duration: time.Minute, CutSessions: true}, 2500 * ms, 0, map[sample.Outcome]int{sample.OK: 4}, true},
		{"all were sent", Load{Requests: words(4, 1), Concurrency: 2}, 1500 * ms, 0, map[sample.Outcome]int{sample.OK: 4}, false},
		{"before the first", Load{Requests: words(4, 1), Concurrency: 2}, 0, 0, map[sample.Outcome]int{}, true},
		{"impatient", Load{Requests: words(10, 1), Concurrency: 2}, 1500 * ms, 1600 * ms, map[sample.Outcome]int{sample.OK: 2, sample.Canceled: 2}, true},
		{"impatient, open loop", Load{Requests: words(10, 1), Arrivals: arrivals.Constant{Rate: 2}}, 1600 * ms, 1700 * ms, map[sample.Outcome]int{sample.OK: 2, sample.Canceled: 2}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, err := mockserver.New(mockserver.Config{TTFT: time.Second})
				assert.NilError(t, err)
				target, stop := inMemory(t, srv)
				defer stop()
				client, l, pl, err := prepared(target, c.load)
				assert.NilError(t, err)
				defer client.Close()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				enough := make(chan struct{})
				if c.enough == 0 {
					close(enough)
				} else {
					time.AfterFunc(c.enough, func() { close(enough) })
				}
				if c.end > 0 {
					time.AfterFunc(c.end, cancel)
				}
				outcomes := map[sample.Outcome]int{}
				p := pl.pass(process.Join("test").Part(), l)
				p.Enough, p.With, p.Keep = enough, process.Join("test"), func(s *sample.Sample, _ bool) error { outcomes[s.Outcome]++; return nil }
				r, _, err := client.Pass(ctx, p)
				assert.NilError(t, err)
				assert.DeepEqual(t, outcomes, c.want)
				assert.Equal(t, r.Cut, c.cut)
			})
		})
	}
}

// TestConnectionsAreReused checks that each worker needs only one connection if the server keeps
// connections open, and that the connections are opened before the pass.
func TestConnectionsAreReused(t *testing.T) {
	for _, concurrency := range []int{1, 32} {
		_, target := loopback(t, mockserver.Config{TTFT: ms})
		c, l, pl, err := prepared(target, Load{Requests: words(20*concurrency, 4), Concurrency: concurrency})
		assert.NilError(t, err)
		defer c.Close()
		samples, err := sendPass(t.Context(), c, l, pl)
		assert.NilError(t, err)
		for i := range samples {
			assert.NilError(t, samples[i].Err)
			assert.Equal(t, samples[i].Connect, time.Duration(0), "request %d opened a connection", i)
		}
		assert.Equal(t, c.Open(t.Context(), 0, time.Second), concurrency)
	}
}

// TestConnectTime checks that the sample of a request holds the time that it took to open the connection,
// including the TLS handshake. If the connection was opened before the request, that time is 0.
func TestConnectTime(t *testing.T) {
	for _, ahead := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			ln := memnet.Listen()
			srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprint(w, content+finish+done)
			}))
			srv.Listener.Close()
			srv.Listener = ln
			srv.StartTLS()
			defer srv.Close()
			target := Target{URL: "https://example.com", TLS: trusted(srv), Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
				time.Sleep(20 * ms)
				return ln.Dial(ctx, network, addr)
			}}
			c, l, pl, err := prepared(target, Load{Requests: words(1, 1), Concurrency: 1})
			assert.NilError(t, err)
			c.Open(t.Context(), ahead, time.Minute)
			w := testWorker(c, l)
			first, second := w.Do(t.Context(), pl.build(0), 0, false), w.Do(t.Context(), pl.build(0), 0, false)
			assert.NilError(t, first.Err)
			assert.NilError(t, second.Err)
			if ahead == 0 {
				assert.Equal(t, first.Connect, 20*ms)
				assert.Assert(t, first.Connect <= first.Wrote, "connect %v, wrote %v", first.Connect, first.Wrote)
			} else {
				assert.Equal(t, first.Connect, time.Duration(0))
			}
			assert.Equal(t, second.Connect, time.Duration(0))
			c.Close()
			assert.Equal(t, c.Open(t.Context(), 0, time.Second), 0)
		})
	}
}

// TestNoHTTP checks the error if a server does not speak HTTP.
func TestNoHTTP(t *testing.T) {
	url := rawServer(t, func(conn net.Conn) {
		bufio.NewReader(conn).ReadString('\n')
		fmt.Fprint(conn, "SSH-2.0-OpenSSH_9.6\r\n\r\n")
	})
	s := onePass(t, Target{URL: url}, Load{Requests: words(1, 1), Concurrency: 1})[0]
	assert.Equal(t, s.Outcome, sample.Malformed)
	assert.ErrorContains(t, s.Err, "malformed HTTP")
}

// TestPrepareEnds checks that the opening of connections before a pass ends after the timeout of a request.
func TestPrepareEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		samples := onePass(t, Target{URL: "http://server", Dial: hangs}, Load{Requests: words(2, 1), Concurrency: 1, Timeout: time.Second})
		for _, s := range samples {
			assert.Equal(t, s.Outcome, sample.Timeout)
		}
		assert.Equal(t, sample.Elapsed(sample.All(samples...)), 2*time.Second)
	})
}

func TestConnectFails(t *testing.T) {
	_, target := loopback(t, mockserver.Config{})
	target.Dial = nil
	target.URL = "http://127.0.0.1:1" // no server listens here
	s := onePass(t, target, Load{Requests: words(1, 4), Concurrency: 1})[0]
	assert.Equal(t, s.Outcome, sample.Connect)
	assert.ErrorContains(t, s.Err, "refused")
}

// times is an arrival process with the given instants, which may be invalid.
type times []time.Duration

func (s times) Times(int) ([]time.Duration, error) { return s, nil }
func (times) Name() string                         { return "times" }
func (times) Parameters() map[string]string        { return nil }

func TestLoadCheck(t *testing.T) {
	one := words(1, 1)
	for _, c := range []struct {
		load Load
		want string
	}{
		{Load{}, "no requests"},
		{Load{Requests: one, Fresh: func(int) ([]Request, error) { return one, nil }, Concurrency: 1}, "both Requests and Fresh are set"},
		{Load{Requests: one}, "neither Concurrency nor Users nor Arrivals"},
		{Load{Requests: one, Concurrency: 1, Arrivals: arrivals.Constant{Rate: 1}}, "Arrivals are set, and so is Concurrency"},
		{Load{Requests: one, Concurrency: -3}, "concurrency -3"},
		{Load{Requests: one, Concurrency: 1, Timeout: -1}, "timeout -1ns"},
		{Load{Requests: one, Concurrency: 1, MaxFail: 1.5}, "max fail 1.5"},
		{Load{Requests: one, Concurrency: 1, MaxFail: math.NaN()}, "max fail NaN"},
		{Load{Requests: one, Concurrency: 1, Units: []sample.Unit{{Name: "req/s"}}}, "unit req/s: another unit has this name"},
		{Load{Requests: one, Concurrency: 1, Units: []sample.Unit{{Name: "tok/s", Better: "more"}}}, `unit tok/s: better "more"`},
		{Load{Requests: one, Concurrency: 1, NoStream: true, SLO: sample.SLO{TTFT: 1}}, "no TTFT"},
		{Load{Requests: one, Concurrency: 1, NoStream: true, SLO: sample.SLO{TPOT: 1}}, "no TPOT"},
		{Load{Requests: []Request{{Prompt: "x"}}, Concurrency: 1}, "max tokens 0"},
		{Load{Requests: one, Concurrency: 2}, "1 requests at concurrency 2"},
		{Load{Requests: one, Arrivals: times{}}, "0 times for 1 requests"},
		{Load{Requests: one, Arrivals: times{-1}}, "times out of order: want increasing times, from 0 on"},
		{Load{Requests: words(2, 1), Arrivals: times{2, 1}}, "times out of order: want increasing times, from 0 on"},
		{Load{Requests: one, Arrivals: arrivals.Constant{}}, "rate 0"},
		{Load{Requests: one, Arrivals: arrivals.Gamma{Rate: 1}}, "shape 0"},
	} {
		_, err := tryPass(t, t.Context(), Target{URL: "http://127.0.0.1:1"}, c.load)
		assert.ErrorContains(t, err, c.want)
	}
	for url, want := range map[string]string{
		"":                     "base URL like",
		"http://user:secret@x": `target: URL "http://x" with a user`,
	} {
		_, err := newClient(Target{URL: url})
		assert.ErrorContains(t, err, want)
		assert.Assert(t, !strings.Contains(err.Error(), "secret"))
	}
	// Of several invalid things, errors name the first one in the order of names.
	for want, header := range map[string]http.Header{`header "X Team": want letters`: {"X Team": {"a"}, "Y Team": nil, "Z A": nil, "Z B": nil}, "value of the header Authorization": {"Authorization": {"Bearer secret\nkey"}}} {
		_, err := newClient(Target{URL: "http://x", Header: header})
		assert.ErrorContains(t, err, want)
		assert.Assert(t, !strings.Contains(err.Error(), "secret"))
	}
	_, err := newClient(Target{URL: "http://x", Body: []byte(`{"key":"secret","stream":true}`)})
	assert.ErrorContains(t, err, `target: body: member "stream"`)
	_, err = newClient(Target{URL: "http://x", Config: map[string]string{"GPU": "x", "Host": "y", "OS": "z", "a b": ""}})
	assert.ErrorContains(t, err, `config key "GPU"`)
	_, err = tryPass(t, t.Context(), Target{URL: "http://127.0.0.1:1", Dialect: dialect.OpenAICompletions{}},
		Load{Requests: []Request{{Messages: []Message{{Role: "user", Content: "x"}}, MaxTokens: 1}}, Concurrency: 1})
	assert.ErrorContains(t, err, "conversation of 1 messages")
}

// TestConnectionsNotOpenedAhead checks a pass whose connections could not be opened ahead. There are two
// workers, and a connection takes 100 ms to open. Each worker must open its own connection and keep it.
func TestConnectionsNotOpenedAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target, stop := inMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(10 * ms)
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, content+finish+usage+done)
		}))
		defer stop()
		dial, dials := target.Dial, atomic.Int64{}
		target.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if dials.Add(1) <= 2 {
				return nil, errors.New("those ahead cannot be opened")
			}
			time.Sleep(100 * ms)
			return dial(ctx, network, addr)
		}
		c, l, pl, err := prepared(target, Load{Requests: words(4, 4), Concurrency: 2, Stagger: 80 * ms})
		assert.NilError(t, err)
		samples, err := sendPass(t.Context(), c, l, pl)
		assert.NilError(t, err)
		var got []string
		for _, s := range samples {
			ttft, _ := s.TTFT()
			got = append(got, fmt.Sprintf("%v %v %v", s.Start, s.Connect, ttft))
		}
		c.Close()
		assert.DeepEqual(t, got, []string{"0s 100ms 110ms", "80ms 100ms 110ms", "110ms 0s 10ms", "120ms 0s 10ms"})
	})
}
