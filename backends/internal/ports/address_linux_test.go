package ports

import (
	"crypto/rand"
	"io"
	"net"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
)

// TestTimeWait checks that a port whose connection is in the state TIME_WAIT does not count as
// free, although package net could listen there.
func TestTimeWait(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	addr := l.Addr().String()
	client, err := net.Dial("tcp", addr)
	assert.NilError(t, err)
	server, err := l.Accept()
	assert.NilError(t, err)
	assert.NilError(t, server.Close()) // the side that closes first gets the state TIME_WAIT
	_, err = client.Read(make([]byte, 1))
	assert.Equal(t, err, io.EOF)
	assert.NilError(t, client.Close())
	assert.NilError(t, l.Close())
	_, _, err = tryAddr(addr, net.ListenConfig{Control: refuseTimeWait})
	assert.ErrorIs(t, err, syscall.EADDRINUSE)
	_, _, err = FreeAddr(addr)
	assert.NilError(t, err)
}

// TestReserve checks that a name is reserved once, and that the oldest reservation ends when there are too many.
func TestReserve(t *testing.T) {
	first := rand.Text()
	assert.Assert(t, reserve(first))
	assert.Assert(t, !reserve(first))
	for range maxReserved {
		assert.Assert(t, reserve(rand.Text()))
	}
	assert.Assert(t, reserve(first))
}
