package strain

import (
	"os"
	"path"
	"strconv"
	"strings"
	"time"
)

// cgroupThrottled returns for how long the process's control group, or a group above it, was kept from its
// CPUs because it had used up its share (https://docs.kernel.org/admin-guide/cgroup-v2.html, cpu.stat). It
// returns 0 if this is unknown.
func cgroupThrottled() time.Duration {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return 0
	}
	var most time.Duration
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		root := "" // the hierarchy of the cpu controller
		switch {
		case parts[1] == "":
			root = "/sys/fs/cgroup"
		case parts[1] == "cpu" || strings.HasPrefix(parts[1], "cpu,"):
			root = "/sys/fs/cgroup/" + parts[1]
		default:
			continue
		}
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			if stat, err := os.ReadFile(path.Join(root, group, "cpu.stat")); err == nil {
				most = max(most, throttledIn(string(stat)))
			}
			if group == "/" {
				break
			}
		}
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
