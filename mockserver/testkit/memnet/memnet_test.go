package memnet

import (
	"context"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

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

// Pending reports bytes until they are read or the write is abandoned, and reports that an end is closed.
func TestPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := pipe()
		check := func(want bool, wantErr error) {
			t.Helper()
			synctest.Wait()
			waiting, err := client.(*conn).Pending()
			assert.Equal(t, waiting, want)
			assert.Equal(t, err, wantErr)
		}
		check(false, nil)
		written := make(chan error)
		write := func(text string) {
			_, err := io.WriteString(server, text)
			written <- err
		}
		go write("two words")
		check(true, nil)
		_, err := io.ReadFull(client, make([]byte, 3))
		assert.NilError(t, err)
		check(true, nil)
		_, err = io.ReadFull(client, make([]byte, 6))
		assert.NilError(t, err)
		check(false, nil)
		assert.NilError(t, <-written)

		assert.NilError(t, server.SetWriteDeadline(time.Now().Add(time.Second)))
		go write("unread")
		check(true, nil)
		assert.ErrorIs(t, <-written, os.ErrDeadlineExceeded)
		check(false, nil)

		assert.NilError(t, server.Close())
		check(false, io.EOF)
		assert.NilError(t, client.Close())
		check(false, net.ErrClosed)
	})
}
