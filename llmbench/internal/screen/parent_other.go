//go:build !linux

package screen

import "os"

// goCommandStderr returns nil: only Linux shows the files of another process.
func goCommandStderr() *os.File { return nil }
