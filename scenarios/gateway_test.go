package scenarios

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/search"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/testkit/memnet"
)

// A plantedGateway is a gateway of which all figures are known: it handles one request after another, each for a time, and
// its memory is a part for itself, for each open stream and for each request so far.
type plantedGateway struct {
	each                       time.Duration
	own, perStream, perRequest int64
	most                       int // more streams at once are refused; 0 means no limit
	proxy                      http.Handler
	mu                         sync.Mutex
	free                       time.Time // when it has handled all requests
	open, requests             int
}

func (g *plantedGateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	g.requests++
	g.open++
	refused := g.most > 0 && g.open > g.most
	if now := time.Now(); g.free.Before(now) {
		g.free = now
	}
	g.free = g.free.Add(g.each)
	until := g.free
	g.mu.Unlock()
	defer func() { g.mu.Lock(); defer g.mu.Unlock(); g.open-- }()
	if refused {
		http.Error(w, "too many", http.StatusServiceUnavailable)
		return
	}
	time.Sleep(time.Until(until))
	g.proxy.ServeHTTP(w, r)
}

func (g *plantedGateway) Footprint() (time.Duration, int64, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return time.Duration(g.requests) * g.each, g.own + g.perStream*int64(g.open) + g.perRequest*int64(g.requests), nil
}

// observed makes an observer of what knows its footprint.
type observed struct{ *plantedGateway }

func (observed) Before(context.Context) error                      { return nil }
func (observed) After(context.Context) (map[string]float64, error) { return nil, nil }

// planted runs f in virtual time with a simulated server and a gateway before it.
func planted(t *testing.T, cfg mockserver.Config, g *plantedGateway, f func(t *testing.T, direct, gateway llmbench.Target)) {
	t.Helper()
	virtual(t, cfg, func(t *testing.T, direct llmbench.Target) {
		upstream, err := url.Parse(direct.URL)
		assert.NilError(t, err)
		transport := &http.Transport{DialContext: direct.Dial, MaxIdleConnsPerHost: 1000}
		defer transport.CloseIdleConnections()
		proxy := httputil.NewSingleHostReverseProxy(upstream)
		proxy.Transport, proxy.FlushInterval = transport, -1
		g.proxy = proxy
		ln := memnet.Listen()
		h := &http.Server{Handler: g}
		var wg sync.WaitGroup
		wg.Go(func() { h.Serve(ln) })
		defer func() { h.Close(); wg.Wait() }()
		gateway := direct
		gateway.Dial = ln.Dial
		f(t, direct, gateway)
	})
}

// testTail returns a tail of rates, with passes of two seconds.
func testTail(direct, gateway llmbench.Target) *tail {
	t := &tail{
		direct: direct, gateway: gateway, draw: words, delay: firstLater, lone: 20 * time.Millisecond, headroom: headroom, send: pass, cpu: func() time.Duration { return 0 },
		load: func(rate float64) llmbench.Load {
			return llmbench.Load{Arrivals: arrivals.Poisson{Rate: rate, Seed: 1}}
		},
	}
	t.count = func(rate float64) int { return max(100, int(2*rate)) }
	return t
}

// waits returns the p99, in milliseconds, of the time in a queue that one request leaves after another, each after a time
// (Lindley's recursion).
func waits(t *testing.T, tl *tail, rate float64, each time.Duration) float64 {
	times, err := tl.load(rate).Arrivals.Times(tl.count(rate))
	assert.NilError(t, err)
	var all []time.Duration
	free := time.Duration(0)
	for _, at := range times {
		free = max(free, at) + each
		all = append(all, free-at)
	}
	return milliseconds(quantile(all, 0.99))
}

// keptBy searches for the highest rate that such a queue keeps within a bound.
func (tl *tail) keptBy(t *testing.T, h search.Highest, bound float64, each time.Duration) search.Interval {
	found, err := h.Find(func(rate float64) (bool, error) {
		return waits(t, tl, rate, each) <= bound && rate < 1/each.Seconds(), nil
	})
	assert.NilError(t, err)
	return found
}

