//go:build !unix

package llmbench

import "syscall"

const stopSignal, resumeSignal = syscall.Signal(0x7f), syscall.Signal(0x7f) // there are none; the tests that use them skip
