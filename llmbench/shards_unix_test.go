//go:build unix

package llmbench

import "syscall"

const stopSignal, resumeSignal = syscall.SIGSTOP, syscall.SIGCONT
