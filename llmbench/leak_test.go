package llmbench

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// checkLeaks checks, when t and its subtests are over, that the process has no
// more goroutines and sockets than it has now. Some take a moment to end.
func checkLeaks(t *testing.T) {
	goroutines, sockets := runtime.NumGoroutine(), countSockets()
	t.Cleanup(func() {
		for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(ms) {
			g, s := runtime.NumGoroutine(), countSockets()
			if g <= goroutines && s <= sockets {
				return
			}
			if time.Now().After(deadline) {
				stacks := make([]byte, 1<<20)
				stacks = stacks[:runtime.Stack(stacks, true)]
				t.Fatalf("%d goroutines and %d sockets are left; there were %d and %d:\n%s", g, s, goroutines, sockets, stacks)
			}
		}
	})
}

// countSockets counts this process's open sockets, where the system tells.
func countSockets() (n int) {
	fds, _ := filepath.Glob("/proc/self/fd/*")
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}
