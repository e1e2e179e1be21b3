package sse

import (
	"fmt"
	"sync/atomic"
)

// A Budget limits the memory that several decoders together use for large events: for buffers of more than
// 1 MiB. A Budget is safe for concurrent use. The zero value allows no such buffers.
type Budget struct {
	size int64
	left atomic.Int64
}

// NewBudget returns a budget of size bytes.
func NewBudget(size int64) *Budget {
	b := &Budget{size: size}
	b.left.Store(size)
	return b
}

// freeSize is the size up to which a buffer does not count against the budget.
const freeSize = 1 << 20

// take takes memory from the budget for a buffer that grows from before bytes to size bytes. If the budget
// has too little left, take ends the stream and returns false.
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

// giveBack drops the buffers and returns their memory to the budget.
func (d *Decoder) giveBack() {
	if d.taken > 0 {
		d.Budget.left.Add(d.taken)
		d.buf, d.data, d.taken = nil, nil, 0
	}
}
