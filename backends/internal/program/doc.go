// Package program runs a program that a benchmark measures, and ensures that neither the program nor any
// process that it starts outlives this process.
//
// On Unix a supervisor process runs between this process and the program. The supervisor is this process's
// own executable, started again under another name; see [Start]. It reads from a pipe to which only this
// process has the other end. The pipe is closed when [Program.Stop] is called, or when this process ends
// for any reason. The supervisor then stops the program. The supervisor has its own session, so that
// signals of a terminal reach neither the supervisor nor the program.
//
// On Linux the supervisor adopts orphans among the program's descendants (PR_SET_CHILD_SUBREAPER in
// prctl(2)) and stops all descendants, including those that have left the program's process group or
// session. If the supervisor is killed, the kernel kills the program (PR_SET_PDEATHSIG). [Program.Usage]
// returns the CPU time and memory that all of them use.
//
// On other Unix systems the supervisor stops the program's process group. A descendant that has left the
// group keeps running, and Usage is not supported.
//
// On other systems there is no supervisor. Stop stops only the program's own process, and nothing stops the
// program if this process is killed.
package program