// TestTail searches for the rates that a gateway keeps within bounds. It handles one request after another, so that the time
// which it adds to each request follows from the arrivals.
func TestTail(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	t.Parallel()
	const each = 4 * time.Millisecond
	planted(t, mockserver.Config{TTFT: 10 * time.Millisecond, PerToken: 10 * time.Millisecond}, &plantedGateway{each: each}, func(t *testing.T, direct, gateway llmbench.Target) {
		tl := testTail(direct, gateway)
		assert.NilError(t, tl.calibrate(t.Context(), "", 25))
		rates := []float64{25, 50, 100, 200, 400}
		for _, rate := range rates {
			p, err := tl.through(t.Context(), "", rate, 0)
			assert.NilError(t, err)
			want := waits(t, tl, rate, each)
			assert.Assert(t, math.Abs(p.p99-want) < 0.01*want, "at %v: %v ms, want %v", rate, p.p99, want)
		}
		passes := 0 // of the searches alone
		for _, bound := range []float64{10, 20, 50, 100} {
			h := tl.bracket(rates, bound)
			h.Tolerance = 0.025
			found, err := tl.highest(t.Context(), "", h, bound)
			assert.NilError(t, err)
			want := tl.keptBy(t, h, bound, each)
			assert.Assert(t, math.Abs(found.Low/want.Low-1) < 0.03, "%v ms: %v, want %v", bound, found, want)
			passes += len(found.Trials)
			t.Logf("within %v ms: [%.4g, %.4g)", bound, found.Low, found.High)
		}
		made := 0
		for _, all := range tl.passes {
			made += len(all)
		}
		assert.Assert(t, made < 2*passes, "%d passes for %d trials, of which most need two", made, passes)
	})
}

// TestKeeps checks which passes decide whether a bound of 10 ms is kept.
func TestKeeps(t *testing.T) {
	const open = "the client's own delays decide: the gateway adds "
	inf := math.Inf(1)
	for _, tt := range []struct {
		name string
		pass tailPass
		met  bool
		open string
	}{
		{"within", tailPass{low: 8, p99: 9, high: 10}, true, ""},
		{"beyond", tailPass{low: 10.1, p99: 11, high: 11}, false, ""},
		{"the client may have added what is too much", tailPass{low: 9.9, p99: 11, high: 11, late: 0.5}, false, open + "between 9.9 and 11 ms, and the client sent requests 0.5 ms late (p99)"},
		{"the client may hide what is too much", tailPass{low: 8, p99: 9.9, high: 10.1}, false, open + "between 8 and 10.1 ms, and the client sent requests 0 ms late (p99)"},
		{"the client changes little, within", tailPass{low: 9.6, p99: 9.9, high: 10.2, late: 0.3}, true, ""},
		{"the client changes little, beyond", tailPass{low: 9.9, p99: 10.1, high: 10.3, late: 0.3}, false, ""},
		{"failed requests", tailPass{low: inf, p99: inf, high: inf}, false, ""},
		{"within, but ever more requests wait", tailPass{low: 8, p99: 9, high: 9, behind: true}, false, ""},
		{"ever more requests wait, for the client", tailPass{low: 15, p99: 15, high: 16, behind: true, late: 11}, false, open + "between 15 and 16 ms, and the client sent requests 11 ms late (p99)"},
		{"ever more requests wait, the client's delays apart", tailPass{low: 80, p99: 90, high: 90, behind: true, late: 11}, false, ""},
		{"sent late, and kept all the same", tailPass{low: 8, p99: 9, high: 9, late: 3}, true, ""},
		{"sent late, and perhaps therefore together", tailPass{low: 12, p99: 12, high: 12, late: 3}, false, open + "between 12 and 12 ms, and the client sent requests 3 ms late (p99)"},
		{"sent late, and far beyond", tailPass{low: 14, p99: 14, high: 14, late: 3}, false, ""},
		{"in bursts, within", tailPass{low: 8, p99: 9, high: 9, bursts: llmbench.ErrBursts}, false, llmbench.ErrBursts.Error()},
		{"in bursts, beyond", tailPass{low: 11, p99: 11, high: 11, bursts: llmbench.ErrBursts}, false, ""},
		{"the client is not known", tailPass{high: 5, unsure: llmbench.ErrClientBound}, false, llmbench.ErrClientBound.Error()},
	} {
		met, err := tt.pass.keeps(10)
		assert.Equal(t, met, tt.met, tt.name)
		if tt.open == "" {
			assert.NilError(t, err, tt.name)
		} else {
			assert.Error(t, err, tt.open, tt.name)
		}
	}
}

