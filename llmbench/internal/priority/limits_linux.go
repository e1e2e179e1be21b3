package priority

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/cgroup"
)

// mayRR reports whether real-time threads of this process take a CPU from others only within limits, and whether the
// process has no limit that real-time threads would evade.
func mayRR() bool {
	runtime, err := os.ReadFile("/proc/sys/kernel/sched_rt_runtime_us")
	if err != nil || !bounded(string(runtime)) {
		return false
	}
	var time unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_RTTIME, &time) != nil || time.Cur != unix.RLIM_INFINITY {
		return false
	}
	quotas, all := cgroup.CPU("cpu.max")
	old, _ := cgroup.CPU("cpu.cfs_quota_us")
	return all && !slices.ContainsFunc(append(quotas, old...), bounded)
}

// bounded reports whether the first word of a file is a number above 0. In the files sched_rt_runtime_us,
// cpu.cfs_quota_us and cpu.max, this is a time in microseconds; other words mean that there is no limit
// (https://docs.kernel.org/scheduler/sched-rt-group.html, https://docs.kernel.org/scheduler/sched-bwc.html,
// https://docs.kernel.org/admin-guide/cgroup-v2.html).
func bounded(file string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(file), " ")
	n, err := strconv.ParseInt(word, 10, 64)
	return err == nil && n > 0
}
