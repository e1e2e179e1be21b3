package program

import "time"

// A Usage is what the processes of a program have used.
type Usage struct {
	// CPU is the user and system time of all processes since the start, also of those that have
	// ended, except for children of a process that does not wait for them (SIGCHLD ignored) and for
	// CPU time of the supervisor itself. Of processes that run it is known to the nanosecond, and
	// of processes that have ended to 20 ms for each parent.
	CPU time.Duration
	// Memory is the sum of the resident sizes of all processes that run, in bytes. A page that several
	// processes share counts for each of them.
	Memory int64
	// Peak is the largest resident size of a single process that runs, in bytes, since the
	// last [Program.ResetPeak] or, where that is not allowed, 0.
	Peak int64
}
