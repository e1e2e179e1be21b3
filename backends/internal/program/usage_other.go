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

// ResetPeak does nothing on this system.
func (p *Program) ResetPeak() {}

// A platform is the part of a runner that is specific to this system.
type platform struct{}
