// Package priority gives the threads of this process a better place in the queue for a CPU while the process
// measures. Without it, a client beside a server that uses all cores reads up to a hundred milliseconds late,
// because each of its threads waits until the server's threads have used up their time.
//
// On Linux there are two better places: real-time round robin, and a short scheduling slice. Package priority
// takes the first that the process is allowed to take, for all threads, and gives it back. It does not decide when
// a process measures. On other systems it does nothing.
//
// These stay as they are:
//
//   - Processes that this process starts, because a thread's place is reset when it forks.
//   - Threads that somebody gave a place of their own, for example with nice or chrt.
//   - Everything in a bubble of [testing/synctest], whose clock is virtual.
//
// Real-time round robin is not taken where it could take a CPU from others without a limit:
//
//   - If a control group limits the CPU time of the process, because the limit does not apply to real-time
//     threads, or if there may be such groups that the process cannot see, as in a container.
//   - If the kernel does not limit real-time threads (sched_rt_runtime_us), or limits the CPU time of a
//     real-time thread between two waits, after which it kills the process (RLIMIT_RTTIME).
//   - Once the process has used more than a tenth of the CPUs, because the server would become slower. While it uses
//     little, it runs Go code on one thread at a time ([runtime.GOMAXPROCS]), which needs less CPU time.
package priority

// A Place is a place in the queue for a CPU.
type Place string

const (
	// RR is real-time round robin with the lowest priority, 1 (SCHED_RR). The threads run before all threads
	// that are not real-time threads. It needs CAP_SYS_NICE, or a limit of at least 1 for RLIMIT_RTPRIO.
	RR Place = "rr"
	// Slice is a scheduling slice of 0.1 ms. The threads have an earlier deadline than others when they begin
	// to wait for a CPU, and get no more CPU time than otherwise. It needs Linux 6.12, and no privilege.
	Slice Place = "slice"
	// None is the place that the process has.
	None Place = "none"
)