// TestTailOf checks that the limit of the server is not taken for the gateway's, and that the limit of a
// gateway is found wherever it is.
func TestTailOf(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	t.Parallel()
	slow := mockserver.Config{TTFT: 10 * time.Millisecond, Slots: 1} // 100 requests a second
	for _, tt := range []struct {
		name   string
		server mockserver.Config
		each   time.Duration // of the gateway
		want   string        // the error; "" if there is none
	}{
		{"the server is full first", slow, time.Millisecond, "the client or the simulated server may be the limit"},
		{"the gateway's queue is too long before the server is full", slow, 12 * time.Millisecond, ""},
		{"the gateway is full first", slow, 20 * time.Millisecond, ""},
		{"the gateway adds more at any rate", slow, 60 * time.Millisecond, "the lowest load, 5, misses"},
	} {
		planted(t, tt.server, &plantedGateway{each: tt.each}, func(t *testing.T, direct, gateway llmbench.Target) {
			tl := testTail(direct, gateway)
			assert.NilError(t, tl.calibrate(t.Context(), "", 5))
			h := search.Highest{From: 5, To: 1000, Tolerance: 0.025}
			found, err := tl.highest(t.Context(), "", h, 50)
			if tt.want == "" {
				assert.NilError(t, err, tt.name)
				want := tl.keptBy(t, h, 50, tt.each)
				assert.Assert(t, math.Abs(found.Low/want.Low-1) < 0.03, "%s: %v, want %v", tt.name, found, want)
				return
			}
			assert.ErrorContains(t, err, tt.want, tt.name)
			assert.ErrorIs(t, err, search.ErrCannotJudge)
		})
	}
}

// TestStreams searches for the most streams that a gateway holds.
func TestStreams(t *testing.T) {
	t.Parallel()
	planted(t, mockserver.Config{TTFT: 10 * time.Millisecond, PerToken: 100 * time.Millisecond}, &plantedGateway{most: 37}, func(t *testing.T, direct, gateway llmbench.Target) {
		g := gatewayRun{server: server{target: gateway, options: Options{Simulated: true}}, direct: direct, pace: 100 * time.Millisecond}
		tl := g.tail()
		tl.draw, tl.delay = words, latestToken
		tl.count = func(n float64) int { return int(n) }
		tl.load = func(n float64) llmbench.Load { return llmbench.Load{Concurrency: int(n)} }
		assert.NilError(t, tl.calibrate(t.Context(), "", 1))
		found, err := tl.highest(t.Context(), "", search.Highest{From: 1, To: 1000, Whole: true, Tolerance: 0.02}, sustained)
		assert.NilError(t, err)
		assert.Equal(t, fmt.Sprint(found.Low, found.High), "37 38")
	})
}

// TestGatewayMemory checks that the memory of each stream and of each request is found.
func TestGatewayMemory(t *testing.T) {
	t.Parallel()
	g := &plantedGateway{own: 20e6, perStream: 64e3, perRequest: 1e3, each: time.Microsecond}
	planted(t, mockserver.Config{TTFT: 10 * time.Millisecond, PerToken: 100 * time.Millisecond}, g, func(t *testing.T, direct, gateway llmbench.Target) {
		o := &occupancy{FootprintObserver: observed{g}, streams: 50, every: 50 * time.Millisecond, recover: time.Second}
		var err error
		o.idle[0], err = readingOf(o)
		assert.NilError(t, err)
		time.Sleep(time.Second)
		o.idle[1], err = readingOf(o)
		assert.NilError(t, err)
		assert.NilError(t, o.Before(t.Context()))
		run := gatewayRun{server: server{target: gateway, options: Options{Simulated: true}, counter: counter{tokens: tokenizer.Words{}}}, direct: direct, pace: 50 * time.Millisecond}
		l := run.open(50)
		l.Requests, err = run.long()(50, 1)
		assert.NilError(t, err)
		r, err := llmbench.Pass(t.Context(), "", gateway, l)
		assert.NilError(t, err)
		assert.NilError(t, r.Close())
		figures, err := o.After(t.Context())
		assert.NilError(t, err)
		assert.DeepEqual(t, figures, map[string]float64{
			"gw-idle-MB": 20, "gw-open-MB": 20 + 50*0.064 + 50*0.001, "gw-after-MB": 20 + 50*0.001, "gw-kB/stream": 65, "gw-idle-cpu-%": 0, "gw-cpu-%/stream": 0,
		})
		trend, err := growth(t.Context(), "", gateway, llmbench.Load{Concurrency: 4}, words, 20, observed{g})
		assert.NilError(t, err)
		assert.Equal(t, fmt.Sprint(trend), "{1000 1000 1000}")
	})
}

// TestKeptAll checks that a search that ended for another reason than its highest load has no lower bound of it.
func TestKeptAll(t *testing.T) {
	for _, c := range []struct {
		trials []search.Trial
		want   bool
	}{
		{[]search.Trial{{Load: 4, Met: true}, {Load: 8, Met: true}}, true},
		{[]search.Trial{{Load: 4, Met: true}}, false},
		{[]search.Trial{{Load: 4, Met: true}, {Load: 8}, {Load: 8, Met: true}}, false},
		{nil, false},
	} {
		assert.Equal(t, keptAll(c.trials, 8), c.want, "%v", c.trials)
	}
}
