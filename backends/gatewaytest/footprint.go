package gatewaytest

import (
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/program"
)

// A Footprint is what a gateway occupies at an instant.
type Footprint struct {
	// Bytes is the gateway's memory.
	Bytes int64
	// Live says that Bytes does not include garbage. Then hundreds of requests show what each of them leaves behind,
	// and otherwise thousands.
	Live bool
	// Goroutines and Files are the numbers of goroutines, and of open files and connections. 0 means that a number is not
	// known.
	Goroutines, Files int
}

// MeasureSelf returns the footprint of this process, for [Options.Measure] of a gateway that runs in it. It collects garbage
// first. What else the process does at the same time counts, too.
func MeasureSelf() (Footprint, error) {
	for range 2 { // a sync.Pool keeps its elements during one collection
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	_, files, _ := program.Footprint(os.Getpid()) // 0 on other systems
	return Footprint{Bytes: int64(m.HeapAlloc), Live: true, Goroutines: runtime.NumGoroutine(), Files: files}, nil
}

// MeasureProcess returns a function for [Options.Measure] of a gateway that is a process of this machine. It adds up the
// resident memory and the open files of the process and of its descendants. It needs Linux.
func MeasureProcess(pid int) func() (Footprint, error) {
	return func() (Footprint, error) {
		bytes, files, err := program.Footprint(pid)
		return Footprint{Bytes: bytes, Files: files}, err
	}
}

// unmeasured says what is missing if Options.Measure is nil.
const unmeasured = "Options.Measure is nil: the gateway's memory is not known"

// sampling is the time between two measurements of a watch.
const sampling = 20 * time.Millisecond

// watch measures the gateway until grown is called. grown returns by how many bytes the gateway has grown at most, or 0 if
// that is not known.
func (k *kit) watch() (grown func() (int64, error)) {
	if k.o.Measure == nil {
		return func() (int64, error) { return 0, nil }
	}
	base, err := k.o.Measure()
	if err != nil {
		return func() (int64, error) { return 0, err }
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	peak := base.Bytes
	go func() {
		defer close(ended)
		for last := false; !last && err == nil; {
			select {
			case <-stop:
				last = true
			case <-time.After(sampling):
			}
			var now Footprint
			now, err = k.o.Measure()
			peak = max(peak, now.Bytes)
		}
	}()
	return func() (int64, error) {
		close(stop)
		<-ended
		return peak - base.Bytes, err
	}
}

// megabytes writes a number of bytes.
func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }
