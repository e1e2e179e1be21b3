package llmbench

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/distortion"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestCoordinatedOmission measures a server that stalls once. There are 1,000 requests, one is due every 10
// ms, and only one may be in flight. The server answers each request in 1 ms, except the request that is
// due at 1 s, which takes 2 s. Requests that become due during the stall are sent one after the other when
// the stall is over. If latencies counted from the send, each of these would be 1 ms. Latencies count from
// the due instant, so the k-th request after the stalled one takes 2000 ms - 10k ms + k ms.
func TestCoordinatedOmission(t *testing.T) {
	const n, stalled = 1000, 100
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		target, stop := inMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			took := ms
			if calls++; calls == stalled+1 {
				took = 2 * time.Second
			}
			time.Sleep(took)
			w.Header().Set("Content-Type", "text/event-stream")
			w.Write([]byte(content + finish + usage + done))
		}))
		defer stop()
		samples := onePass(t, target, Load{Requests: words(n, 4), Arrivals: arrivals.Constant{Rate: 100}, MaxInFlight: 1})
		late := map[int]time.Duration{} // latency from the due instant
		for k := 1; ; k++ {
			wait := 2*time.Second + time.Duration(k-1)*ms - time.Duration(k)*10*ms // from the due instant to the send
			if wait <= 0 {
				break
			}
			late[stalled+k] = wait + ms
		}
		for i := range samples {
			s := &samples[i]
			assert.NilError(t, s.Err)
			want, service := ms, ms
			if i == stalled {
				want, service = 2*time.Second, 2*time.Second
			} else if l, waited := late[i]; waited {
				want = l
			}
			got, _ := s.TTFT()
			assert.Equal(t, got, want, "TTFT of request %d from when it was due", i)
			assert.Equal(t, s.First-s.Start, service, "TTFT of request %d from the send", i)
			assert.Equal(t, s.Due, time.Duration(i)*10*ms)
			assert.Equal(t, s.Admitted, s.Start)
		}
		m := sample.Summarize(sample.All(samples...), sample.Elapsed(sample.All(samples...)), sample.SLO{}).Metrics
		// 222 requests waited. The p99 is between the 990th and the 991st of the 1,000 sorted
		// latencies, which are the eleventh and the tenth from the top. The stalled request
		// is at the top, and below it is the k-th request that waited, for k from 1 on.
		p99 := sample.Quantile([]time.Duration{late[stalled+10], late[stalled+9]}, 0.01)
		assert.Equal(t, len(late), 222)
		assert.Equal(t, late[stalled+1], 1991*ms)
		assert.Assert(t, m["p99-ttft-ns"]-p99 < 1 && p99-m["p99-ttft-ns"] < 1, "p99-ttft-ns = %v, want %v", m["p99-ttft-ns"], p99)
		assert.Equal(t, m["p99-service-ttft-ns"], float64(ms))
		asked, achieved, ok := sample.AchievedRate(sample.All(samples...))
		assert.Assert(t, ok && asked == achieved, "asked %v, achieved %v", asked, achieved) // the client caught up
	})
}

// TestFullServerIsNoLateClient checks that the time a request waits because MaxInFlight requests are in
// flight is attributed to the server, and does not make the client late. One request may be in flight, each
// takes 100 ms, and one is due every 50 ms.
func TestFullServerIsNoLateClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target, stop := inMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(100 * ms)
			w.Header().Set("Content-Type", "text/event-stream")
			w.Write([]byte(content + finish + usage + done))
		}))
		defer stop()
		samples := onePass(t, target, Load{Requests: words(40, 4), Arrivals: arrivals.Constant{Rate: 20}, MaxInFlight: 1})
		for i, s := range samples {
			assert.NilError(t, s.Err)
			assert.Equal(t, s.Due, time.Duration(i)*50*ms)
			assert.Equal(t, s.Granted, time.Duration(i)*100*ms)
			assert.Equal(t, s.Start, s.Granted)
		}
		m := sample.Summarize(sample.All(samples...), sample.Elapsed(sample.All(samples...)), sample.SLO{}).Metrics
		assert.Equal(t, m["p50-service-ttft-ns"], float64(100*ms))
		assert.Equal(t, m["mean-ttft-ns"], float64(100*ms+39*25*ms))
		var e distortion.Estimate
		e.Add(distortion.Pass{Samples: sample.All(samples...)})
		all := &measurement{load: Load{}}
		d := e.Report(sample.All(samples...), all.figures, sample.Units, m, 1e-9, func(sample.Unit) bool { return true })
		worst, _ := d.Worst(func(string) bool { return true })
		assert.Assert(t, d.Distorted == nil && worst == 0, "%+v", d)
		samples = append(samples, samples...)
		samples = append(samples, samples...)
		assert.Equal(t, sample.Summarize(sample.All(samples...), time.Second, sample.SLO{}).Metrics["p99-lag-ns"], 1.0)
	})
}

// TestRates checks the scheduled rate and the achieved rate of a client that falls behind its schedule.
func TestRates(t *testing.T) {
	var samples []sample.Sample
	_, _, ok := sample.AchievedRate(sample.All(samples...))
	assert.Assert(t, !ok)
	for i := range 101 {
		due := time.Duration(i) * 10 * ms
		samples = append(samples, sample.Sample{Scheduled: true, Due: due, Start: due * 5 / 4}, sample.Sample{Due: time.Hour, Start: time.Hour})
	}
	asked, achieved, ok := sample.AchievedRate(sample.All(samples...))
	assert.Assert(t, ok)
	assert.Equal(t, asked, 100.0)
	assert.Equal(t, achieved, 80.0)
}

// TestStagger checks when the workers of a closed loop begin.
func TestStagger(t *testing.T) {
	for _, tt := range []struct{ stagger, want time.Duration }{{0, DefaultStagger}, {-1, 0}, {3 * ms, 3 * ms}} {
		synctest.Test(t, func(t *testing.T) {
			target, stop := inMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				time.Sleep(time.Second)
				w.Header().Set("Content-Type", "text/event-stream")
				w.Write([]byte(content + finish + usage + done))
			}))
			defer stop()
			for i, s := range onePass(t, target, Load{Requests: words(8, 4), Concurrency: 4, Stagger: tt.stagger}) {
				assert.NilError(t, s.Err)
				assert.Equal(t, s.Start, time.Duration(i%4)*tt.want+time.Duration(i/4)*time.Second)
			}
		})
	}
}

// TestTooManyConnections checks that a pass that would need more connections than the process may open is
// an error.
func TestTooManyConnections(t *testing.T) {
	_, err := tryPass(t, t.Context(), Target{URL: "http://127.0.0.1:1"}, Load{Requests: words(100_000, 1), Concurrency: 100_000})
	if err != nil && !strings.Contains(err.Error(), "ulimit -n") && !strings.Contains(err.Error(), "local ports") {
		t.Errorf("a pass of 100,000 connections: %v", err)
	}
}

