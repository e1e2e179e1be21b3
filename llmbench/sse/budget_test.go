package sse

import (
	"errors"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestBudget checks that the large events of several decoders share a budget, that small events need no
// budget, and that Reset returns what was taken.
func TestBudget(t *testing.T) {
	for _, lines := range []int{1, 2} { // an event with several lines is copied
		large := strings.Repeat("data: "+strings.Repeat("x", 3<<20/lines)+"\n", lines) + "\n"
		b := NewBudget(20 << 20)
		decode := func(d *Decoder, body string) error {
			d.Budget = b
			d.Reset(strings.NewReader(body))
			e, err := d.Next()
			if err == nil {
				assert.Assert(t, len(e.Data) > 0)
			}
			return err
		}
		var all []*Decoder
		var err error
		for err == nil {
			d := &Decoder{}
			all = append(all, d)
			err = decode(d, large)
		}
		assert.ErrorContains(t, err, "event too large: the large events of all streams take more than 20971520 bytes")
		assert.Assert(t, errors.Is(err, ErrTooLarge))
		assert.Assert(t, len(all) > 1, "the budget is too small for one event")
		last := all[len(all)-1]
		_, again := last.Next()
		assert.Equal(t, again, err)
		assert.NilError(t, decode(last, "data: small\n\n"))
		for _, d := range all {
			d.Reset(strings.NewReader(""))
		}
		assert.Equal(t, b.left.Load(), b.size)
		assert.NilError(t, decode(last, large))
	}
}
