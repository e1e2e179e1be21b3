package strain

import (
	"strconv"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/cgroup"
)

// cgroupThrottled returns for how long the process's control group, or a group above it, was kept from its
// CPUs because it had used up its share (https://docs.kernel.org/admin-guide/cgroup-v2.html, cpu.stat). It
// returns 0 if this is unknown.
func cgroupThrottled() (most time.Duration) {
	stats, _ := cgroup.CPU("cpu.stat")
	for _, stat := range stats {
		most = max(most, throttledIn(stat))
	}
	return most
}

// throttledIn returns the throttled time in a file cpu.stat of cgroup version 1 or 2.
func throttledIn(stat string) time.Duration {
	for line := range strings.Lines(stat) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseInt(value, 10, 64)
		switch {
		case err != nil:
		case name == "throttled_usec":
			return time.Duration(n) * time.Microsecond
		case name == "throttled_time":
			return time.Duration(n)
		}
	}
	return 0
}
