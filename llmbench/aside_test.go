package llmbench

import (
	"net"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/endpoint"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// TestAside checks that a request of Do counts as sent to the server only if there was a connection.
func TestAside(t *testing.T) {
	_, up := loopback(t, mockserver.Config{})
	up.Simulated = false
	l, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	assert.NilError(t, l.Close())
	down := up
	down.URL = "http://" + l.Addr().String()

	before := endpoint.Sent.String()
	assert.Equal(t, Do(t.Context(), down, Request{Prompt: "a", MaxTokens: 1}, true).Outcome, sample.Connect)
	assert.Equal(t, endpoint.Sent.String(), before)
	assert.Equal(t, Do(t.Context(), up, Request{Prompt: "a", MaxTokens: 1}, true).Outcome, sample.OK)
	assert.Assert(t, endpoint.Sent.String() != before, "%s", before)
}
