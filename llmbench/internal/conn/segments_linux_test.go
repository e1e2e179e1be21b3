package conn

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"gotest.tools/v3/assert"
)

// TestKeepSegmentsApart checks which connections have a receive buffer of fixed size.
func TestKeepSegmentsApart(t *testing.T) {
	for _, tt := range []struct {
		address string
		want    bool
	}{
		{"127.0.0.1:80", true},
		{"127.1.2.3:80", true},
		{"[::1]:80", true},
		{"[::ffff:127.0.0.1]:80", true},
		{"192.0.2.1:80", false},
		{"[2001:db8::1]:80", false},
		{"/run/llm.sock", false},
	} {
		c, _ := stampedPair(t)
		size := func() (n int) {
			err := c.kernel.raw.Control(func(fd uintptr) { n, _ = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF) })
			assert.NilError(t, err)
			return n
		}
		before := size()
		assert.NilError(t, keepSegmentsApart(false)("tcp", tt.address, c.kernel.raw))
		want := before
		if tt.want {
			want = 2 * ownBuffer // the kernel doubles it, for its own use
		}
		assert.Equal(t, size(), want, tt.address)
	}
}

// BenchmarkMerged measures the share of the first eight events of an answer over loopback that were joined
// to later ones. The server sends an event every half millisecond, after a prefill of 40 ms.
func BenchmarkMerged(b *testing.B) {
	const events, first, size = 32, 8, 200
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		begin := time.Now().Add(40 * ms)
		for i := range events {
			time.Sleep(time.Until(begin.Add(time.Duration(i) * ms / 2)))
			io.WriteString(w, strings.Repeat("x", size))
			w.(http.Flusher).Flush()
		}
	}))
	defer server.Close()
	for _, buffer := range []string{"fixed", "default"} {
		b.Run("buffer="+buffer, func(b *testing.B) {
			o := Options{URL: server.URL}
			if buffer == "default" {
				o.Dial = new(net.Dialer).DialContext
			}
			p := newPool(b, o)
			merged := 0
			for b.Loop() {
				t := &Trace{Clock: NewClock(WallClock)}
				req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, server.URL, strings.NewReader("question"))
				assert.NilError(b, err)
				resp, err := p.Send(req, t)
				assert.NilError(b, err)
				r := new(Reader)
				r.Reset(resp.Body, t)
				for event, n := make([]byte, size), 0; err == nil; n++ {
					_, err = io.ReadFull(r, event)
					if n < first && err == nil && r.Merged() && r.Follows() {
						merged++
					}
				}
				resp.Body.Close()
			}
			b.ReportMetric(100*float64(merged)/float64(first*b.N), "merged-%")
		})
	}
}
