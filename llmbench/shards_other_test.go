//go:build !unix

package llmbench

import "syscall"

const stopSignal = syscall.Signal(0x7f) // there is none; the test that uses it skips
