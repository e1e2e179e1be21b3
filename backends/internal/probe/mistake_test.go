package probe

import (
	"fmt"
	"net"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// TestUnknownHost checks that the wait ends at once if no host has the name, and goes on if the
// name servers fail.
func TestUnknownHost(t *testing.T) {
	target := llmbench.Target{URL: "unix:///nothing"}
	unknown := fmt.Errorf("dial: %w", &net.DNSError{Err: "no such host", Name: "gpu-box", IsNotFound: true})
	assert.Error(t, Mistake(t.Context(), target, unknown), "no host has the name gpu-box")
	assert.NilError(t, Mistake(t.Context(), target, &net.DNSError{Err: "server misbehaving", Name: "gpu-box", IsTemporary: true}))
}
