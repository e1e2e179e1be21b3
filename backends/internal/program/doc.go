// Package program runs a program that a benchmark measures, and all processes that the
// program starts, so that none of them outlives this process.
//
// On Unix a supervisor is between this process and the program. The supervisor is this
// process's own executable, started again under another name: see [Start]. It holds the
// end of a pipe whose other end only this process has. When the pipe ends, because
// [Program.Stop] was called or because this process has ended in any way, the supervisor
// ends the program. It is in a session of its own, so that the signals of a terminal
// reach neither the supervisor nor the program.
//
// On Linux the supervisor adopts the orphans among the program's descendants
// (PR_SET_CHILD_SUBREAPER in prctl(2)) and ends all descendants, also those that have
// left the program's process group or session. If the supervisor is killed, the kernel
// kills the program (PR_SET_PDEATHSIG). [Program.Usage] tells what all of them use.
//
// On other Unix systems the supervisor ends the program's process group. A descendant
// that has left the group stays, and Usage is not supported.
//
// On other systems there is no supervisor: Stop ends the program's own process, and
// nothing ends the program when this process is killed.
package program
