//go:build !linux

package debroot

import (
	"context"
	"os/exec"
)

// Build returns an error on other systems before these functions have any effect.

func killGroup(*exec.Cmd) {}

// Lock returns [ErrUnavailable].
func Lock(context.Context, string) (func(), error) { return nil, ErrUnavailable }
