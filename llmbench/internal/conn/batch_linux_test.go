package conn

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/runtest"
)

// begun returns a Reader of a body without an end, whose head has been read, and its server.
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

// write writes each text as a chunk, in one segment each. Over loopback they have arrived
// when it returns.
func write(t *testing.T, server *net.TCPConn, texts ...string) {
	for _, text := range texts {
		_, err := fmt.Fprintf(server, "%x\r\n%s\r\n", len(text), text)
		assert.NilError(t, err)
	}
}

// TestMerged checks that several segments of one read are told from one segment. The kernel
// may send a segment again on a busy machine and count it twice; therefore a case may be tried
// again.
func TestMerged(t *testing.T) {
	long := strings.Repeat("x", 3000)
	for _, tt := range []struct {
		name  string
		texts []string
		first int // length of the text that is read before the others are written; 0: none
		size  int // of the buffer
		want  bool
	}{
		{"one segment", []string{"token"}, 0, 4096, false},
		{"one segment after another", []string{"token", "token"}, 5, 4096, false},
		{"two segments in one read", []string{"token", "token"}, 0, 4096, true},
		{"two segments, after one", []string{"token", "token", "token"}, 5, 4096, true},
		{"one segment in several reads", []string{long}, 0, 4096, false},
		{"two segments in several reads", []string{long, "token"}, 0, 4096, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			runtest.Until(t, "the segments are counted", func() bool {
				r, _, server := begun(t)
				all := len(strings.Join(tt.texts, ""))
				texts := tt.texts
				if tt.first > 0 {
					write(t, server, texts[0])
					texts = texts[1:]
					_, err := io.ReadFull(r, make([]byte, tt.first))
					assert.NilError(t, err)
				}
				write(t, server, texts...)
				_, err := io.ReadAtLeast(r, make([]byte, tt.size), all-tt.first)
				assert.NilError(t, err)
				first, second := r.Merged(), r.Merged() // the second answer must be the same
				return first == tt.want && second == tt.want
			})
		})
	}
}

// TestMergedLater checks that segments of one read are not held against later reads, and that a
// segment which arrived after a read, before the kernel was asked, is not counted twice.
func TestMergedLater(t *testing.T) {
	runtest.Until(t, "the segments are counted", func() bool {
		r, _, server := begun(t)
		var got []bool
		p := make([]byte, 64)
		read := func() {
			_, err := r.Read(p)
			assert.NilError(t, err)
		}
		ask := func() { got = append(got, r.Merged()) }
		write(t, server, "a", "b")
		read()
		ask() // true
		write(t, server, "c")
		read()
		ask() // false
		write(t, server, "d")
		read()
		write(t, server, "e")
		ask() // true, as far as anybody can tell
		read()
		ask() // false
		write(t, server, "f")
		read()
		write(t, server, "g")
		read()
		write(t, server, "h", "i")
		read()
		ask() // true
		return fmt.Sprint(got) == "[true false true false true]"
	})
}

// TestSince checks from when on the bytes of a batch can have arrived: after the client had
// read what was there before.
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
		// As if the write had returned only now.
		return c.sentBy(trace) < trace.Clock.Now()-20*ms
	})
	assert.Assert(t, c.sentBy(trace) >= trace.Sent)
}
