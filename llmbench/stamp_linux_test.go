package llmbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// stampedPair returns a connection's stamped end, and the other.
func stampedPair(tb testing.TB) (*conn, *net.TCPConn) {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(tb, err)
	defer ln.Close()
	client, err := net.Dial("tcp", ln.Addr().String())
	assert.NilError(tb, err)
	server, err := ln.Accept()
	assert.NilError(tb, err)
	c := new(pool).adopt(client)
	assert.Assert(tb, c.kernel != nil, "the kernel gives no stamps")
	tb.Cleanup(func() { c.Close(); server.Close() })
	// The kernel begins to stamp a moment after it was asked for the first time.
	for range 5000 {
		_, err := server.Write([]byte{0})
		assert.NilError(tb, err)
		_, err = c.Read(make([]byte, 1))
		assert.NilError(tb, err)
		if c.stamp != 0 {
			return c, server.(*net.TCPConn)
		}
		time.Sleep(ms)
	}
	tb.Fatal("no read has a stamp")
	panic("not reached")
}

// TestStampIsOfTheArrival checks that a stamp is of when bytes came, not of when
// they were read, and that it is of the last of them.
func TestStampIsOfTheArrival(t *testing.T) {
	c, server := stampedPair(t)
	write := func() (before, after int64) {
		before = wallClock()
		_, err := server.Write([]byte("token"))
		assert.NilError(t, err)
		return before, wallClock() // over loopback it has come when Write returns
	}
	p := make([]byte, 64)
	before, after := write()
	n, err := io.ReadFull(c, p[:5])
	assert.NilError(t, err)
	assert.Equal(t, n, 5)
	if stamp := c.stamp; stamp < before || stamp > after {
		t.Errorf("the stamp is %d ns after the write began, and it took %d", stamp-before, after-before)
	}
	write()
	before, after = write()
	n, err = io.ReadFull(c, p[:10])
	assert.NilError(t, err)
	assert.Equal(t, n, 10)
	if stamp := c.stamp; stamp < before || stamp > after {
		t.Errorf("the stamp of two writes is %d ns after the second began, and it took %d", stamp-before, after-before)
	}
}

// TestStampedReadEnds checks that a read ends as that of any connection does.
func TestStampedReadEnds(t *testing.T) {
	p := make([]byte, 8)
	for _, tt := range []struct {
		name string
		end  func(c *conn, server *net.TCPConn)
		want error
	}{
		{"deadline", func(c *conn, _ *net.TCPConn) { c.SetReadDeadline(time.Now().Add(20 * ms)) }, os.ErrDeadlineExceeded},
		{"close", func(c *conn, _ *net.TCPConn) { c.Close() }, net.ErrClosed},
		{"end of the stream", func(_ *conn, server *net.TCPConn) { server.CloseWrite() }, io.EOF},
		{"reset", func(_ *conn, server *net.TCPConn) { server.SetLinger(0); server.Close() }, syscall.ECONNRESET},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, server := stampedPair(t)
			n, err := c.Read(nil)
			assert.Assert(t, n == 0 && err == nil, "Read(nil) = %d, %v", n, err)
			before := c.stamp
			var wg sync.WaitGroup
			wg.Go(func() { tt.end(c, server) })
			n, err = c.Read(p)
			wg.Wait()
			if n != 0 || !errors.Is(err, tt.want) {
				t.Errorf("Read = %d, %v; want 0, %v", n, err, tt.want)
			}
			if op, ok := errors.AsType[*net.OpError](err); tt.want != io.EOF && (!ok || op.Op != "read" || op.Addr == nil) {
				t.Errorf("Read's error is %#v, want a net.OpError as of any connection", err)
			}
			assert.Equal(t, c.stamp, before)
		})
	}
}

// TestStampedReadAllocatesNothing is about what every chunk costs.
func TestStampedReadAllocatesNothing(t *testing.T) {
	c, server := stampedPair(t)
	p := make([]byte, 8)
	got := testing.AllocsPerRun(100, func() {
		server.Write(p)
		c.Read(p)
	})
	assert.Equal(t, got, 0.0)
}

// TestKernelClock checks that passes over TCP are on the kernel's clock, with and
// without TLS.
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
			samples := stampedPass(t, server, Load{Requests: words(8, 10), Concurrency: 4, NoStream: !stream})
			for _, s := range samples {
				assert.NilError(t, s.Err)
				assert.Equal(t, s.Clock, sample.KernelClock, "tls=%t, stream=%t", secure, stream)
				assert.Equal(t, len(s.Lags), s.Deltas)
				assert.Assert(t, s.Admitted <= s.Start && s.Start <= s.FirstByte && s.FirstByte <= s.End, "%+v", s)
				assert.Equal(t, s.Due, s.Start)
				for i, lag := range append(s.Lags, s.FirstByteLag, s.EndLag) {
					assert.Assert(t, lag > -sample.ClockError, "lag %d is %v: read before it came", i, lag)
				}
			}
		}
	}
}

