package llmbench

import (
	"context"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// A mortal server answers like a mock server. After the number of requests in dies, it refuses new connections for the
// time in down, and sends nothing more on the open ones, as vLLM does after SIGTERM. The header of an answer still comes.
type mortal struct {
	mock   http.Handler
	dies   int64 // 0: never
	down   time.Duration
	status int // if not 0, the server does not refuse connections while it is down, but answers with this status
	seen   atomic.Int64
	until  atomic.Int64 // end of the time in which it is down, in nanoseconds since 1970; 0 before
}

func (m *mortal) isDown() bool { return time.Now().UnixNano() < m.until.Load() }

func (m *mortal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch n := m.seen.Add(1); {
	case n == m.dies:
		m.until.Store(time.Now().Add(m.down).UnixNano())
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	case m.isDown() && m.status != 0:
		http.Error(w, "no server", m.status)
	case m.isDown():
		panic(http.ErrAbortHandler)
	default:
		m.mock.ServeHTTP(w, r)
	}
}

// start serves m in memory. The caller must call stop.
func (m *mortal) start(t *testing.T) (target Target, stop func()) {
	target, stop = inMemory(t, m)
	target.Simulated = true
	dial := target.Dial
	target.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if m.isDown() && m.status == 0 {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
		}
		return dial(ctx, network, addr)
	}
	return target, stop
}

// TestServerIsGone checks when a pass ends whose server has gone away, or seems to, and how its requests ended. Every
// request may take an hour.
func TestServerIsGone(t *testing.T) {
	mock, err := mockserver.New(mockserver.Config{})
	assert.NilError(t, err)
	slow, err := mockserver.New(mockserver.Config{TTFT: 5 * time.Minute})
	assert.NilError(t, err)
	const forever = 24 * time.Hour
	for _, c := range []struct {
		name   string
		server *mortal
		load   Load
		least  time.Duration // of the pass
		most   time.Duration
		want   map[sample.Outcome]int
		why    string // of the requests that were given up
	}{
		{"one user", &mortal{mock: mock, dies: 3, down: forever}, Load{Concurrency: 1}, 10 * time.Second, 15 * time.Second,
			map[sample.Outcome]int{sample.OK: 2, sample.Canceled: 38}, "the server is gone: nothing listens at mem, and no answer had a byte for 12s"},
		{"several users", &mortal{mock: mock, dies: 6, down: forever}, Load{Concurrency: 4}, 10 * time.Second, 15 * time.Second,
			map[sample.Outcome]int{sample.OK: 5, sample.Canceled: 1, sample.Connect: 34}, "the server is gone: nothing listens at mem, and no answer had a byte for 12s"},
		{"open loop", &mortal{mock: mock, dies: 3, down: forever}, Load{Arrivals: arrivals.Constant{Rate: 2}}, 10 * time.Second, 15 * time.Second,
			nil, "the server is gone: nothing listens at mem, and no answer had a byte for 12s"},
		{"tolerated, and back in time", &mortal{mock: mock, dies: 3, down: 12 * time.Second}, Load{Arrivals: arrivals.Constant{Rate: 2}, MaxFail: 0.8, Timeout: time.Minute}, 20 * time.Second, 2 * time.Minute,
			nil, ""},
		{"behind a gateway", &mortal{mock: mock, dies: 6, down: forever, status: 502}, Load{Concurrency: 4}, 30 * time.Second, 40 * time.Second,
			map[sample.Outcome]int{sample.OK: 5, sample.Canceled: 1, sample.HTTP: 34}, "given up: 34 requests had failed, which is more than are tolerated, and no answer had a byte for 30s"},
		{"slow", &mortal{mock: slow}, Load{Concurrency: 40}, 5 * time.Minute, 6 * time.Minute,
			map[sample.Outcome]int{sample.OK: 40}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				target, stop := c.server.start(t)
				defer stop()
				l := c.load
				l.Requests = words(40, 4)
				if l.Timeout == 0 {
					l.Timeout = time.Hour
				}
				began := time.Now()
				samples, err := tryPass(t, t.Context(), target, l)
				took := time.Since(began)
				assert.NilError(t, err)
				assert.Assert(t, took >= c.least && took < c.most, "the pass took %v", took)
				got := map[sample.Outcome]int{}
				for _, s := range samples {
					got[s.Outcome]++
					if s.Outcome == sample.Canceled {
						assert.ErrorContains(t, s.Err, c.why)
						assert.Assert(t, c.why != "")
					}
				}
				if c.want != nil {
					assert.DeepEqual(t, got, c.want)
				}
			})
		})
	}
}
