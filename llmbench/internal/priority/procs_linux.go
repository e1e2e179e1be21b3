package priority

import "runtime"

const (
	// most is the largest share of the CPUs that the process may use with the place RR.
	most = 0.1
	// A process that uses less than few CPUs runs Go code on one thread at a time, until it uses more than many.
	few, many = 0.1, 0.3
)

// procs is the number of threads that run Go code at the same time (GOMAXPROCS).
//
// If the Go runtime has more than one, it wakes a second thread for each batch of packets, which looks for work and
// finds none. As a real-time thread, the second thread takes a CPU from the server each time. With one, a client that
// reads a stream of a thousand tokens a second needed about 40 % less CPU time.
type procs struct {
	all int // the number to which restore goes back; 0 if it is unchanged
}

// adapt sets the number for a process that used the given number of CPUs.
func (p *procs) adapt(used float64) {
	switch {
	case used < few && p.all == 0:
		if n := runtime.GOMAXPROCS(0); n > 1 {
			p.all = runtime.GOMAXPROCS(1)
		}
	case used > many:
		p.restore()
	}
}

// restore sets the number that there was before adapt.
func (p *procs) restore() {
	if p.all > 0 {
		runtime.GOMAXPROCS(p.all)
		p.all = 0
	}
}
