//go:build unix

package conn

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// spareFiles is how many open files a process needs in addition to its connections.
const spareFiles = 64

// checkFiles returns an error if the process cannot open conns more connections. It raises the process's
// limit of open files as far as the system allows (https://man7.org/linux/man-pages/man2/getrlimit.2.html).
func checkFiles(conns int) error {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return nil // unknown; opening the connections may fail later
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
		return fmt.Errorf("%d connections and %d other files, but the process may open only %d (RLIMIT_NOFILE): want a higher ulimit -n", conns, open, limit.Cur)
	}
	return nil
}
