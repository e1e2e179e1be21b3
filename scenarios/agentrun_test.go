package scenarios

import (
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/router"
)

// TestSessionTime compares quantiles of the times of sessions with computed ones.
func TestSessionTime(t *testing.T) {
	for _, c := range []struct {
		took, cut []time.Duration
		failed    int
		want      float64 // the median; 0: none
	}{
		{[]time.Duration{4, 1, 2}, nil, 0, 2},
		{[]time.Duration{4, 1, 2, 3}, nil, 0, 2.5},
		{[]time.Duration{1, 2, 3}, nil, 2, 3},                         // the third of five, of which two never end
		{[]time.Duration{1, 2, 3}, nil, 3, 0},                         // between the third one and one that never ends
		{[]time.Duration{1, 3}, []time.Duration{2, 4}, 0, 3},          // 3/4 are left after 1, and 3/4 x 1/2 after 3
		{[]time.Duration{1, 2}, []time.Duration{3, 3, 3}, 0, 0},       // 3/5 are left after 2
		{[]time.Duration{1, 2, 5}, []time.Duration{2, 2}, 0, 5},       // one that is cut at 2 had not ended at 2: 3/5 are left after 2
		{[]time.Duration{1, 2, 3}, []time.Duration{10, 10, 10}, 0, 3}, // half of them
		{[]time.Duration{1, 2, 3}, []time.Duration{10, 10, 10}, 1, 0}, // 4/7 are left after 3
		{nil, []time.Duration{1, 2}, 0, 0},
	} {
		got, has := sessionTime(slices.Clone(c.took), slices.Clone(c.cut), c.failed, sample.P50)
		assert.Assert(t, got == c.want && has == (c.want > 0), "%+v: %v", c, got)
	}
}

// TestSessionWindow compares the figures of a load for a time with computed ones. In seconds, a time from 10 to 20 is measured:
//
//   - session 0 begins in its midst, with turn 1, at 5, and ends at 12
//   - session 1 begins in the warm-up at 8, and ends at 15
//   - session 2 has turns from 12 to 13 and from 14 to 16
//   - session 3 has a turn from 15 to 17 and the end of the time cuts it
//   - session 4 begins at 16, and its first turn fails at 17
func TestSessionWindow(t *testing.T) {
	graph := llmbench.Request{Then: []llmbench.Turn{{Think: time.Second, After: []int{0}}}}
	shape := sessionShape{slices.Repeat([]llmbench.Request{graph}, 5), slices.Repeat([][]int{{1, 2}}, 5), slices.Repeat([][]bool{{false, true}}, 5), 0.5, 3}
	turn := func(request, turn int, from, to time.Duration, outcome sample.Outcome) sample.Sample {
		s := sample.Sample{
			Request: request, Turn: turn, Due: from * time.Second, Start: from * time.Second, End: to * time.Second, From: 10 * time.Second, Until: 20 * time.Second,
			Outcome: outcome, Streamed: true, PromptTokens: 90, OutputTokens: 10,
		}
		if outcome == sample.OK {
			s.First, s.Last, s.Deltas = s.Start+time.Duration(1+turn)*time.Millisecond, s.End, 2
		}
		return s
	}
	figures := shape.figures(sample.All(
		turn(0, 1, 5, 12, sample.OK),
		turn(1, 0, 8, 9, sample.OK), turn(1, 1, 11, 15, sample.OK),
		turn(2, 0, 12, 13, sample.OK), turn(2, 1, 14, 16, sample.OK),
		turn(3, 0, 15, 17, sample.OK), turn(3, 1, 20, 20, sample.Left),
		turn(4, 0, 16, 17, sample.Timeout), turn(4, 1, 17, 17, sample.Canceled),
	))
	assert.DeepEqual(t, figures, map[string]float64{
		"session-fail-%": 100. / 3, "lost-turns": 1, "cut-sessions": 1, "recycled-sessions": 2, "turns/session": 2, "tok/session": 200, "out-tok/session": 20, "implied-hit-%": 50,
		"p50-session-ns":     4e9,                       // of one that took 4 s and one that had not ended after 5 s
		"mean-sessions":      (2 + 5 + 4 + 5 + 1) / 10., // within the time
		"mean-requests":      (2 + 4 + 1 + 2 + 2 + 1) / 10.,
		"p50-ttft-depth1-ns": 1e6, "p50-ttft-depth2-ns": 2e6, "p50-ttft-main-ns": 1e6, "p50-ttft-sub-ns": 2e6, "sub-req-%": 50, "sub-tok-%": 50,
		"p50-turn-late-ms": 500, // turn 1 of session 1 is a second late, and turn 1 of session 2 is not
	})
}

