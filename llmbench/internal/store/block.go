package store

import "runtime"

// A block holds a part of the encoded samples. Its memory is not part of Go's heap where the
// system allows that: the garbage collector lets the heap grow to twice the live objects and more,
// so that each byte of a block would count twice.
type block struct {
	data []byte // of fixed capacity
}

// newBlock returns an empty block with room for size bytes. Its memory is freed when the block is
// not reachable any more, whatever slices of its data are.
func newBlock(size int) *block {
	mapped := mapMemory(size)
	if mapped == nil {
		return &block{make([]byte, 0, size)}
	}
	b := &block{mapped[:0]}
	runtime.AddCleanup(b, unmapMemory, mapped)
	return b
}
