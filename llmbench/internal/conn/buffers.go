package conn

import (
	"bufio"
	"sync"
)

// bufferSize is the size of each of the two buffers, in bytes. Most reads take the segment of one
// token.
const bufferSize = 1 << 10

// Buffers are what a connection needs while there are bytes to read. The buffers of a plain connection
// are shared: a stream that waits has none.
type buffers struct {
	bytes  [bufferSize]byte // what the kernel had
	reader *bufio.Reader    // of the connection
}

var spareBuffers = sync.Pool{New: func() any { return &buffers{reader: bufio.NewReaderSize(nil, bufferSize)} }}

// takeBuffers returns buffers that nobody uses.
func takeBuffers() *buffers { return spareBuffers.Get().(*buffers) }

// giveBack says that the caller does not use b any more.
func (b *buffers) giveBack() {
	b.reader.Reset(nil)
	spareBuffers.Put(b)
}
