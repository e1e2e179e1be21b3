package backends_test

import (
	"fmt"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/llamatest"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// TestKeptConnections sends many requests over kept connections to a real llama-server, which
// closes each connection after its first streamed answer without saying so. No request may
// fail. At most one request of each worker may be sent again: then the client knows.
func TestKeptConnections(t *testing.T) {
	url := llamatest.Start(t, llamatest.Options{})
	target := backends.URL{URL: url}.Start(t)
	for _, c := range []struct {
		concurrency int
		noStream    bool
		requests    int
	}{{1, false, 500}, {8, false, 200}, {4, true, 200}} {
		t.Run(fmt.Sprintf("concurrency=%d,stream=%v", c.concurrency, !c.noStream), func(t *testing.T) {
			l := llmbench.Load{Concurrency: c.concurrency, NoStream: c.noStream, ClientBound: llmbench.BoundReported}
			for i := range c.requests {
				l.Requests = append(l.Requests, llmbench.Request{Prompt: fmt.Sprint("Tell me about number ", i), MaxTokens: 4, FixedOutput: true})
			}
			result, err := llmbench.Pass(t.Context(), "KeptConnections", target, l)
			assert.NilError(t, err)
			resent := 0
			for s := range result.All() {
				assert.NilError(t, s.Err)
				resent += s.Resent
			}
			assert.Assert(t, resent <= c.concurrency, "%d requests were sent again", resent)
		})
	}
}
