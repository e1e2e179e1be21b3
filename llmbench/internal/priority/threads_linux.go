package priority

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// threads are the threads of this process while they have a better place.
type threads struct {
	stop chan struct{} // closed when watch should return
	done chan struct{} // closed when watch has returned

	mu      sync.Mutex
	place   Place                   // guarded by mu
	why     string                  // guarded by mu; why place is not the place at first; "" if it is
	earlier map[int]*unix.SchedAttr // guarded by mu; what the threads go back to, by thread
	procs   procs                   // guarded by mu
}

// move gives all threads of this process, and those that it starts later, the place p.
func move(p Place) *threads {
	t := &threads{stop: make(chan struct{}), done: make(chan struct{}), place: p, earlier: map[int]*unix.SchedAttr{}}
	if p == None {
		close(t.done)
		return t
	}
	t.sweep()
	go t.watch(time.Now(), cpuTime())
	return t
}

// moveBack gives the threads the place that they had before.
func (t *threads) moveBack() {
	close(t.stop)
	<-t.done
	t.mu.Lock()
	defer t.mu.Unlock()
	t.procs.restore()
	t.forget()
	for id, a := range t.earlier {
		restore(id, a)
	}
}

// now returns the place of the threads. If this is not their first place, why says why.
func (t *threads) now() (p Place, why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.place, t.why
}

const (
	// firstPause is the time after which watch first looks for new threads. The time doubles up to lastPause
	// while there are none. The Go runtime starts most of its threads at the beginning of a load.
	firstPause = time.Millisecond
	lastPause  = 64 * time.Millisecond
	// window is the time over which the CPU time of the process is measured.
	window = 250 * time.Millisecond
)

// watch gives new threads the place, too, because what a real-time thread starts is an ordinary thread. It also
// measures the CPU time of the process, which was used at the instant begin, for the method load.
func (t *threads) watch(begin time.Time, used time.Duration) {
	defer close(t.done)
	timer := time.NewTimer(firstPause)
	defer timer.Stop()
	for pause := firstPause; ; timer.Reset(pause) {
		select {
		case <-t.stop:
			return
		case <-timer.C:
		}
		if pause = min(2*pause, lastPause); t.sweep() {
			pause = firstPause
		}
		if took := time.Since(begin); took >= window {
			now := cpuTime()
			t.load(float64(now-used)/float64(took), runtime.NumCPU())
			begin, used = begin.Add(took), now
		}
	}
}

// sweep gives the place to the threads that do not have it yet. It reports whether there were any.
func (t *threads) sweep() (found bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.place == None {
		return false
	}
	folder, err := os.Open("/proc/self/task")
	if err != nil {
		return false
	}
	defer folder.Close()
	names, _ := folder.Readdirnames(-1)
	for _, name := range names {
		id, err := strconv.Atoi(name)
		if err != nil || t.earlier[id] != nil {
			continue
		}
		a, err := unix.SchedGetAttr(id, 0)
		if err != nil || !ordinary(a) || t.place.set(id, a) != nil {
			continue
		}
		t.earlier[id], found = a, true
	}
	return found
}

// load tells the threads how many of the machine's CPUs they used.
func (t *threads) load(used float64, cpus int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.place != RR {
		return
	}
	if share := used / float64(cpus); share > most {
		t.why = fmt.Sprintf("the process used %.0f %% of the CPUs, and real-time threads may use %.0f %%", 100*share, 100*most)
		t.lower()
		return
	}
	t.procs.adapt(used)
}

// lower replaces the place RR by Slice, or by None. The caller must hold t.mu.
func (t *threads) lower() {
	t.procs.restore()
	t.place = Slice
	t.forget()
	for id, a := range t.earlier {
		if err := Slice.set(id, a); err != nil && err != unix.ESRCH {
			restore(id, a)
			t.place = None
		}
	}
}

// forget forgets threads that have ended: the kernel may have given their numbers to threads of other processes. The caller
// must hold t.mu.
func (t *threads) forget() {
	for id := range t.earlier {
		if _, err := os.Stat("/proc/self/task/" + strconv.Itoa(id)); errors.Is(err, fs.ErrNotExist) {
			delete(t.earlier, id)
		}
	}
}

// cpuTime returns the CPU time that this process has used.
func cpuTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// virtual reports whether the clock of package time is the virtual clock of a testing/synctest bubble, which does
// not advance during nanosleep.
func virtual() bool {
	before := time.Now()
	unix.Nanosleep(&unix.Timespec{Nsec: 1}, nil)
	return time.Since(before) == 0
}
