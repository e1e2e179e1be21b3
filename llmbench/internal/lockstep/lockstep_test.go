package lockstep

import (
	"iter"
	"runtime"
	"slices"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/testkit/runtest"
)

// counted counts to n and adds the number of its ranges and of their values to the counters.
func counted(n int, ranges, values *int) iter.Seq[int] {
	return func(yield func(int) bool) {
		*ranges++
		for i := range n {
			*values++
			if !yield(i) {
				return
			}
		}
	}
}

func sum(seq iter.Seq[int]) (sum int) {
	for v := range seq {
		sum += v
	}
	return sum
}

// TestRange lets functions range as often as they like, to the end and not, and checks that each gets
// all values and that the sequence is made no oftener than the most diligent function needs.
func TestRange(t *testing.T) {
	var ranges, values int
	var got [6][]int
	Range(counted(100, &ranges, &values),
		func(seq iter.Seq[int]) {},
		func(seq iter.Seq[int]) { got[1] = []int{sum(seq)} },
		func(seq iter.Seq[int]) { got[2] = []int{sum(seq), sum(seq), sum(seq)} },
		func(seq iter.Seq[int]) { // leaves a range early, and begins another in it
			for v := range seq {
				if v == 7 {
					break
				}
			}
			got[3] = []int{sum(seq)}
		},
		func(seq iter.Seq[int]) { got[4] = slices.Collect(seq) },
		func(seq iter.Seq[int]) {
			done := make(chan struct{})
			go func() { // as a function of a user may
				defer close(done)
				got[5] = []int{sum(seq)}
			}()
			<-done
			got[5] = append(got[5], sum(seq))
		})
	const all = 99 * 100 / 2
	assert.DeepEqual(t, got[1], []int{all})
	assert.DeepEqual(t, got[2], []int{all, all, all})
	assert.DeepEqual(t, got[3], []int{all})
	assert.Equal(t, len(got[4]), 100)
	assert.DeepEqual(t, got[5], []int{all, all})
	assert.Equal(t, ranges, 3)
	assert.Equal(t, values, 300)
}

// TestNested checks that a range within another one gets all values.
func TestNested(t *testing.T) {
	var ranges, values int
	pairs, other := 0, 0
	Range(counted(10, &ranges, &values), func(seq iter.Seq[int]) {
		for range seq {
			for range seq {
				pairs++
			}
		}
	}, func(seq iter.Seq[int]) { other = sum(seq) })
	assert.Equal(t, pairs, 100)
	assert.Equal(t, other, 45)
	assert.Equal(t, ranges, 11)
}

// TestEarlyEnd checks that a sequence ends when no function wants more of it.
func TestEarlyEnd(t *testing.T) {
	var ranges, values int
	two := func(seq iter.Seq[int]) {
		for v := range seq {
			if v == 1 {
				return
			}
		}
	}
	Range(counted(10, &ranges, &values), two, two)
	assert.Equal(t, ranges, 1)
	assert.Equal(t, values, 2)
	Range(counted(10, &ranges, &values))
	assert.Equal(t, ranges, 1)
}

// TestPanic checks that a panic of a function is one of Range, and that nothing of the other functions
// is left.
func TestPanic(t *testing.T) {
	before := runtime.NumGoroutine()
	ended := false
	func() {
		defer func() { assert.Equal(t, recover(), "no") }()
		Range(slices.Values([]int{1, 2}), func(seq iter.Seq[int]) {
			defer func() { ended = true }()
			sum(seq)
		}, func(seq iter.Seq[int]) {
			for range seq {
				panic("no")
			}
		})
	}()
	assert.Assert(t, ended)
	// The goroutine of the test before may have been counted and have ended since.
	runtest.Until(t, "the goroutines of the functions have ended", func() bool { return runtime.NumGoroutine() <= before })
}
