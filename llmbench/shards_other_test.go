//go:build !unix

package llmbench

import "syscall"

const stopSignal, resumeSignal = syscall.Signal(0x7f), syscall.Signal(0x7f) // not available; the tests skip
