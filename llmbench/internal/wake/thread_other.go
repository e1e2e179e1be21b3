//go:build !linux

package wake

import "time"

// A thread is only used on Linux.
type thread struct{}

// newThread returns nil, because this system only has timers.
func newThread() *thread { return nil }

func (*thread) release() {}

func (*thread) sleep(time.Duration) {}
