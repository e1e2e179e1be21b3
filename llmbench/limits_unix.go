//go:build unix

package llmbench

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// spareFiles is how many files a process needs beside its connections.
const spareFiles = 64

// checkFiles says whether the process may open so many connections, and raises its
// limit as far as it may (https://man7.org/linux/man-pages/man2/getrlimit.2.html).
func checkFiles(conns int) error {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return nil // opening them will tell
	}
	if limit.Cur < limit.Max {
		raised := limit
		raised.Cur = limit.Max
		if unix.Setrlimit(unix.RLIMIT_NOFILE, &raised) == nil {
			limit = raised
		}
	}
	open := spareFiles
	if entries, err := os.ReadDir("/proc/self/fd"); err == nil {
		open = max(open, len(entries)+spareFiles/2)
	}
	if uint64(limit.Cur) < uint64(conns)+uint64(open) {
		return fmt.Errorf("load: %d connections and %d other files, and the process may open %d (RLIMIT_NOFILE): want a higher ulimit -n", conns, open, limit.Cur)
	}
	return nil
}
