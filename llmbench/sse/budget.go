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

// Take takes the memory for a buffer that grows from before to size bytes. It returns the number of bytes to
// give back when the buffer is dropped, or an error that wraps [ErrTooLarge] if too little is left. A nil Budget
// has no limit.
func (b *Budget) Take(before, size int) (taken int64, err error) {
	if b == nil || size <= freeSize {
		return 0, nil
	}
	taken = int64(size)
	if before > freeSize {
		taken -= int64(before)
	}
	if b.left.Add(-taken) < 0 {
		b.left.Add(taken)
		return 0, fmt.Errorf("sse: %w: the large events of all streams take more than %d bytes", ErrTooLarge, b.size)
	}
	return taken, nil
}

// GiveBack returns memory to the budget that Take took from it.
func (b *Budget) GiveBack(taken int64) { b.left.Add(taken) }

// freeSize is the size up to which a buffer does not count against the budget.
const freeSize = 1 << 20

// take takes memory from the budget for a buffer that grows from before bytes to size bytes. If the budget
// has too little left, take ends the stream and returns false.
func (d *Decoder) take(before, size int) bool {
	taken, err := d.Budget.Take(before, size)
	if err != nil {
		d.pos, d.err = d.end, err
		return false
	}
	d.taken += taken
	return true
}

// giveBack drops the buffers and returns their memory to the budget.
func (d *Decoder) giveBack() {
	if d.taken > 0 {
		d.Budget.GiveBack(d.taken)
		d.buf, d.data, d.taken = nil, nil, 0
	}
}
