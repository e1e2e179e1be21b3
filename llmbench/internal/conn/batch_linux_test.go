package conn

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/testkit/runtest"
)

// begun returns a Reader of an endless body whose head has been read, and the server's end of the
// connection.
func begun(t *testing.T) (*Reader, *Trace, *net.TCPConn) {
	c, server := stampedPair(t)
	c.setStream(c)
	trace := &Trace{Clock: NewClock(WallClock)}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://server", strings.NewReader("question"))
	assert.NilError(t, err)
	var answered sync.WaitGroup
	answered.Go(func() {
		server.Read(make([]byte, 1<<10))
		fmt.Fprint(server, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
	})
	resp, err := c.exchange(req, trace)
	assert.NilError(t, err)
	answered.Wait()
	r := new(Reader)
	r.Reset(resp.Body, trace)
	return r, trace, server
}

// write writes each text as a chunk, in a segment of its own. Over loopback, the segments have arrived when
// write returns.
func write(t *testing.T, server *net.TCPConn, texts ...string) {
	for _, text := range texts {
		_, err := fmt.Fprintf(server, "%x\r\n%s\r\n", len(text), text)
		assert.NilError(t, err)
	}
}

// TestMerged checks that a batch counts as several segments if the kernel counts more segments than it has
// timestamps, and that this does not affect later batches. On a busy machine the kernel may send a segment
// again and count it twice; therefore a case may be repeated.
func TestMerged(t *testing.T) {
	for _, tt := range []struct {
		name string
		size int // length of a text
		more int // additional segments that the kernel counts
		want bool
	}{
		{"one segment", 5, 0, false},
		{"one segment in several reads", 3000, 0, false},
		{"segments with one timestamp", 5, 1, true},
		{"segments with one timestamp, in several reads", 3000, 1, true},
		{"more segments than are looked at", 5, maxLook, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			runtest.Until(t, "the segments are counted", func() bool {
				r, trace, server := begun(t)
				var got []bool
				for _, more := range []int{0, tt.more, 0} {
					trace.conn.kernel.queue.counted -= int64(more)
					write(t, server, strings.Repeat("x", tt.size))
					_, err := io.ReadFull(r, make([]byte, tt.size))
					assert.NilError(t, err)
					got = append(got, r.Merged())
				}
				return slices.Equal(got, []bool{false, tt.want, false})
			})
		})
	}
}

// TestSince checks the earliest instant at which the bytes of a batch can have arrived: after the client
// had read what was there before.
func TestSince(t *testing.T) {
	r, trace, server := begun(t)
	p := make([]byte, 64)
	write(t, server, "a", "b")
	_, err := r.Read(p)
	assert.NilError(t, err)
	head, _ := trace.FirstByte.On(trace.Clock)
	assert.Equal(t, r.Since, head, "the bytes were there before the read")
	first := r.Data

	done := make(chan error)
	go func() {
		_, err := r.Read(p)
		done <- err
	}()
	before, _ := first.On(trace.Clock)
	write(t, server, "c")
	assert.NilError(t, <-done)
	at, _ := r.Data.On(trace.Clock)
	// Whether the goroutine had to wait depends on the machine.
	assert.Assert(t, r.Since == first.User || r.Since == before, "since %v, first %+v", r.Since, first)
	assert.Assert(t, r.Since <= at)
}

// TestSentBy checks that the kernel says when it sent a request whose write returned late.
func TestSentBy(t *testing.T) {
	c, _ := stampedPair(t)
	c.setStream(c)
	trace := &Trace{Clock: NewClock(WallClock)}
	trace.attach(c)
	_, err := c.Write([]byte("question"))
	assert.NilError(t, err)
	wrote := trace.Clock.Now()
	assert.Assert(t, trace.Sent <= trace.SentBy && trace.SentBy <= wrote)
	runtest.Until(t, "the kernel's clock has gone on", func() bool {
		// Simulates a write that returned only now.
		return c.sentBy(trace) < trace.Clock.Now()-20*ms
	})
	assert.Assert(t, c.sentBy(trace) >= trace.Sent)
}

// TestFast checks when a stream is fast. On a busy machine the client may read late; therefore the fast case may be
// repeated.
func TestFast(t *testing.T) {
	for _, tt := range []struct {
		name         string
		pause, delay time.Duration // between two chunks, and before the second is read
		then         []string      // chunks that come then
		want         bool
	}{
		{"one after the other", 0, 0, nil, true},
		{"a pause between them", fastGap, 0, nil, false},
		{"read late", 0, fastGap, nil, false},
		{"another one waits", 0, 0, []string{"c"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			runtest.Until(t, "the chunks are read", func() bool {
				r, _, server := begun(t)
				p := make([]byte, 8)
				write(t, server, "a")
				_, err := r.Read(p)
				assert.NilError(t, err)
				time.Sleep(tt.pause)
				write(t, server, append([]string{"b"}, tt.then...)...)
				time.Sleep(tt.delay)
				_, err = r.Read(p)
				assert.NilError(t, err)
				assert.Assert(t, tt.want || !r.Fast() || r.Merged())
				return r.Fast() == tt.want || r.Merged()
			})
		})
	}
}
