//go:build !linux

package llmbench

import "testing"

// awaitStamps returns at once: only Linux timestamps received data.
func awaitStamps(testing.TB) {}
