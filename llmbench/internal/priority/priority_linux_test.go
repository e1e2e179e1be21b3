package priority

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"
)

// helper is the environment variable that makes the test binary a process with a limit, which prints its place.
const helper = "PRIORITY_TEST_HELPER"

func TestMain(m *testing.M) {
	how := os.Getenv(helper)
	if how == "" {
		os.Exit(m.Run())
	}
	var err error
	switch how {
	case "RLIMIT_RTTIME":
		err = unix.Setrlimit(unix.RLIMIT_RTTIME, &unix.Rlimit{Cur: 1e6, Max: 1e6})
	case "RLIMIT_RTPRIO":
		err = unix.Setrlimit(unix.RLIMIT_RTPRIO, &unix.Rlimit{Cur: 1, Max: 1})
	}
	if how == "unprivileged" || how == "RLIMIT_RTPRIO" {
		if err == nil {
			err = syscall.Setuid(65534) // of all threads
		}
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	before := placeOf(unix.Getpid())
	h := Take(RR)
	during := placeOf(unix.Getpid())
	had, why := h.Release()
	fmt.Println(before, during, had, placeOf(unix.Getpid()), why)
	os.Exit(0)
}

// placeOf returns the place of a thread, or "" if there is no such thread.
func placeOf(id int) Place {
	a, err := unix.SchedGetAttr(id, 0)
	switch resets := err == nil && a.Flags&unix.SCHED_FLAG_RESET_ON_FORK != 0; {
	case err != nil:
		return ""
	case resets && a.Policy == unix.SCHED_RR && a.Priority == 1:
		return RR
	case resets && a.Policy == unix.SCHED_NORMAL && a.Runtime == uint64(slice):
		return Slice
	case a.Policy == unix.SCHED_NORMAL && a.Runtime != uint64(slice), a.Policy == unix.SCHED_BATCH, a.Policy == unix.SCHED_IDLE:
		return None // tests may run below other processes, as by chrt --idle
	}
	return Place(fmt.Sprintf("%+v", a))
}

// needs skips the test if this process may have no better place. It returns the best place.
func needs(t *testing.T) Place {
	t.Helper()
	p, why := Best()
	if p == None {
		t.Skip("this process may have no better place in the queue for a CPU: " + why)
	}
	return p
}

// await waits until all threads of this process have the place p.
func await(t *testing.T, p Place) {
	t.Helper()
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		all, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return poll.Error(err)
		}
		for _, e := range all {
			id, err := strconv.Atoi(e.Name())
			if err != nil {
				return poll.Error(err)
			}
			if a, err := unix.SchedGetAttr(id, 0); err != nil || a.Nice > 0 { // it has ended, or TestOwnPlace changed it
				continue
			}
			if has := placeOf(id); has != p && has != "" {
				return poll.Continue("thread %d has the place %s", id, has)
			}
		}
		return poll.Success()
	}, poll.WithDelay(10*time.Millisecond), poll.WithTimeout(30*time.Second))
}

// TestTake checks that all threads get the place, also new ones, until the last Hold is released, and that they
// then have exactly what they had before.
func TestTake(t *testing.T) {
	best := needs(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, err := unix.SchedGetAttr(0, 0)
	assert.NilError(t, err)

	first, second := Take(best), Take(best)
	assert.Equal(t, placeOf(0), best)
	stop := make(chan struct{})
	for range 4 { // new threads
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			<-stop
		}()
	}
	await(t, best)
	for range 2 { // further calls do nothing
		first.Release()
		assert.Equal(t, placeOf(0), best)
	}
	had, why := second.Release()
	assert.Equal(t, had, best)
	assert.Equal(t, why, "")
	await(t, None)
	close(stop)
	after, err := unix.SchedGetAttr(0, 0)
	assert.NilError(t, err)
	assert.DeepEqual(t, after, before)
}

// TestNothing checks when the threads keep their place.
func TestNothing(t *testing.T) {
	for _, want := range []Place{"", None} {
		h := Take(want)
		await(t, None)
		had, why := h.Release()
		assert.Equal(t, had, None)
		assert.Equal(t, why, "")
	}
	synctest.Test(t, func(t *testing.T) {
		h := Take(RR)
		assert.Equal(t, placeOf(0), None)
		time.Sleep(time.Hour) // there is no goroutine that wakes up every 64 ms
		had, _ := h.Release()
		assert.Equal(t, had, None)
	})
}

// TestOwnPlace checks that a thread that has another place than the usual one keeps it.
func TestOwnPlace(t *testing.T) {
	best := needs(t)
	ids, stop := make(chan int), make(chan struct{})
	defer close(stop)
	go func() {
		runtime.LockOSThread() // and not unlocked, so that the thread ends with the goroutine
		unix.Setpriority(unix.PRIO_PROCESS, 0, 5)
		ids <- unix.Gettid()
		<-stop
	}()
	id := <-ids
	h := Take(best)
	defer h.Release()
	a, err := unix.SchedGetAttr(id, 0)
	assert.NilError(t, err)
	assert.Equal(t, a.Nice, int32(5))
	assert.Equal(t, placeOf(id), None)
}

