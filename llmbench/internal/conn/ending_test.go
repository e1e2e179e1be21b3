package conn

import (
	"context"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/testkit/runtest"
)

// TestLoss checks the conclusions from the end of a connection.
func TestLoss(t *testing.T) {
	const long = 300 * ms
	for _, tt := range []struct {
		name  string
		e     ending
		keeps bool // the server is known to keep connections
		want  loss
	}{
		{"the connection took nothing", ending{took: 0, acked: -1, reset: true, after: long, afterAnswer: long}, true, unreached},
		{"closed before", ending{took: 9, whole: true, acked: 0, after: long, afterAnswer: long}, true, unreached},
		{"reset, and nothing was acknowledged", ending{took: 9, whole: true, acked: 0, reset: true, after: long, afterAnswer: long}, true, unread},
		{"closed while the request was written", ending{took: 9, acked: 9, after: long, afterAnswer: long}, true, unread},
		{"closed at once", ending{took: 9, whole: true, acked: 9, after: 2 * ms, afterAnswer: long}, true, unread},
		{"reset at once", ending{took: 9, whole: true, acked: 9, reset: true, after: 2 * ms, afterAnswer: long}, true, unread},
		{"closed at once, far away", ending{took: 9, whole: true, acked: 9, after: 42 * ms, rtt: 40 * ms, afterAnswer: long}, true, unread},
		{"closed after 3 ms", ending{took: 9, whole: true, acked: 9, after: 3 * ms, afterAnswer: 3 * ms}, true, worked},
		{"closed after 3 ms, far away", ending{took: 9, whole: true, acked: 9, after: 43 * ms, rtt: 40 * ms, afterAnswer: long}, true, worked},
		{"closed after work", ending{took: 9, whole: true, acked: 9, after: long, afterAnswer: long}, true, worked},
		{"reset after work", ending{took: 9, whole: true, acked: 9, reset: true, after: long, afterAnswer: long}, true, worked},
		{"closed, the kernel tells nothing", ending{took: 9, whole: true, acked: -1, after: long, afterAnswer: long}, true, worked},
		{"closed at once, the kernel tells nothing", ending{took: 9, whole: true, acked: -1, after: 1 * ms, afterAnswer: long}, true, unread},
		{"soon after the first answer", ending{took: 9, whole: true, acked: 9, after: 90 * ms, afterAnswer: 100 * ms}, false, unread},
		{"later after the first answer", ending{took: 9, whole: true, acked: 9, after: 3 * ms, afterAnswer: 101 * ms}, false, worked},
		{"work after the first answer", ending{took: 9, whole: true, acked: 9, after: long, afterAnswer: long}, false, worked},
	} {
		assert.Equal(t, tt.e.loss(tt.keeps), tt.want, tt.name)
	}
}

// TestEndingOf checks a client that notices an end late. Its delay must not count if the kernel has a
// better instant.
func TestEndingOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &Conn{idleSince: time.Now(), opening: 7 * ms}
		c.wrote.Store(10)
		trace := &Trace{Clock: NewClock(WallClock)}
		time.Sleep(5 * ms) // of the fake clock
		trace.attach(c)
		c.wrote.Add(9)
		trace.Written = trace.now()
		time.Sleep(300 * ms)
		late := trace.now()
		whole := ending{took: 9, whole: true, acked: -1, after: 300 * ms, afterAnswer: 305 * ms, rtt: 7 * ms}
		reset := whole
		reset.reset = true
		assert.Equal(t, c.endingOf(io.EOF, nil, trace, late, nil), whole)
		assert.Equal(t, c.endingOf(io.ErrUnexpectedEOF, nil, trace, late, nil), whole)
		assert.Equal(t, c.endingOf(syscall.ECONNRESET, nil, trace, late, nil), reset)
		assert.Equal(t, c.endingOf(io.EOF, syscall.ECONNRESET, trace, late, nil), reset)
		assert.Equal(t, c.endingOf(io.EOF, syscall.EPIPE, trace, late, nil), whole)

		k := &lookBack{acked: 14, fin: 4 * ms, minRTT: 20 * ms}
		reset.acked, reset.rtt = 4, 40*ms
		assert.Equal(t, c.endingOf(syscall.ECONNRESET, nil, trace, late, k), reset)
		assert.Equal(t, c.endingOf(io.EOF, nil, trace, late, k), ending{took: 9, whole: true, acked: 4, after: 4 * ms, afterAnswer: 9 * ms, rtt: 40 * ms})
		k.fin = 304 * ms // including the error of the kernel's clock
		whole.acked, whole.rtt = 4, 40*ms
		assert.Equal(t, c.endingOf(io.EOF, nil, trace, late, k), whole)
		trace.Written = 0
		assert.Equal(t, c.endingOf(io.EOF, nil, trace, late, k).whole, false)
	})
}

