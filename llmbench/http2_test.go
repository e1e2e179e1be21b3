package llmbench

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/testkit/runtest"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// TestHTTPSetting checks what the configuration lines say about the version of HTTP, and the errors for invalid settings.
func TestHTTPSetting(t *testing.T) {
	for version, line := range map[string]string{"": "", "1.1": "", "2": "2"} {
		target := Target{URL: "http://server", HTTP: version}
		assert.NilError(t, target.Check())
		assert.Equal(t, target.config()["http"], line)
	}
	for _, proxy := range []string{"socks5://proxy", "http://proxy"} {
		assert.NilError(t, Target{URL: "https://server", HTTP: "2", Proxy: proxy}.Check())
		assert.NilError(t, Target{URL: "unix:///run/llm.sock", HTTP: "2", Proxy: proxy}.Check())
	}
	assert.NilError(t, Target{URL: "http://server", HTTP: "2", Proxy: "socks5://proxy"}.Check())
	assert.Error(t, Target{URL: "http://server", HTTP: "3"}.Check(), `target: HTTP "3": want 1.1 or 2`)
	assert.ErrorContains(t, Target{URL: "http://server", HTTP: "2", Proxy: "https://proxy"}.Check(), "target: HTTP/2 without TLS through a proxy that forwards requests of HTTP/1.1")
}

// TestHTTP2AgainstLog compares the deltas of streams that share a connection with the log of the server, with TLS and
// without: no delta came before the server wrote its token. On Linux, samples use the kernel's clock, but on a busy machine
// perhaps not all of them, as [TestKernelClock] says.
func TestHTTP2AgainstLog(t *testing.T) {
	awaitStamps(t)
	example := httptest.NewTLSServer(nil) // has a certificate
	defer example.Close()
	for _, secure := range []bool{false, true} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("tls=%t/stream=%t", secure, stream), func(t *testing.T) {
				runtest.CheckLeaks(t)
				srv, err := mockserver.New(mockserver.Config{TTFT: 5 * ms, PerToken: ms, Jitter: 0.5})
				assert.NilError(t, err)
				config := example.TLS
				if !secure {
					config = nil
				}
				url, stop, err := mockserver.ListenTLS("127.0.0.1:0", srv, config)
				assert.NilError(t, err)
				defer stop(0)
				target := Target{URL: url, Model: "mock", HTTP: "2", Simulated: true, TLS: trusted(example)}
				c, l, pl, err := prepared(target, Load{Requests: words(64, 20), Concurrency: 32, NoStream: !stream})
				assert.NilError(t, err)
				defer c.Close()
				samples, err := sendPass(t.Context(), c, l, pl)
				assert.NilError(t, err)
				assert.Equal(t, c.Open(t.Context(), 0, time.Second), 1)
				log := map[string]mockserver.Entry{}
				for _, e := range srv.Log() {
					log[e.ID] = e
				}
				stamped := 0
				for _, s := range samples {
					assert.NilError(t, s.Err)
					e := log[s.ID]
					assert.Equal(t, s.OutputTokens, e.OutputTokens)
					if s.Clock == sample.KernelClock {
						stamped++
					}
					if !stream {
						continue
					}
					assert.Equal(t, s.Deltas, len(e.Tokens))
					at := s.First
					for k, wrote := range e.Tokens {
						if k > 0 {
							at += s.Gaps[k-1]
						}
						if wrote := srv.Epoch().Add(wrote).Sub(s.Epoch); at < wrote-sample.ClockError {
							t.Errorf("%s: delta %d came %v before the server wrote it", s.ID, k, wrote-at)
						}
					}
				}
				assert.Assert(t, stamped > 0 || runtime.GOOS != "linux", "no sample uses the kernel's clock")
			})
		}
	}
}

// TestHTTP2Socket checks HTTP/2 over a Unix socket.
func TestHTTP2Socket(t *testing.T) {
	srv, err := mockserver.New(mockserver.Config{})
	assert.NilError(t, err)
	path := filepath.Join(t.TempDir(), "llm.sock")
	ln, err := net.Listen("unix", path)
	assert.NilError(t, err)
	server := &http.Server{Handler: srv, Protocols: new(http.Protocols)}
	server.Protocols.SetUnencryptedHTTP2(true)
	done := make(chan error)
	go func() { done <- server.Serve(ln) }()
	defer func() { server.Close(); <-done }()
	s := onePass(t, Target{URL: "unix://" + path, Model: "mock", HTTP: "2", Simulated: true}, Load{Requests: words(1, 3), Concurrency: 1})[0]
	assert.NilError(t, s.Err)
	assert.Equal(t, s.OutputTokens, 3)
	assert.Equal(t, s.Clock, sample.UserClock)
}

// TestHTTP2Beside checks that requests beside a load speak HTTP/2, too.
func TestHTTP2Beside(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto) }))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	plain := httptest.NewUnstartedServer(s.Config.Handler)
	plain.Config.Protocols = new(http.Protocols)
	plain.Config.Protocols.SetHTTP1(true)
	plain.Config.Protocols.SetUnencryptedHTTP2(true)
	plain.Start()
	defer plain.Close()
	for _, server := range []*httptest.Server{s, plain} {
		for version, want := range map[string]string{"1.1": "HTTP/1.1", "2": "HTTP/2.0"} {
			base, client, err := Target{URL: server.URL, HTTP: version, TLS: trusted(s), Simulated: true}.Client()
			assert.NilError(t, err)
			resp, err := client.Get(base)
			assert.NilError(t, err)
			text, err := io.ReadAll(resp.Body)
			assert.NilError(t, err)
			resp.Body.Close()
			client.CloseIdleConnections()
			assert.Equal(t, strings.TrimSpace(string(text)), want)
		}
	}
}
