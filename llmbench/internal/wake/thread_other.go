//go:build !linux

package wake

import "time"

// A thread exists on Linux only.
type thread struct{}

// newThread returns nil: timers are all that there is on this system.
func newThread() *thread { return nil }

func (*thread) release() {}

func (*thread) sleep(time.Duration) {}
