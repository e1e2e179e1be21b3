package llmbench

import (
	"sync"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/priority"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
)

// best returns the best place in the queue for a CPU that this process may take, or why it has none. The place is always
// the same, because all -count samples of a benchmark must have the same configuration.
var best = sync.OnceValues(priority.Best)

// place returns the place in the queue for a CPU that the threads of this process should have during passes. It
// returns "", which is the usual one, if no other is wanted, and if the server is part of this process, because the
// server would get the place, too.
func (t Target) place(cfg process.Config) priority.Place {
	if t.Simulated || !cfg.Priority {
		return ""
	}
	p, _ := best()
	return p
}
