//go:build !linux

package program

import (
	"errors"
	"fmt"
)

// Usage returns an error that wraps [errors.ErrUnsupported] on this system.
func (p *Program) Usage() (Usage, error) {
	return Usage{}, fmt.Errorf("CPU time and memory of a program: %w", errors.ErrUnsupported)
}

// Footprint returns an error that wraps [errors.ErrUnsupported] on this system.
func Footprint(int) (resident int64, files int, err error) {
	return 0, 0, fmt.Errorf("memory of a process: %w", errors.ErrUnsupported)
}

// ResetPeak does nothing on this system.
func (p *Program) ResetPeak() {}

// A platform is the part of a runner that is specific to this system.
type platform struct{}
