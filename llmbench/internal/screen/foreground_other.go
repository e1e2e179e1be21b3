//go:build !unix

package screen

import "os"

// foreground reports whether the process may draw on a terminal.
func foreground(*os.File) bool { return true }
