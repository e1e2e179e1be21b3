package llmbench

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A bufferer is a server behind something that buffers whole answers of 64 deltas.
type bufferer struct{}

func (bufferer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	const delta = `data: {"choices":[{"delta":{"content":" token"}}]}` + "\n\n"
	const end = `data: {"choices":[{"delta":{},"finish_reason":"length"}],"usage":{"prompt_tokens":1,"completion_tokens":64}}` + "\n\ndata: [DONE]\n\n"
	w.Header().Set("Content-Type", "text/event-stream")
	<-time.After(100 * time.Millisecond) // the model's work
	io.WriteString(w, strings.Repeat(delta, 64)+end)
}

// TestWithoutTimestamps checks the clock of requests over connections without kernel timestamps: a Unix socket, and a
// connection as other systems than Linux have it.
func TestWithoutTimestamps(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	for _, c := range []struct {
		network, address string
		target           func(addr string) Target
	}{
		{"unix", socket, func(string) Target { return Target{URL: "unix://" + socket} }},
		{"tcp", "127.0.0.1:0", func(addr string) Target { return Target{URL: "http://" + addr, Dial: dialWithoutStamps} }},
	} {
		t.Run(c.network, func(t *testing.T) {
			ln, err := net.Listen(c.network, c.address)
			assert.NilError(t, err)
			server := &http.Server{Handler: bufferer{}}
			go server.Serve(ln)
			defer server.Close()
			s := Do(t.Context(), c.target(ln.Addr().String()), words(1, 64)[0], true)
			assert.NilError(t, s.Err)
			assert.Equal(t, s.Clock, sample.UserClock)
		})
	}
}

// TestBufferedWithoutTimestamps sends requests, in virtual time, to a server whose answers come in one piece. The answers
// count as bursts if the client is known to read within a millisecond.
func TestBufferedWithoutTimestamps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target, stop := inMemory(t, bufferer{})
		defer stop()
		var all []sample.Sample
		for range 4 {
			s := Do(t.Context(), target, words(1, 64)[0], true)
			assert.NilError(t, s.Err)
			assert.Equal(t, s.Clock, sample.UserClock)
			all = append(all, s)
		}
		b := sample.FindBursts(sample.All(all...), time.Millisecond)
		assert.Equal(t, b.InBursts, 4, "%v", b)
		hidden := b.Hide(sample.Named("p50-ttft-ns", "mean-tpot-ns", "p50-itl-ns", "p50-e2e-ns"), sample.SLO{})
		assert.DeepEqual(t, hidden, []string{"p50-ttft-ns", "mean-tpot-ns", "p50-itl-ns"})
	})
}

// dialWithoutStamps opens a connection that hides what the client needs to ask the kernel for timestamps.
func dialWithoutStamps(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, addr)
	return struct{ net.Conn }{c}, err
}
