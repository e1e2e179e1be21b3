//go:build !linux

package ports

import "syscall"

func refuseTimeWait(_, _ string, _ syscall.RawConn) error { return nil }

func reserve(string) bool { return true }
