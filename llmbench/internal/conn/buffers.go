package conn

import (
	"bufio"
	"sync"
)

// bufferSize is the size of each of the two buffers, in bytes. Most reads return the segment of one token.
const bufferSize = 1 << 10

// writeSize is the size of a write, in bytes.
const writeSize = 32 << 10

// maxFrame is the maximum size of a frame's payload in HTTP/2, in bytes: the default of RFC 9113, 6.5.2.
const maxFrame = 16 << 10

// buffers holds the buffers that a connection needs while it has bytes to read. Plain connections share
// these buffers, so that a waiting stream has none.
type buffers struct {
	bytes  [bufferSize]byte // bytes that the kernel returned
	reader *bufio.Reader    // reads from the connection
}

var spareBuffers = sync.Pool{New: func() any { return &buffers{reader: bufio.NewReaderSize(nil, bufferSize)} }}

// takeBuffers returns buffers that are not in use.
func takeBuffers() *buffers { return spareBuffers.Get().(*buffers) }

// giveBack makes b available to other connections. The caller must no longer use b.
func (b *buffers) giveBack() {
	b.reader.Reset(nil)
	spareBuffers.Put(b)
}