// TestWallClockSet checks that a pass in which the wall clock was set is on the
// user clock.
func TestWallClockSet(t *testing.T) {
	srv, err := mockserver.New(mockserver.Config{})
	assert.NilError(t, err)
	server := httptest.NewServer(srv)
	defer server.Close()
	c, l, posts, err := ready(Target{URL: server.URL}, Load{Requests: words(4, 3), Concurrency: 1})
	assert.NilError(t, err)
	defer c.close()
	c.control, err = newControl(0)
	assert.NilError(t, err)
	defer c.control.close()
	calls := 0
	c.wall = func() int64 {
		if calls++; calls > 32 { // those that started the clock
			return wallClock() + int64(time.Minute)
		}
		return wallClock()
	}
	samples, err := c.pass(t.Context(), l, posts)
	assert.NilError(t, err)
	assert.Assert(t, (c.clockSet-time.Minute).Abs() < sample.ClockError, "set by %v", c.clockSet)
	assert.Assert(t, len(c.control.offs.ttft) > 0 && c.offs.ttft == nil, "the control's errors are of stamps, too")
	for _, s := range samples {
		assert.NilError(t, s.Err)
		assert.Equal(t, s.Clock, sample.UserClock)
		assert.Assert(t, s.Lags == nil)
	}
}

// stampedPass sends l to a server once the kernel stamps what comes from it.
func stampedPass(tb testing.TB, server *httptest.Server, l Load) []sample.Sample {
	tb.Helper()
	stampedPair(tb)
	c, checked, posts, err := ready(Target{URL: server.URL}, l)
	assert.NilError(tb, err)
	defer c.close()
	if server.TLS != nil {
		c.pool.roots = server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	}
	samples, err := c.pass(context.Background(), checked, posts)
	assert.NilError(tb, err)
	return samples
}

// TestEndOfChunks checks that the end of a chunked body is when its last chunk came,
// which is a write of its own: not when the bytes before it did.
func TestEndOfChunks(t *testing.T) {
	stampedPair(t)
	var ends []int64 // no earlier than these
	target, _ := asked(t, func(c net.Conn, _ int) bool {
		const body = `{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}`
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(body), body)
		<-time.After(20 * ms) // in which the client reads that
		ends = append(ends, wallClock())
		io.WriteString(c, "0\r\n\r\n")
		return true
	})
	for i, s := range onePass(t, target, Load{Requests: words(3, 4), Concurrency: 1, NoStream: true}) {
		assert.NilError(t, s.Err)
		assert.Equal(t, s.Clock, sample.KernelClock)
		assert.Assert(t, s.EndLag != 0)
		early := ends[i] - s.Epoch.Add(s.End).UnixNano()
		assert.Assert(t, early < int64(sample.ClockError), "the body ended %v before its last chunk was written", time.Duration(early))
	}
}

// TestStampsOutOfOrder checks that a stamp before the newest one is none, and that an
// answer in whose time segments came out of their order is on the user's clock: those
// behind one that is lost have the stamps of when they came, not of when they could
// be read.
func TestStampsOutOfOrder(t *testing.T) {
	var c conn
	var got []int64
	for _, stamp := range []int64{5, 7, 6, 7, 0, 9} {
		got = append(got, c.inOrder(stamp))
	}
	assert.DeepEqual(t, got, []int64{5, 7, 0, 7, 0, 9})

	srv, err := mockserver.New(mockserver.Config{})
	assert.NilError(t, err)
	server := httptest.NewServer(srv)
	defer server.Close()
	stampedPair(t)
	cl, l, posts, err := ready(Target{URL: server.URL}, Load{Requests: words(3, 4), Concurrency: 1})
	assert.NilError(t, err)
	defer cl.close()
	cl.pool.prepare(t.Context(), 1)
	counts := []int64{0, 0, 0, 2, 2, 2} // at the beginning and the end of each
	cl.pool.idle[0].strays = func() (int64, bool) {
		n := counts[0]
		if len(counts) > 1 { // the close asks, too
			counts = counts[1:]
		}
		return n, true
	}
	samples, err := cl.pass(t.Context(), l, posts)
	assert.NilError(t, err)
	var clocks []sample.Clock
	for _, s := range samples {
		assert.NilError(t, s.Err)
		clocks = append(clocks, s.Clock)
	}
	assert.DeepEqual(t, clocks, []sample.Clock{sample.KernelClock, sample.UserClock, sample.KernelClock})
}

// TestStrays checks that the kernel is asked, and that a closed connection keeps its
// count.
func TestStrays(t *testing.T) {
	c, _ := stampedPair(t)
	n, ok := c.kernel.strays()
	assert.Assert(t, ok && n == 0, "%d, %t", n, ok)
	c.strays = c.kernel.strays
	c.Close()
	_, ok = c.kernel.strays()
	assert.Assert(t, !ok)
	assert.Equal(t, c.countStrays(), int64(0))
}
