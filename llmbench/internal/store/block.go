package store

import "runtime"

// A block holds a part of the encoded samples. If the system allows it, the memory of a block is outside of
// Go's heap. On the heap each byte would count twice, because the garbage collector lets the heap grow to
// at least twice the size of the live objects.
type block struct {
	data []byte // slice of fixed capacity
}

// newBlock returns an empty block with room for size bytes. Its memory is freed when the block is no longer
// reachable, even if slices of its data are still reachable.
func newBlock(size int) *block {
	mapped := mapMemory(size)
	if mapped == nil {
		return &block{make([]byte, 0, size)}
	}
	b := &block{mapped[:0]}
	runtime.AddCleanup(b, unmapMemory, mapped)
	return b
}
