package harness

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
)

// Shard returns the index of this process, from 0, among the processes that measure together, and the
// number of these processes. For a process that measures alone, Shard returns 0 and 1.
func Shard() (index, count int) {
	if g := process.Group(); g != nil {
		return g.Index, g.Count
	}
	return 0, 1
}

// CheckOneMachine returns an error if another process of the measurement runs on another machine than shard
// 0, or in another network namespace. Such a process might be unable to reach the server, for example if the
// server listens only on the loopback address of shard 0's machine. The error names these processes. Only
// shard 0 knows where the others run; in other processes CheckOneMachine returns nil.
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

// Lead calls f and returns its results. If several processes measure together, only shard 0 calls f, and
// Lead returns the results of shard 0 in all processes. The value is sent as JSON. An error is sent as text.
//
// All processes must call Lead at the same point of the benchmark, from the benchmark's goroutine. If
// another process is at a different point, Lead fails. The error then contains name, which describes what f
// does. If the connection to another process is lost, the error of Lead wraps the error of the connection.
//
// Use Lead for a value on which the next requests depend, if each process could get a different value.
// Examples are the answer of a server and the time of a clock.
func Lead[T any](name string, f func() (T, error)) (value T, err error) { return process.Lead(name, f) }

// Loop returns a replacement for b.Loop, for a benchmark that makes its passes with llmbench.Pass. If several
// processes measure together, shard 0 decides whether there is another op.
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
