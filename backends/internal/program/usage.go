package program

import "time"

// A Usage is what the processes of a program have used.
type Usage struct {
	// CPU is the user and system time of all processes since the start, including processes that have
	// ended. Two parts are missing: children of a process that does not wait for them (SIGCHLD ignored),
	// and the CPU time of the supervisor itself. The CPU time of running processes is exact to the
	// nanosecond. For processes that have ended, the error is at most 20 ms for each parent.
	CPU time.Duration
	// Memory is the sum of the resident sizes of all running processes, in bytes. A page that several
	// processes share is counted for each of them.
	Memory int64
	// Peak is the largest resident size that a single running process has had since the last call of
	// [Program.ResetPeak], in bytes. It is 0 if the peak cannot be reset.
	Peak int64
}
