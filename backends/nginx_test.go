package backends_test

import (
	"runtime"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/nginxtest"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// TestNginx measures a mock server behind a real nginx. The environment says how to reach it.
func TestNginx(t *testing.T) {
	for _, tt := range []struct {
		name    string
		proxy   nginxtest.Options
		environ func(s *nginxtest.Server) []string
		user    bool // the instants are those at which the client reads
	}{
		{"a private CA", nginxtest.Options{TLS: true}, func(s *nginxtest.Server) []string {
			return []string{"LLMBENCH_URL=" + s.URL + "/v1", "LLMBENCH_CA=" + s.CAFile}
		}, false},
		{"a certificate that is not verified", nginxtest.Options{TLS: true}, func(s *nginxtest.Server) []string {
			return []string{"LLMBENCH_URL=" + s.URL, "LLMBENCH_INSECURE=1"}
		}, false},
		{"no kept connections", nginxtest.Options{NoKeepAlive: true}, func(s *nginxtest.Server) []string {
			return []string{"LLMBENCH_URL=" + s.URL}
		}, false},
		{"a prefix", nginxtest.Options{Prefix: "/llm", HTTP11: true}, func(s *nginxtest.Server) []string {
			return []string{"LLMBENCH_URL=" + s.URL + "/v1/?api-version=2024-10-21", "LLMBENCH_HEADER=X-Team: blue"}
		}, false},
		{"compression that is not asked for", nginxtest.Options{Gzip: true}, func(s *nginxtest.Server) []string {
			return []string{"LLMBENCH_URL=" + s.URL}
		}, false},
		{"compressed answers", nginxtest.Options{Gzip: true}, func(s *nginxtest.Server) []string {
			return []string{"LLMBENCH_URL=" + s.URL, "LLMBENCH_HEADER=Accept-Encoding: gzip", "LLMBENCH_COMPRESSED=1"}
		}, false},
		{"IPv6", nginxtest.Options{Network: "tcp6", TLS: true}, func(s *nginxtest.Server) []string {
			return []string{"LLMBENCH_URL=" + s.URL, "LLMBENCH_CA=" + s.CAFile}
		}, false},
		{"HTTP/2 with TLS", nginxtest.Options{TLS: true, HTTP2: true}, func(s *nginxtest.Server) []string {
			return []string{"LLMBENCH_URL=" + s.URL, "LLMBENCH_CA=" + s.CAFile, "LLMBENCH_HTTP=2"}
		}, false},
		{"HTTP/2 without TLS", nginxtest.Options{HTTP2: true}, func(s *nginxtest.Server) []string {
			return []string{"LLMBENCH_URL=" + s.URL, "LLMBENCH_HTTP=2"}
		}, false},
		{"HTTP/2 at a Unix socket", nginxtest.Options{Network: "unix", HTTP2: true}, func(s *nginxtest.Server) []string {
			return []string{"LLMBENCH_URL=unix://" + s.Socket, "LLMBENCH_HTTP=2"}
		}, true},
		{"a Unix socket", nginxtest.Options{Network: "unix", Prefix: "/llm"}, func(s *nginxtest.Server) []string {
			return []string{"LLMBENCH_URL=unix://" + s.Socket + ":/llm/v1"}
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, mock := backends.Mock{Config: &mockserver.Config{TTFT: 10 * time.Millisecond, PerToken: 5 * time.Millisecond}}.Serve(t)
			tt.proxy.Upstream, tt.proxy.Unbuffered = mock.URL, true
			c, err := backends.ParseConfig(append(tt.environ(nginxtest.Start(t, tt.proxy)), `LLMBENCH_BODY={"temperature":0.5}`))
			assert.NilError(t, err)
			all, err := backends.FromConfig(c, nil)
			assert.NilError(t, err)
			target := all[0].Start(t)

			const requests, tokens = 8, 6
			load := llmbench.Load{Concurrency: 2, ClientBound: llmbench.BoundReported}
			for range requests {
				load.Requests = append(load.Requests, llmbench.Request{Prompt: "a b c", MaxTokens: tokens, FixedOutput: true})
			}
			result, err := llmbench.Pass(t.Context(), "", target, load)
			assert.Assert(t, result != nil, "%v", err) // on a busy machine, the error may say that deltas came in bursts
			defer result.Close()
			n, kernel := 0, 0
			for s := range result.All() {
				n++
				assert.NilError(t, s.Err)
				assert.Equal(t, s.OutputTokens, tokens)
				assert.Equal(t, s.TokenSource, sample.FromUsage)
				assert.Assert(t, s.First > 0 && s.First <= s.Last, "%+v", s)
				if s.Clock != sample.UserClock {
					kernel++
				}
			}
			assert.Equal(t, n, requests)
			if runtime.GOOS == "linux" { // segments that arrive out of order have no timestamp
				assert.Assert(t, (kernel == 0) == tt.user, "%d of %d requests on the kernel's clock", kernel, requests)
			}
		})
	}
}