// TestWholeCopies checks that a load for a time has each session of a file equally often.
func TestWholeCopies(t *testing.T) {
	for _, c := range [][3]int{{6, 1, 6}, {6, 6, 6}, {6, 8, 12}, {6, 13, 18}, {1, 5, 5}} {
		assert.Equal(t, wholeCopies(c[0], c[1]), c[2], "%d sessions, %d users", c[0], c[1])
	}
}

// TestInterruptedSessions checks that a session whose turns an interrupt has cut has not failed, and counts until its last end.
func TestInterruptedSessions(t *testing.T) {
	graph := llmbench.Request{Then: []llmbench.Turn{{After: []int{0}}}}
	shape := sessionShape{slices.Repeat([]llmbench.Request{graph}, 3), slices.Repeat([][]int{{1, 2}}, 3), slices.Repeat([][]bool{{false, false}}, 3), 0, 3}
	turn := func(request, turn int, to time.Duration) sample.Sample {
		return sample.Sample{Request: request, Turn: turn, End: to * time.Second, Outcome: sample.OK}
	}
	figures := shape.figures(sample.All(turn(0, 0, 1), turn(1, 0, 1), turn(0, 1, 2), turn(2, 0, 3)))
	got := map[string]float64{}
	for _, unit := range []string{"session-fail-%", "lost-turns", "cut-sessions", "p50-session-ns"} {
		if v, has := figures[unit]; has {
			got[unit] = v
		}
	}
	assert.DeepEqual(t, got, map[string]float64{"session-fail-%": 0, "lost-turns": 0, "cut-sessions": 2, "p50-session-ns": 2e9})
}

// begun returns sessions of which the first session of each user begins in its midst.
func begun(t *testing.T, n, users int) benchdata.RecordedSessions {
	t.Helper()
	s := server{options: Options{Seed: 3}}
	all, err := s.loadSessions(benchdata.Sessions{Seed: 1}, n)
	assert.NilError(t, err)
	requests, err := s.begun(func(int) ([]llmbench.Request, error) { return slices.Clone(all.Requests), nil }, users)(0)
	assert.NilError(t, err)
	for i := range requests {
		assert.Assert(t, i < users || requests[i].Skip == 0)
	}
	all.Requests = requests
	return all
}

// TestBegunSessions checks that each turn of a session that begins in its midst finds as much in the cache of a simulated server
// as the same turn finds if the whole session is sent, with the cache as large as needed.
func TestBegunSessions(t *testing.T) {
	cached := func(requests []llmbench.Request) map[[2]int]int {
		all := map[[2]int]int{}
		virtual(t, mockserver.Config{Engine: &engine.Profile{Step: 1000, PrefillPerToken: 1, MaxBatch: 16, PrefixCache: true}}, func(t *testing.T, target llmbench.Target) {
			result, err := llmbench.Pass(t.Context(), "", target, llmbench.Load{Requests: requests, Concurrency: 6, ClientBound: llmbench.BoundReported})
			assert.NilError(t, err)
			defer result.Close()
			for s := range result.All() {
				assert.Equal(t, s.Outcome, sample.OK, "%v", s.Err)
				all[[2]int{s.Request, s.Turn}] = s.CachedTokens
			}
		})
		return all
	}
	all := begun(t, 6, 6)
	whole := slices.Clone(all.Requests)
	skipped := 0
	for i := range whole {
		skipped += whole[i].Skip
		whole[i].Skip = 0
	}
	assert.Assert(t, skipped > 10, "%d", skipped)
	want := cached(whole)
	got := cached(all.Requests)
	assert.Equal(t, len(got), len(want)-skipped)
	for turn, n := range got {
		assert.Equal(t, n, want[turn], "session %d, turn %d", turn[0], turn[1])
	}
}

