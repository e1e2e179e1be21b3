package llmbench

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
)

// Shard returns the number of this process, from 0, among those that measure together, and how many
// these are. For a process that measures alone it returns 0 and 1.
func Shard() (index, count int) {
	if g := process.Group(); g != nil {
		return g.Index, g.Count
	}
	return 0, 1
}

// CheckOneMachine returns an error if another process of a measurement is on another machine than
// shard 0, or in another network namespace, so that it may not reach what only this machine can reach.
// The error names these processes. Only shard 0 knows: elsewhere CheckOneMachine returns nil.
func CheckOneMachine() error {
	g := process.Group()
	if g == nil || g.Index > 0 {
		return nil
	}
	if names := g.Elsewhere(); len(names) > 0 {
		return fmt.Errorf("not on the machine of shard 0, or not in its network: %s", strings.Join(names, ", "))
	}
	return nil
}

// Lead calls f and returns what f returns. If several processes measure together, shard 0 alone calls
// f, and all of them return what f returned there, as package encoding/json keeps it; of an error they
// return the text. All processes must call Lead at the same place, from the goroutine of the benchmark.
// The name says what f does, for the error of a process that is elsewhere. The error wraps the error
// of the group if another process is lost.
//
// Lead is for what decides which requests are sent next, and may differ between processes: what a
// server answers to a question, or what a clock says.
func Lead[T any](name string, f func() (T, error)) (value T, err error) { return process.Lead(name, f) }

// Loop returns the b.Loop of a benchmark that makes its passes with [Pass]. If several processes
// measure together, shard 0 decides whether there is another op.
func Loop(b *testing.B) (more func() bool) {
	p := process.Join(b.Name())
	return func() bool {
		b.Helper()
		another, err := p.More(b)
		if err != nil {
			b.Fatal(err)
		}
		return another
	}
}

// shards returns the number of processes that measure together, or 0 for one alone.
func shards() int {
	if _, n := Shard(); n > 1 {
		return n
	}
	return 0
}