// TestEnded checks that a thread that has ended changes no place, and that the thread of another process that now has its
// number keeps its own.
func TestEnded(t *testing.T) {
	if needs(t) != RR {
		t.Skip("real-time threads are not allowed")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	other := exec.CommandContext(t.Context(), "sleep", "60")
	assert.NilError(t, other.Start())
	defer other.Wait()
	defer other.Process.Kill()
	before, err := unix.SchedGetAttr(other.Process.Pid, 0)
	assert.NilError(t, err)
	changed := *before
	changed.Nice = 7

	all := move(RR)
	all.mu.Lock()
	all.earlier[1<<30], all.earlier[other.Process.Pid] = before, &changed
	all.mu.Unlock()
	all.load(0.9, 8)
	had, _ := all.now()
	assert.Equal(t, had, lower(t))
	all.moveBack()
	after, err := unix.SchedGetAttr(other.Process.Pid, 0)
	assert.NilError(t, err)
	assert.DeepEqual(t, after, before)
}

// TestLoad checks what a process does that uses much or little CPU time.
func TestLoad(t *testing.T) {
	if needs(t) != RR {
		t.Skip("real-time threads are not allowed")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	all := move(RR)
	for _, tt := range []struct {
		used  float64
		procs int
	}{{0.2, 3}, {0.05, 1}, {0.05, 1}, {0.2, 1}, {0.4, 3}, {0.05, 1}} {
		all.load(tt.used, 8)
		assert.Equal(t, runtime.GOMAXPROCS(0), tt.procs)
		assert.Equal(t, placeOf(0), RR)
	}
	all.load(0.9, 8)
	had, why := all.now()
	assert.Equal(t, why, "the process used 11 % of the CPUs, and real-time threads may use 10 %")
	assert.Equal(t, placeOf(0), had)
	assert.Equal(t, had, lower(t))
	all.load(0.05, 8)
	assert.Equal(t, runtime.GOMAXPROCS(0), 3)
	all.moveBack()
	await(t, None)
}

// TestProcs checks that a Hold leaves GOMAXPROCS as it was.
func TestProcs(t *testing.T) {
	best := needs(t)
	before := runtime.GOMAXPROCS(0)
	h := Take(best)
	mu.Lock()
	held.load(0, 1)
	mu.Unlock()
	if best == RR {
		assert.Equal(t, runtime.GOMAXPROCS(0), 1)
	}
	h.Release()
	assert.Equal(t, runtime.GOMAXPROCS(0), before)
}

// lower returns the best place below RR.
func lower(t *testing.T) Place {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, err := unix.SchedGetAttr(0, 0)
	assert.NilError(t, err)
	defer restore(0, before)
	if Slice.set(0, before) != nil {
		return None
	}
	return Slice
}

// TestProcesses checks the places of processes with limits, of a process that nice started, and of a process that
// real-time threads started.
func TestProcesses(t *testing.T) {
	if needs(t) != RR || unix.Geteuid() != 0 {
		t.Skip("want root, who may have real-time threads")
	}
	low := lower(t)
	program, err := os.Executable()
	assert.NilError(t, err)
	h := Take(RR)
	defer h.Release()
	for _, tt := range []struct {
		how     string
		command []string
		want    Place
	}{
		{"child", []string{program}, RR},
		{"RLIMIT_RTTIME", []string{program}, low},
		{"unprivileged", []string{program}, low},
		{"RLIMIT_RTPRIO", []string{program}, RR},
		{"nice", []string{"nice", "-n", "1", program}, None},
		{"cgroup", []string{"sh", "-c", `echo $$ >"$1"/cgroup.procs && exec "$2"`, "sh", "", program}, low},
	} {
		t.Run(tt.how, func(t *testing.T) {
			if tt.how == "cgroup" {
				tt.command[4] = limitedGroup(t)
			}
			cmd := exec.CommandContext(t.Context(), tt.command[0], tt.command[1:]...)
			cmd.Env = append(os.Environ(), helper+"="+tt.how)
			out, err := cmd.CombinedOutput()
			if string(out) == fmt.Sprintln(unix.EPERM) {
				t.Skip("root of this machine may not raise limits")
			}
			assert.NilError(t, err, "%s", out)
			assert.Equal(t, string(out), fmt.Sprintln(None, tt.want, tt.want, None, ""))
		})
	}
}

// limitedGroup returns the folder of a new control group that may use half of a CPU.
func limitedGroup(t *testing.T) string {
	t.Helper()
	var reasons error
	for _, at := range []struct{ parent, file, limit string }{
		{"/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "50000"},
		{"/sys/fs/cgroup", "cpu.max", "50000 100000"},
	} {
		dir, err := os.MkdirTemp(at.parent, "llmbench-priority-")
		if err == nil {
			t.Cleanup(func() { os.Remove(dir) })
			if err = os.WriteFile(filepath.Join(dir, at.file), []byte(at.limit), 0); err == nil {
				// Without this, some kernels allow no real-time threads in the group.
				os.WriteFile(filepath.Join(dir, "cpu.rt_runtime_us"), []byte("10000"), 0)
				return dir
			}
		}
		reasons = errors.Join(reasons, err)
	}
	t.Skipf("no control group can be created: %v", reasons)
	return ""
}

// TestBounded checks which files mean a limit.
func TestBounded(t *testing.T) {
	for file, want := range map[string]bool{
		"max 100000\n": false, "2000 100000\n": true, // cpu.max
		"-1\n": false, "2000\n": true, // cpu.cfs_quota_us
		"950000\n": true, "0\n": false, // sched_rt_runtime_us
		"": false, "many\n": false,
	} {
		assert.Equal(t, bounded(file), want, "%q", file)
	}
}
