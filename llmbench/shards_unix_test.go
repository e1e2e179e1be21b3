//go:build unix

package llmbench

import "syscall"

const stopSignal = syscall.SIGSTOP
