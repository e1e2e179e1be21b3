package conn

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
)

// TestStamped checks that the first response after Stamped has a timestamp.
func TestStamped(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	p := newPool(t, Options{URL: server.URL})
	assert.Assert(t, !p.Stamped(t.Context()), "a pool without connections")
	p.Prepare(t.Context(), 1)
	assert.Assert(t, p.Stamped(t.Context()))
	trace, _, err := post(t.Context(), p, server.URL)
	assert.NilError(t, err)
	assert.Assert(t, trace.FirstByte.Stamp != 0)

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	assert.Assert(t, !p.Stamped(ended))
}

// TestAwait checks that a waiting stream has no buffers, that it reads what has come in the meantime, and
// that it notices any kind of end.
func TestAwait(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(*net.TCPConn)
		want error
	}{
		{"end of the body", func(c *net.TCPConn) { io.WriteString(c, "0\r\n\r\n") }, io.EOF},
		{"end of the connection", func(c *net.TCPConn) { c.Close() }, io.ErrUnexpectedEOF},
		{"reset", func(c *net.TCPConn) { c.SetLinger(0); c.Close() }, syscall.ECONNRESET},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, _, server := begun(t)
			buffer := make([]byte, 4<<10)
			waits := make(chan bool, 100) // each value says whether the stream has buffers
			receive := r.conn.kernel.receive
			r.conn.kernel.receive = func(fd uintptr) (done bool) {
				if done = receive(fd); !done {
					waits <- r.conn.held != nil || r.conn.in.Reader != nil || r.conn.kernel.lent != nil || r.conn.kernel.part.Base != nil
				}
				return done
			}
			for _, text := range []string{"token", strings.Repeat("x", 3*bufferSize)} {
				var reader sync.WaitGroup
				reader.Go(r.Await)
				assert.Assert(t, !<-waits, "a stream that waits has buffers")
				write(t, server, text)
				reader.Wait()
				got := ""
				for len(got) < len(text) {
					r.Await()
					n, err := r.Read(buffer)
					assert.NilError(t, err)
					got += string(buffer[:n])
				}
				assert.Equal(t, got, text)
			}
			r.conn.kernel.receive = receive
			tt.end(server)
			r.Await()
			_, err := r.Read(buffer)
			assert.ErrorIs(t, err, tt.want)
		})
	}
}
