package scenarios

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/search"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// limited starts a gateway in front of a simulated server. It refuses requests with the status 503, and without
// Retry-After, if as many as most are in flight, as a full queue of HAProxy, limit_conn of nginx and a circuit
// breaker of Envoy do.
func limited(t *testing.T, most int) llmbench.Target {
	target := backends.Mock{Config: &mockserver.Config{TTFT: 200 * time.Millisecond}}.Start(t)
	at, err := url.Parse(target.URL)
	assert.NilError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(at)
	proxy.FlushInterval = -1
	room := make(chan struct{}, most)
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case room <- struct{}{}:
			defer func() { <-room }()
			proxy.ServeHTTP(w, r)
		default:
			http.Error(w, "<html>503 Service Unavailable</html>", http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(gateway.Close)
	target.URL = gateway.URL
	return target
}

// TestCapacityOfLimited checks that the capacity of a server that refuses requests is the rate of about as many
// users as it serves, and that a refusal with an unusual status is a failure that says how to make it none.
func TestCapacityOfLimited(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status []int
		limit  int
		want   string // in the error; "" means that there is a capacity
		fewer  bool   // fewer users than 16 have the capacity
	}{
		{"the status is not named", nil, 4, "LLMBENCH_SHED_STATUS=429,503,529", false},
		{"few at once", []int{429, 503}, 3, "", true},
		{"all at once", []int{429, 503}, 16, "", false},
		{"none", []int{429, 503}, 0, "cannot judge: there is no capacity: of the 4 requests of a closed loop at concurrency 1, 0 were served and 4 shed", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			target := limited(t, tt.limit)
			target.ShedStatus = tt.status
			s := server{target: target, counter: counter{tokens: tokenizer.Words{}}}
			drawn := map[int]int{} // number of closed loops by their users
			draw := func(n int, seed uint64) ([]llmbench.Request, error) {
				drawn[n/4]++
				return s.drawPrompts(8, 32)(n, seed)
			}
			var c saturation
			var err error
			testing.Benchmark(func(b *testing.B) {
				if len(drawn) == 0 { // testing.Benchmark calls this function again, with a larger b.N
					c, err = s.saturate(b, 16, draw)
				}
			})
			if tt.want != "" {
				assert.ErrorContains(t, err, tt.want)
				assert.Equal(t, errors.Is(err, search.ErrCannotJudge), tt.status != nil)
				return
			}
			assert.NilError(t, err)
			assert.Assert(t, c.rate > 0)
			assert.Equal(t, len(drawn) > 1, tt.fewer, "%v", drawn)
			assert.Assert(t, len(drawn) <= 8, "%v", drawn)
		})
	}
}
