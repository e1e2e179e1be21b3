package conn

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/testkit/runtest"
)

// stampedPair returns both ends of a connection: the client's, whose reads have
// timestamps, and the server's.
func stampedPair(tb testing.TB) (*Conn, *net.TCPConn) {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(tb, err)
	defer ln.Close()
	client, err := net.Dial("tcp", ln.Addr().String())
	assert.NilError(tb, err)
	server, err := ln.Accept()
	assert.NilError(tb, err)
	c := newConn(client, 0, func() {})
	assert.Assert(tb, c.kernel != nil, "the kernel gives no timestamps")
	tb.Cleanup(func() { c.Close(); server.Close() })
	// The kernel begins to provide timestamps a moment after a process first asks for them.
	runtest.Until(tb, "a read has a timestamp", func() bool {
		_, err := server.Write([]byte{0})
		assert.NilError(tb, err)
		_, err = c.Read(make([]byte, 1))
		assert.NilError(tb, err)
		return c.stamp != 0
	})
	return c, server.(*net.TCPConn)
}

// TestStampIsArrival checks that the timestamp of a read is when its last bytes arrived,
// not when they were read.
func TestStampIsArrival(t *testing.T) {
	c, server := stampedPair(t)
	write := func() (before, after int64) {
		before = WallClock()
		_, err := server.Write([]byte("token"))
		assert.NilError(t, err)
		return before, WallClock() // over loopback the bytes have arrived when Write returns
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

// TestStampedReadEnds checks that a read ends with the same errors as a read of any other
// connection.
func TestStampedReadEnds(t *testing.T) {
	p := make([]byte, 8)
	for _, tt := range []struct {
		name string
		end  func(c *Conn, server *net.TCPConn)
		want error
	}{
		{"deadline", func(c *Conn, _ *net.TCPConn) { c.SetReadDeadline(time.Now().Add(20 * ms)) }, os.ErrDeadlineExceeded},
		{"close", func(c *Conn, _ *net.TCPConn) { c.Close() }, net.ErrClosed},
		{"end of the stream", func(_ *Conn, server *net.TCPConn) { server.CloseWrite() }, io.EOF},
		{"reset", func(_ *Conn, server *net.TCPConn) { server.SetLinger(0); server.Close() }, syscall.ECONNRESET},
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

// TestStampedReadAllocatesNothing checks that a read allocates nothing.
func TestStampedReadAllocatesNothing(t *testing.T) {
	c, server := stampedPair(t)
	p := make([]byte, 8)
	got := testing.AllocsPerRun(100, func() {
		server.Write(p)
		c.Read(p)
	})
	assert.Equal(t, got, 0.0)
}

// TestEndOfChunks checks that the end of a chunked body has the instant at which its last chunk arrived,
// and not the instant of the bytes before it.
func TestEndOfChunks(t *testing.T) {
	c, server := stampedPair(t)
	c.setStream(c)
	trace := &Trace{Clock: NewClock(WallClock)}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://server", strings.NewReader("question"))
	assert.NilError(t, err)
	fmt.Fprint(server, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nanswer\r\n")
	resp, err := c.exchange(req, trace)
	assert.NilError(t, err)
	var r Reader
	r.Reset(resp.Body, trace)
	_, err = io.ReadFull(&r, make([]byte, len("answer")))
	assert.NilError(t, err)
	data := r.Data
	before := WallClock()
	io.WriteString(server, "0\r\n\r\n")
	n, err := r.Read(make([]byte, 1))
	assert.Assert(t, n == 0 && err == io.EOF, "%d, %v", n, err)
	assert.Equal(t, r.Data, data)
	assert.Assert(t, r.End.Stamp >= before && data.Stamp < before, "data at %d, end at %d; the last chunk was written after %d", data.Stamp, r.End.Stamp, before)
}

// TestStampsOutOfOrder checks that a timestamp before the newest one is dropped.
func TestStampsOutOfOrder(t *testing.T) {
	var c Conn
	var got []int64
	for _, stamp := range []int64{5, 7, 6, 7, 0, 9} {
		got = append(got, c.inOrder(stamp))
	}
	assert.DeepEqual(t, got, []int64{5, 7, 0, 7, 0, 9})
}

// TestReordered checks that a Trace reports segments that arrive out of order during its request, and no
// others. A closed connection keeps its count.
func TestReordered(t *testing.T) {
	c, _ := stampedPair(t)
	n, ok := c.kernel.outOfOrder()
	assert.Assert(t, ok && n == 0, "%d, %t", n, ok)
	n = 3 // before the request
	c.outOfOrder = func() (int64, bool) { return n, true }
	var trace Trace
	assert.Assert(t, !trace.Reordered(), "no connection")
	trace.attach(c)
	assert.Assert(t, !trace.Reordered())
	n = 4
	assert.Assert(t, trace.Reordered())
	c.Close()
	_, ok = c.kernel.outOfOrder()
	assert.Assert(t, !ok)
	c.outOfOrder = c.kernel.outOfOrder
	assert.Equal(t, c.reorderedSegments(), int64(4))
}

// lost sends a request on c that gets no answer, and returns how c ended.
func lost(t *testing.T, c *Conn, size int) ending {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://server", strings.NewReader(strings.Repeat("a", size)))
	assert.NilError(t, err)
	_, err = c.exchange(req, &Trace{Clock: NewClock(WallClock)})
	assert.Assert(t, err != nil)
	return c.ending
}

// usedPair is like stampedPair, for a connection on which the server has acknowledged an earlier request.
func usedPair(t *testing.T) (*Conn, *net.TCPConn) {
	t.Helper()
	c, server := stampedPair(t)
	c.setStream(c)
	_, err := io.WriteString(c, "an earlier request")
	assert.NilError(t, err)
	_, err = io.ReadFull(server, make([]byte, len("an earlier request")))
	assert.NilError(t, err)
	runtest.Until(t, "the earlier request is acknowledged", func() bool { return c.lookBack().acked == c.wrote.Load() })
	return c, server
}

// reset resets a connection.
func reset(server *net.TCPConn) {
	server.SetLinger(0)
	server.Close()
}

// TestEndBeforeRequest checks what is known about a request to a server that had already closed the
// connection.
func TestEndBeforeRequest(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(t *testing.T, c *Conn, server *net.TCPConn)
		want loss
	}{
		{"closed", func(t *testing.T, c *Conn, server *net.TCPConn) {
			server.Close()
			runtest.Until(t, "the end has arrived", func() bool { return peek(c.Conn) == peekEnd })
		}, unreached},
		{"reset", func(t *testing.T, c *Conn, server *net.TCPConn) {
			reset(server)
			runtest.Until(t, "the end has arrived", func() bool { return peek(c.Conn) == peekEnd })
		}, unreached},
		{"forgotten, as by a gateway", func(t *testing.T, c *Conn, server *net.TCPConn) {
			raw, err := server.SyscallConn()
			assert.NilError(t, err)
			assert.NilError(t, raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_TCP, unix.TCP_REPAIR, 1) }))
			if err != nil {
				t.Skipf("TCP_REPAIR, with which a socket is closed without a word: %v", err)
			}
			server.Close()
		}, unread},
	} {
		for _, size := range []int{8, writeSize + 1} { // the second size is written while the response is read
			t.Run(fmt.Sprintf("%s, %d bytes", tt.name, size), func(t *testing.T) {
				c, server := usedPair(t)
				tt.end(t, c, server)
				e := lost(t, c, size)
				assert.Equal(t, e.loss(true), tt.want, "%+v", e)
			})
		}
	}
}

// TestEndAfterWork checks a server that closes or resets the connection 500 ms after it has read the
// request. The server must be assumed to have processed the request. The client may notice up to 440 ms
// late that it has written the request, because a busy machine runs other threads.
func TestEndAfterWork(t *testing.T) {
	for name, end := range map[string]func(*net.TCPConn){"closed": func(server *net.TCPConn) { server.Close() }, "reset": reset} {
		for _, size := range []int{8, writeSize + 1} {
			t.Run(fmt.Sprintf("%s, %d bytes", name, size), func(t *testing.T) {
				c, server := usedPair(t)
				var wg sync.WaitGroup
				wg.Go(func() {
					if req, err := http.ReadRequest(bufio.NewReader(server)); err == nil {
						io.Copy(io.Discard, req.Body)
					}
					runtest.Until(t, "500 ms have passed since the request, and it is acknowledged", func() bool {
						return c.kernel.askInfo().info.Last_data_sent >= 500 && c.lookBack().acked == c.wrote.Load()
					})
					end(server)
				})
				e := lost(t, c, size)
				wg.Wait()
				assert.Equal(t, e.took, e.acked)
				assert.Assert(t, e.after >= 60*ms && e.whole, "%+v", e)
				assert.Equal(t, e.loss(true), worked, "%+v", e)
			})
		}
	}
}

// TestEndNoticedLate checks a client that notices at least 60 ms late that the connection was closed. The
// kernel must tell when this happened.
func TestEndNoticedLate(t *testing.T) {
	c, server := usedPair(t)
	before := time.Now()
	_, err := io.WriteString(c, "a request that is not read")
	assert.NilError(t, err)
	assert.NilError(t, server.CloseWrite())
	runtest.Until(t, "the end has arrived", func() bool { return peek(c.Conn) == peekEnd })
	within := time.Since(before)
	runtest.Until(t, "60 ms have passed", func() bool { return c.kernel.askInfo().info.Last_data_sent >= 60 })
	k := c.lookBack()
	assert.Equal(t, k.acked, c.wrote.Load())
	assert.Assert(t, k.fin <= within+3*tick(), "%+v, within %v", k, within)
	assert.Assert(t, k.minRTT > 0)
	c.Close()
	assert.Assert(t, c.lookBack() == nil)
}