// An idleConn always seems to be idle, like a connection whose end is still on its way.
type idleConn struct{ net.Conn }

// Pending reports an idle connection.
func (idleConn) Pending() (bool, error) { return false, nil }

// TestSend checks what happens to requests to a server that closes connections.
func TestSend(t *testing.T) {
	for _, tt := range []struct {
		name    string
		answers int           // number of answers on a connection
		reads   bool          // the server reads one more request before it closes the connection
		work    time.Duration // how long it processes that request
		hidden  bool          // the client cannot see that the connection ends while it is idle
		want    string        // for each of nine requests: '.' succeeds, 's' succeeds and was sent again, 'r' like 's' but it had reached the server, 'x' fails
		dialed  int
	}{
		{"keeps connections", 9, false, 0, false, ".........", 1},
		{"closes each after its answer", 1, false, 0, false, ".........", 9},
		{"closes each after its answer, unseen", 1, false, 0, true, ".s.......", 9},
		{"closes each when the next request is there", 1, true, 0, true, ".r.......", 9},
		{"closes each 50 ms after the next request", 1, true, 50 * ms, true, ".r.......", 9},
		{"closes each after work", 1, true, 300 * ms, true, ".x.x.x.x.", 5},
		{"closes every third, seen", 3, false, 0, false, ".........", 3},
		{"closes every third, unseen", 3, false, 0, true, "...s..s..", 3},
		{"closes every third when the next request is there", 3, true, 2 * ms, true, "...r..r..", 3},
		{"closes every third after work", 3, true, 3 * ms, true, "...x...x.", 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dialed := 0
				p := newPool(t, Options{URL: "http://server", Dial: func(context.Context, string, string) (net.Conn, error) {
					dialed++
					client, server := net.Pipe()
					ended := make(chan bool)
					go func() {
						defer close(ended)
						defer server.Close()
						runtest.EachRequest(server, func(c net.Conn, before int) bool {
							if before < tt.answers {
								answer(c)
								return before+1 < tt.answers || tt.reads
							}
							time.Sleep(tt.work)
							return false
						})
					}()
					if tt.hidden {
						return idleConn{client}, nil
					}
					return endingConn{client, ended}, nil
				}})
				got := ""
				for range 9 {
					req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://server", nil)
					assert.NilError(t, err)
					trace := &Trace{Clock: NewClock(WallClock)}
					resp, err := p.Send(req, trace)
					switch {
					case err != nil:
						assert.ErrorContains(t, err, "the server closed the connection before it answered")
						assert.Equal(t, trace.Attempts, 1)
						got += "x"
						continue
					case trace.Unread:
						got += "r"
					default:
						got += []string{".", "s"}[trace.Attempts-1]
					}
					body, err := io.ReadAll(resp.Body)
					assert.NilError(t, err)
					assert.NilError(t, resp.Body.Close())
					assert.Equal(t, string(body), "answer")
					synctest.Wait() // the server closes the connection, if it does so now
				}
				assert.Equal(t, got, tt.want)
				assert.Equal(t, dialed, tt.dialed)
				p.CloseIdle()
				synctest.Wait()
			})
		})
	}
}

// An endingConn is a connection whose end can be seen when ended is closed.
type endingConn struct {
	net.Conn
	ended chan bool
}

// Pending reports the end of the connection.
func (c endingConn) Pending() (bool, error) {
	select {
	case <-c.ended:
		return false, io.EOF
	default:
		return false, nil
	}
}
