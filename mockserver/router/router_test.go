package router_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
	"github.com/seed-2b9cec6d/llmbench/mockserver/router"
)

// start starts a fleet behind a router, and returns the URL of the router.
func start(t *testing.T, p router.Policy, replicas ...mockserver.Config) (*mockserver.Fleet, string) {
	t.Helper()
	f, err := mockserver.NewFleet(replicas...)
	assert.NilError(t, err)
	urls, stop, err := f.Listen("127.0.0.1:0")
	assert.NilError(t, err)
	t.Cleanup(func() { stop(0) })
	r, err := router.New(p, urls...)
	assert.NilError(t, err)
	front := httptest.NewServer(r)
	t.Cleanup(front.Close)
	return f, front.URL
}

// post sends a completion and returns its status. The error is about an answer that is cut off.
func post(t *testing.T, url, body string) (int, error) {
	t.Helper()
	resp, err := http.Post(url+"/v1/completions", "application/json", strings.NewReader(body))
	assert.NilError(t, err)
	defer resp.Body.Close()
	_, err = io.ReadAll(resp.Body)
	return resp.StatusCode, err
}

// trace returns twelve prompts of 48 tokens: the prefixes a, b, c, a, b, c and so on of 32 tokens, and 16
// tokens of their own.
func trace() (bodies []string) {
	for i := range 12 {
		prefix, own := string(rune('a'+i%3)), fmt.Sprintf("own%d", i)
		prompt := strings.Repeat("prefix-"+prefix+" ", 32) + strings.Repeat(own+" ", 16)
		bodies = append(bodies, fmt.Sprintf(`{"prompt":%q,"max_tokens":1}`, prompt))
	}
	return bodies
}

// caching returns n replicas with a prefix cache of blocks of 16 tokens.
func caching(n int) (all []mockserver.Config) {
	for range n {
		all = append(all, mockserver.Config{Engine: &engine.Profile{MaxBatch: 4, PrefixCache: true}})
	}
	return all
}

// TestKnownHitRates sends the trace to two replicas, one request after the other. The hit rates were
// computed by hand.
//
// Round robin sends the prefixes a b c a b c … to the replicas 1 2 1 2 1 2 …, so each replica gets each
// prefix twice, and the first time it is a miss: 6 misses and 6 hits of 32 tokens, of 12 x 48 tokens. So
// does least queue, because no request is unfinished when the next one comes. Prefix hash sends a prefix
// to one replica: 3 misses and 9 hits. Prefix hash finds a
// sixth of all tokens more: 96 of 576.
func TestKnownHitRates(t *testing.T) {
	const roundRobin, prefixHash = 6 * 32 / (12 * 48.), 9 * 32 / (12 * 48.)
	for name, want := range map[string]float64{"round-robin": roundRobin, "least-queue": roundRobin, "prefix-hash": prefixHash} {
		f, url := start(t, router.Policies()[name], caching(2)...)
		for _, body := range trace() {
			status, err := post(t, url, body)
			assert.NilError(t, err)
			assert.Equal(t, status, http.StatusOK)
		}
		all := f.Usage()
		sum := all[0].Plus(all[1])
		assert.Equal(t, sum.Requests, 12)
		assert.Equal(t, sum.HitRate(), want, name)
		if name != "prefix-hash" {
			assert.Equal(t, mockserver.Imbalance(all), 1.0, name)
			for _, u := range all {
				assert.Equal(t, u.HitRate(), want, name)
			}
		}
		if name == "prefix-hash" { // a prefix has four requests
			assert.Equal(t, all[0].Requests%4, 0, "%+v", all)
		}
	}
}

// TestKnownLosses sends twelve requests to four replicas in turn. Replica 2 is always full. Replica 3 dies
// with its second request, and its third comes too late. So three requests are refused, one is lost in the
// middle, and one reaches a dead replica. The lost one ended a kept connection without an answer, so the router sends
// it again, to the dead replica.
func TestKnownLosses(t *testing.T) {
	replicas := caching(4)
	replicas[1].Faults = []fault.Fault{{Kind: fault.HTTP503, Every: 1}}
	replicas[2].Faults = []fault.Fault{{Kind: fault.Die, Every: 2}}
	f, url := start(t, &router.RoundRobin{}, replicas...)
	count := map[int]int{}
	for _, body := range trace() {
		status, err := post(t, url, body)
		assert.NilError(t, err)
		count[status]++
	}
	assert.DeepEqual(t, count, map[int]int{200: 7, 503: 3, 502: 2})
	var requests, full, dead []int
	for _, u := range f.Usage() {
		requests, full, dead = append(requests, u.Requests), append(full, u.Full), append(dead, u.Dead)
	}
	assert.DeepEqual(t, requests, []int{3, 3, 4, 3})
	assert.DeepEqual(t, full, []int{0, 3, 0, 0})
	assert.DeepEqual(t, dead, []int{0, 0, 2, 0})
}

// TestLeastQueueAvoidsSlowReplica holds one request open at the first replica. The others go to the second
// one, one after the other.
func TestLeastQueueAvoidsSlowReplica(t *testing.T) {
	slow, fast := mockserver.Config{Faults: []fault.Fault{{Kind: fault.Stall, Every: 1, At: 1}}}, mockserver.Config{}
	f, url := start(t, &router.LeastQueue{}, slow, fast)
	stalled, err := http.Post(url+"/v1/completions", "application/json", strings.NewReader(`{"prompt":"a","max_tokens":2,"stream":true}`))
	assert.NilError(t, err)
	t.Cleanup(func() { stalled.Body.Close() })
	for range 5 {
		status, err := post(t, url, `{"prompt":"a","max_tokens":1}`)
		assert.NilError(t, err)
		assert.Equal(t, status, http.StatusOK)
	}
	assert.Equal(t, f.Usage()[1].Requests, 5)
}

// TestNoAnswerIsLost sends requests at 64 streams to replicas that answer at once. An answer that begins
// before the router has read the end of the request would be cut off by a router that does not read the
// body first.
func TestNoAnswerIsLost(t *testing.T) {
	_, url := start(t, &router.RoundRobin{}, mockserver.Config{}, mockserver.Config{})
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: time.Minute}
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for range 20 {
				resp, err := client.Post(url+"/v1/completions", "application/json", strings.NewReader(`{"prompt":"a b c","max_tokens":3,"stream":true}`))
				if err != nil {
					t.Error(err)
					return
				}
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || !strings.HasSuffix(string(body), "data: [DONE]\n\n") {
					t.Errorf("status %d, %v, %q", resp.StatusCode, err, body)
				}
			}
		})
	}
	wg.Wait()
	client.CloseIdleConnections()
}

func TestNew(t *testing.T) {
	for _, urls := range [][]string{nil, {"127.0.0.1:8000"}, {"http://a", "/b"}} {
		_, err := router.New(&router.RoundRobin{}, urls...)
		assert.ErrorContains(t, err, "router: ")
	}
}
