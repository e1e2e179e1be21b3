//go:build !linux

package screen

import "os"

// goCommandStderr returns nil, because only Linux gives access to the files of another process.
func goCommandStderr() *os.File { return nil }