// TestHandover plants a start burst: if the users begin at once after a warm-up that has ended, the 99th percentile of the TTFT is a multiple of
// what the same users have when the warm-up goes on into the measurement.
func TestHandover(t *testing.T) {
	const users = 24
	p99 := func(l llmbench.Load, requests []llmbench.Request) (ttft float64) {
		virtual(t, mockserver.Config{Engine: &engine.Profile{Step: 2000, PrefillPerToken: 100, MaxBatch: 64, PrefixCache: true}}, func(t *testing.T, target llmbench.Target) {
			l.Requests, l.Concurrency, l.Duration, l.CutSessions, l.ClientBound = requests, users, 10*time.Second, true, llmbench.BoundReported
			result, err := llmbench.Pass(t.Context(), "", target, l)
			assert.NilError(t, err)
			defer result.Close()
			ttft = sample.Summarize(result.All(), result.Elapsed, sample.SLO{}).Metrics[sample.P99TTFT]
		})
		return ttft
	}
	all := begun(t, 600, users).Requests
	cold := slices.Clone(all)
	for i := range cold {
		cold[i].Skip = 0
	}
	handed := p99(llmbench.Load{WarmupFor: 5 * time.Second}, all)
	burst := p99(llmbench.Load{Warmup: slices.Collect(firstTurns(begun(t, 700, users).Requests[650:]))}, cold)
	t.Logf("p99 of the TTFT: %v with a start burst, %v without: %.2f times as much", time.Duration(burst), time.Duration(handed), burst/handed)
	assert.Assert(t, burst > 1.2*handed)
}

// firstTurns returns the first turns of sessions.
func firstTurns(all []llmbench.Request) iter.Seq[llmbench.Request] {
	return func(yield func(llmbench.Request) bool) {
		for _, r := range all {
			if r.Then = nil; !yield(r) {
				return
			}
		}
	}
}

// TestSessionAffinity checks that a router that keeps the requests with the same X-Session-ID on one server sends each session to one server, and that
// the caches of the servers then have what one server would have.
func TestSessionAffinity(t *testing.T) {
	profile := engine.Profile{Step: 1000, PrefillPerToken: 1, MaxBatch: 16, PrefixCache: true}
	fleet, err := mockserver.NewFleet(mockserver.Config{Engine: &profile}, mockserver.Config{Engine: &profile}, mockserver.Config{Engine: &profile})
	assert.NilError(t, err)
	urls, stop, err := fleet.Listen("127.0.0.1:0")
	assert.NilError(t, err)
	defer stop(0)
	var mu sync.Mutex
	places := map[string]int{} // by session
	servers := make([]http.Handler, len(urls))
	for i, url := range urls {
		servers[i], err = router.New(&router.RoundRobin{}, url)
		assert.NilError(t, err)
	}
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("X-Session-ID")
		mu.Lock()
		place, known := places[id]
		if !known {
			place = len(places) % len(servers)
			places[id] = place
		}
		mu.Unlock()
		servers[place].ServeHTTP(w, r)
	})
	front := httptest.NewServer(h)
	defer front.Close()
	all, err := (server{}).loadSessions(benchdata.Sessions{Seed: 1}, 12)
	assert.NilError(t, err)
	for i := range all.Requests {
		all.Requests[i].Header = server{}.sessionHeader(5, i)
	}
	result, err := llmbench.Pass(t.Context(), "", llmbench.Target{URL: front.URL, Model: "mock"}, llmbench.Load{Requests: all.Requests, Concurrency: 4, ClientBound: llmbench.BoundReported})
	assert.NilError(t, err)
	defer result.Close()
	asked, cached := 0, 0
	for one := range result.All() {
		assert.Equal(t, one.Outcome, sample.OK, "%v", one.Err)
		asked, cached = asked+one.PromptTokens, cached+one.CachedTokens
	}
	assert.Equal(t, len(places), 12)
	assert.Equal(t, float64(cached)/float64(asked), all.ImpliedHits)
	named := server{target: llmbench.Target{Header: http.Header{"X-Session-Id": {"mine"}}}}
	assert.Equal(t, len(named.sessionHeader(5, 0)), 0)
}
