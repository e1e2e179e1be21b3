package llmbench

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/control"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/testkit/runtest"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// awaitStamps waits until the kernel timestamps received data. The kernel begins to do so a moment after a
// socket first asks for timestamps. One such socket stays open until tb ends, so that the kernel continues.
func awaitStamps(tb testing.TB) {
	tb.Helper()
	target, _ := countingServer(tb, func(c net.Conn, _ int) bool {
		reply200(c)
		return true
	})
	c, l, pl, err := prepared(target, Load{Requests: words(1, 1), Concurrency: 1})
	assert.NilError(tb, err)
	tb.Cleanup(c.Close)
	w := testWorker(c, l)
	runtest.Until(tb, "an answer has kernel timestamps", func() bool {
		s := w.Do(context.Background(), pl.build(0), 0, false)
		assert.NilError(tb, s.Err)
		return s.Clock == sample.KernelClock
	})
}

// TestKernelClock checks that samples use the kernel's clock over TCP, with and without TLS. On a busy
// machine, segments on the loopback interface may arrive out of order, and a sample then uses the client's
// clock. Therefore only one request of a pass must use the kernel's clock.
func TestKernelClock(t *testing.T) {
	srv, err := mockserver.New(mockserver.Config{PerToken: ms})
	assert.NilError(t, err)
	for _, secure := range []bool{false, true} {
		for _, stream := range []bool{true, false} {
			server := httptest.NewUnstartedServer(srv)
			if secure {
				server.StartTLS()
			} else {
				server.Start()
			}
			defer server.Close()
			stamped := 0
			for _, s := range stampedPass(t, server, Load{Requests: words(8, 10), Concurrency: 4, NoStream: !stream}) {
				assert.NilError(t, s.Err)
				if s.Clock != sample.KernelClock {
					continue
				}
				stamped++
				assert.Equal(t, len(s.Lags), s.Deltas)
				assert.Assert(t, s.Admitted <= s.Start && s.Start-sample.ClockError <= s.FirstByte && s.FirstByte <= s.End, "%+v", s)
				assert.Equal(t, s.Due, s.Start)
				for i, lag := range append(s.Lags, s.FirstByteLag, s.EndLag) {
					assert.Assert(t, lag >= 0, "lag %d is %v: read before it arrived", i, lag)
				}
			}
			assert.Assert(t, stamped > 0, "no request is on the kernel's clock: tls=%t, stream=%t", secure, stream)
		}
	}
}

// stampedPass makes a pass after awaitStamps.
func stampedPass(tb testing.TB, server *httptest.Server, l Load) []sample.Sample {
	tb.Helper()
	awaitStamps(tb)
	c, checked, pl, err := prepared(Target{URL: server.URL, TLS: trusted(server)}, l)
	assert.NilError(tb, err)
	defer c.Close()
	samples, err := sendPass(context.Background(), c, checked, pl)
	assert.NilError(tb, err)
	return samples
}

// TestControlWhereNeeded checks that control streams are sent if and only if the kernel gives no
// timestamps.
func TestControlWhereNeeded(t *testing.T) {
	srv, err := mockserver.New(mockserver.Config{})
	assert.NilError(t, err)
	server := httptest.NewServer(srv)
	defer server.Close()
	wrapped := func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, addr)
		return struct{ net.Conn }{c}, err
	}
	for _, target := range []Target{{URL: server.URL}, {URL: server.URL, Dial: wrapped}} {
		c, l, pl, err := prepared(target, Load{Requests: words(4, 3), Concurrency: 1})
		assert.NilError(t, err)
		defer c.Close()
		k, err := control.New(0, false)
		assert.NilError(t, err)
		defer k.Close()
		p := pl.pass(process.Join("test").Part(), l)
		p.With, p.Beside, p.Keep = process.Join("test"), k, func(*sample.Sample, bool) error { return nil }
		_, _, err = c.Pass(t.Context(), p)
		assert.NilError(t, err)
		assert.Equal(t, k.Errors().Streams > 0, target.Dial != nil)
	}
}

// TestMergedDeltas checks that deltas are marked as merged if they arrived in different segments and were
// read together. Deltas of one segment must not be marked. The server does not pause, so that the client
// sometimes reads several segments at once. A segment that the kernel sent again, as happens on a busy
// machine, counts twice.
func TestMergedDeltas(t *testing.T) {
	const token = `data: {"choices":[{"index":0,"delta":{"content":" a"}}]}` + "\n\n"
	const last = `data: {"choices":[{"index":0,"delta":{"content":" b"},"finish_reason":"stop"}]}` + "\n\n" + "data: [DONE]\n\n"
	awaitStamps(t)
	for _, together := range []bool{true, false} {
		target, _ := countingServer(t, func(c net.Conn, _ int) bool {
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n", 9*len(token)+len(last))
			if together {
				io.WriteString(c, strings.Repeat(token, 9)+last)
				return true
			}
			for range 9 {
				io.WriteString(c, token)
			}
			io.WriteString(c, last)
			return true
		})
		c, l, pl, err := prepared(target, Load{Requests: words(1, 10), Concurrency: 1})
		assert.NilError(t, err)
		defer c.Close()
		w := testWorker(c, l)
		runtest.Until(t, fmt.Sprintf("a sample with merged deltas, or without if together=%t", together), func() bool {
			s := w.Do(t.Context(), pl.build(0), 0, false)
			assert.NilError(t, s.Err)
			assert.NilError(t, s.Check())
			assert.Equal(t, s.Deltas, 10)
			for _, m := range s.Merged {
				at := s.First
				for i, gap := range s.Gaps[:m.Delta+m.Deltas-1] {
					if at += gap; i+1 > m.Delta {
						assert.Equal(t, gap, time.Duration(0), "deltas of one read")
					}
				}
				assert.Assert(t, s.Start <= m.Since && m.Since <= at+sample.ClockError, "since %v, at %v", m.Since, at)
			}
			return (s.Clock == sample.KernelClock) && (len(s.Merged) > 0) != together
		})
	}
}
