package conn

import (
	"context"
	"net/http"
	"net/http/httptest"
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
