package memnet

import (
	"context"
	"net"
	"testing"

	"gotest.tools/v3/assert"
)

// Dial and Accept return when the context ends or the listener is closed.
func TestClosed(t *testing.T) {
	ln := Listen()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := ln.Dial(gone, "", "") // nobody accepts
	assert.ErrorIs(t, err, context.Canceled)
	assert.NilError(t, ln.Close())
	assert.NilError(t, ln.Close())
	_, err = ln.Dial(t.Context(), "", "")
	assert.ErrorIs(t, err, net.ErrClosed)
	_, err = ln.Accept()
	assert.ErrorIs(t, err, net.ErrClosed)
}
