package sse

import (
	"fmt"
	"sync/atomic"
)

// A Budget bounds the memory that several decoders take together for large events: for buffers of more
// than 1 MiB. A Budget is safe for concurrent use. The zero value allows none.
type Budget struct {
	size int64
	left atomic.Int64
}

// NewBudget returns a budget of so many bytes.
func NewBudget(size int64) *Budget {
	b := &Budget{size: size}
	b.left.Store(size)
	return b
}

// freeSize is the size up to which buffers need no budget.
const freeSize = 1 << 20

// take takes from the budget what a buffer needs that grows to a size. If there is too little left, it
// ends the stream and returns false.
func (d *Decoder) take(before, size int) bool {
	if d.Budget == nil || size <= freeSize {
		return true
	}
	need := int64(size)
	if before > freeSize {
		need -= int64(before)
	}
	if d.Budget.left.Add(-need) < 0 {
		d.Budget.left.Add(need)
		d.pos = d.end
		d.err = fmt.Errorf("sse: %w: the large events of all streams take more than %d bytes", ErrTooLarge, d.Budget.size)
		return false
	}
	d.taken += need
	return true
}

// giveBack gives what was taken back to the budget, with the buffers.
func (d *Decoder) giveBack() {
	if d.taken > 0 {
		d.Budget.left.Add(d.taken)
		d.buf, d.data, d.taken = nil, nil, 0
	}
}
