package wake

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
)

const ms = time.Millisecond

// TestUntil checks that a wait never ends before its instant.
func TestUntil(t *testing.T) {
	w := New()
	defer w.Close()
	start := time.Now()
	for _, after := range []time.Duration{-time.Hour, 0, 1, 100 * time.Microsecond, ms, 5 * ms, 5*ms + 1, 2 * ms} {
		at := start.Add(after)
		w.Until(t.Context(), at)
		assert.Assert(t, !time.Now().Before(at), "the wait until %v ended %v early", after, time.Until(at))
	}
}

// TestUntilOnAVirtualClock checks that each wait ends at its instant on the virtual clock of a synctest
// bubble, which does not advance during nanosleep.
func TestUntilOnAVirtualClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := New()
		defer w.Close()
		start := time.Now()
		for _, after := range []time.Duration{0, 1, ms, 2 * ms, 7 * ms, 6 * ms, time.Hour} {
			before := time.Since(start)
			w.Until(t.Context(), start.Add(after))
			assert.Equal(t, time.Since(start), max(before, after))
		}
		assert.Assert(t, w.thread == nil)
	})
}

// TestUntilTheContextEnds checks that the end of a context ends a wait.
func TestUntilTheContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := New()
		defer w.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		w.Until(ctx, start.Add(time.Hour))
		assert.Equal(t, time.Since(start), time.Second)
		w.Until(ctx, start.Add(time.Hour))
		assert.Equal(t, time.Since(start), time.Second)
	})
}

// BenchmarkLateness measures how late a goroutine runs that should run at random instants, 4 ms apart on
// average: with a timer of package time, and with a Waker.
func BenchmarkLateness(b *testing.B) {
	b.Run("by=timer", func(b *testing.B) {
		lateness(b, func(at time.Time) { time.Sleep(time.Until(at)) })
	})
	b.Run("by=waker", func(b *testing.B) {
		w := New()
		defer w.Close()
		lateness(b, func(at time.Time) { w.Until(b.Context(), at) })
	})
}

// lateness measures how late the goroutine runs after each wait.
func lateness(b *testing.B, until func(at time.Time)) {
	const n = 500
	var late []time.Duration
	for b.Loop() {
		random, next := rand.New(rand.NewPCG(1, 2)), time.Now()
		ran := make(chan time.Duration, n)
		for range n {
			next = next.Add(time.Duration(random.ExpFloat64() * float64(4*ms)))
			at := next
			until(at)
			go func() { ran <- time.Since(at) }()
		}
		for range n {
			late = append(late, <-ran)
		}
	}
	slices.Sort(late)
	b.ReportMetric(0, "ns/op")
	for _, p := range []int{50, 90, 99} {
		b.ReportMetric(float64(late[len(late)*p/100]), fmt.Sprintf("p%d-late-ns", p))
	}
}