// TestOpenedAhead checks how many connections are opened before a pass, and that the last workers that
// begin can still use them.
func TestOpenedAhead(t *testing.T) {
	for _, tt := range []struct {
		name string
		load Load
		want int // connections opened before the pass
	}{
		{"workers that begin over two seconds", Load{Requests: words(20, 4), Concurrency: 20, Stagger: 100 * ms}, 20},
		{"a bound that the first second does not reach", Load{Requests: words(40, 4), Arrivals: arrivals.Constant{Rate: 10}, MaxInFlight: 30}, 30},
		{"a bound above the number of requests", Load{Requests: words(20, 4), Arrivals: arrivals.Constant{Rate: 10}, MaxInFlight: 30}, 20},
		{"a bound", Load{Requests: words(40, 4), Arrivals: arrivals.Constant{Rate: 10}, MaxInFlight: 4}, 4},
		{"no bound", Load{Requests: words(5, 4), Arrivals: arrivals.Constant{Rate: 10}}, 5},
		{"no bound, and requests over ten seconds", Load{Requests: words(100, 4), Arrivals: arrivals.Constant{Rate: 10}}, 21},
	} {
		synctest.Test(t, func(t *testing.T) {
			target, stop := inMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				time.Sleep(9 * time.Second) // after 10 s the client would look whether the server is there
				w.Header().Set("Content-Type", "text/event-stream")
				w.Write([]byte(content + finish + usage + done))
			}))
			defer stop()
			dial, begun, ahead, all := target.Dial, time.Now(), 0, 0
			var mu sync.Mutex
			target.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				mu.Lock()
				defer mu.Unlock()
				all++
				if time.Since(begun) == 0 && tt.want > 0 {
					ahead++
				}
				return dial(ctx, network, addr)
			}
			for _, s := range onePass(t, target, tt.load) {
				assert.NilError(t, s.Err)
			}
			assert.Equal(t, ahead, tt.want, tt.name)
			if n := tt.load.Concurrency; n > 0 {
				assert.Equal(t, all, n, tt.name)
			}
		})
	}
}

// TestNothingConnectsInAPass checks that no request of a pass has to open a connection if requests take up
// to twice as long as requests of the warm-up.
func TestNothingConnectsInAPass(t *testing.T) {
	for _, tt := range []struct {
		name           string
		load           Load
		warmUp, answer time.Duration // how long an answer takes
	}{
		{"a closed loop", Load{Requests: words(40, 4), Concurrency: 8}, 3 * time.Second, 3 * time.Second},
		{"a bound", Load{Requests: words(200, 4), Arrivals: arrivals.Poisson{Rate: 40, Seed: 1}, MaxInFlight: 90}, 0, 10 * time.Second},
		{"no bound", Load{Requests: words(200, 4), Arrivals: arrivals.Poisson{Rate: 40, Seed: 1}, Warmup: words(4, 4)}, 2 * time.Second, 2 * time.Second},
		{"slower than the warm-up", Load{Requests: words(200, 4), Arrivals: arrivals.Gamma{Rate: 40, Shape: 0.5, Seed: 1}, Warmup: words(4, 4)}, 2 * time.Second, 4 * time.Second},
		{"no bound, no warm-up", Load{Requests: words(200, 4), Arrivals: arrivals.Poisson{Rate: 40, Seed: 1}}, 0, time.Second},
		{"a burst at the end", Load{Requests: words(60, 4), Arrivals: arrivals.Replay{At: slices.Concat(make([]time.Duration, 10), slices.Repeat([]time.Duration{time.Minute}, 50))}}, 0, time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			var took atomic.Int64
			target, stop := inMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				time.Sleep(time.Duration(took.Load()))
				w.Header().Set("Content-Type", "text/event-stream")
				w.Write([]byte(content + finish + usage + done))
			}))
			defer stop()
			dial := target.Dial
			target.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				time.Sleep(60 * ms)
				return dial(ctx, network, addr)
			}
			l, err := tt.load.check()
			assert.NilError(t, err, tt.name)
			c, err := newClient(target)
			assert.NilError(t, err, tt.name)
			m := &measurement{load: l, target: target, client: c, party: process.Join("test")}
			defer m.close()
			took.Store(int64(tt.warmUp))
			_, err = m.warmUp(t.Context())
			assert.NilError(t, err, tt.name)
			pl, err := newPlan(&l, target, l.Requests)
			assert.NilError(t, err, tt.name)
			took.Store(int64(tt.answer))
			samples, err := sendPass(t.Context(), c, &l, pl)
			assert.NilError(t, err, tt.name)
			for _, s := range samples {
				assert.NilError(t, s.Err, tt.name)
				assert.Equal(t, s.Connect, time.Duration(0), tt.name)
			}
		})
	}
}
