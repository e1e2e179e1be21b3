package program

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

func init() {
	// This role burns half a second of CPU time on two threads, lets a child burn a quarter, and
	// waits for the child. Then it writes how much CPU time it has used according to the kernel.
	roles["burn"] = func([]string) {
		burn(250 * time.Millisecond)
		child := exec.Command("/proc/self/exe")
		child.Env = environ("burn in a child")
		if err := child.Run(); err != nil {
			panic(err)
		}
		fmt.Printf("burnt %d\n", cpuOf(syscall.RUSAGE_SELF)+cpuOf(syscall.RUSAGE_CHILDREN))
		time.Sleep(patience)
	}
	roles["burn in a child"] = func([]string) { burn(125 * time.Millisecond) }
	// When this role gets SIGUSR1, it allocates 64 MiB for a moment. Then it writes that it has
	// freed them.
	roles["memory"] = func([]string) {
		const size = 64 << 20
		begin := make(chan os.Signal, 1)
		signal.Notify(begin, syscall.SIGUSR1)
		fmt.Println("ready")
		<-begin
		b, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			panic(err)
		}
		for i := 0; i < size; i += os.Getpagesize() {
			b[i] = 1
		}
		if err := syscall.Munmap(b); err != nil {
			panic(err)
		}
		fmt.Println("given back")
		time.Sleep(patience)
	}
}

// burn uses CPU time on two threads. Each thread uses the given time.
func burn(each time.Duration) {
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for deadline := cpuOf(syscall.RUSAGE_SELF) + 2*each; cpuOf(syscall.RUSAGE_SELF) < deadline; {
			}
		})
	}
	wg.Wait()
}

// cpuOf returns the CPU time that getrusage(2) reports for this process or for its children.
func cpuOf(who int) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestUsage checks the CPU time of a program and of a child of it that has ended. It compares this
// time with the time that the kernel reports to the program itself.
func TestUsage(t *testing.T) {
	p, o := run(t, "burn")
	var burnt time.Duration
	within(t, "line about CPU time", func() bool {
		_, line, found := strings.Cut(o.String(), "burnt ")
		if found && strings.HasSuffix(line, "\n") {
			_, err := fmt.Sscan(line, &burnt)
			assert.NilError(t, err)
		}
		return burnt > 0
	})
	u, err := p.Usage()
	assert.NilError(t, err)
	assert.Assert(t, burnt >= 750*time.Millisecond, "%v", burnt)
	difference := (u.CPU - burnt).Abs()
	assert.Assert(t, difference <= max(burnt/50, 20*time.Millisecond), "%v; the program has used %v", u.CPU, burnt)

	assert.NilError(t, syscall.Kill(o.pids(t, 1)[0], syscall.SIGKILL))
	wait(t, p)
}

// TestPeak checks that a peak of a program's memory is known although it lasted only a moment,
// until the peak is reset.
func TestPeak(t *testing.T) {
	p, o := run(t, "memory")
	within(t, "ready", func() bool { return strings.Contains(o.String(), "ready") })
	p.ResetPeak()
	assert.NilError(t, syscall.Kill(o.pids(t, 1)[0], syscall.SIGUSR1))
	within(t, "given back", func() bool { return strings.Contains(o.String(), "given back") })
	u, err := p.Usage()
	assert.NilError(t, err)
	assert.Assert(t, u.Memory > 0 && u.Memory < 64<<20 && u.Peak >= 64<<20, "%+v", u)
	p.ResetPeak()
	u, err = p.Usage()
	assert.NilError(t, err)
	assert.Assert(t, u.Peak > 0 && u.Peak < 64<<20, "%+v", u)
}

func TestParseStat(t *testing.T) {
	const line = "12 (a) b (c) S 3 12 12 0 -1 4194304 1 2 0 0 7 8 100 20 20 0 1 0 4711 1 2\n"
	s, err := parseStat([]byte(line))
	assert.NilError(t, err)
	assert.Equal(t, s, stat{pid: 12, parent: 3, name: "a) b (c", state: 'S', children: 120, start: 4711})
	for text, want := range map[string]string{
		"":                                      "want a name in parentheses",
		"12 )(":                                 "want a name in parentheses",
		"12 (a) S 3":                            "want 22 fields",
		strings.Replace(line, "12", "x", 1):     "field 1: ",
		strings.Replace(line, "S 3", "S -3", 1): "field 4: ",
		strings.Replace(line, "S 3", "\x00 3", 1): "field 3: \"\\x00\": want a letter",
	} {
		_, err := parseStat([]byte(text))
		assert.ErrorContains(t, err, want)
	}
	self, err := readStat(os.Getpid())
	assert.NilError(t, err)
	assert.Equal(t, self.parent, os.Getppid())
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("12 (a) S 3 12 12 0 -1 4194304 1 2 0 0 7 8 100 20 20 0 1 0 4711 1 2\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := parseStat(text)
		if err == nil && (s.parent < 0 || s.state < 'A') {
			t.Errorf("%q: %+v", text, s)
		}
	})
}

// runs reports whether a process exists and is not a zombie.
func runs(pid int) bool {
	s, err := readStat(pid)
	return err == nil && s.state != zombie
}

// TestFootprint checks the memory and the open files of this process, which opens one more file.
func TestFootprint(t *testing.T) {
	_, before, err := Footprint(os.Getpid())
	assert.NilError(t, err)
	f, err := os.Open("/proc/self/stat")
	assert.NilError(t, err)
	defer f.Close()
	resident, after, err := Footprint(os.Getpid())
	assert.NilError(t, err)
	assert.Equal(t, after-before, 1)
	assert.Assert(t, resident > 1<<20)

	_, _, err = Footprint(-1)
	assert.ErrorIs(t, err, os.ErrNotExist)
}
