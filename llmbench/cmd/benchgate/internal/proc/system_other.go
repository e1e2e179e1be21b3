//go:build !unix

package proc

import "os/exec"

// This system has no process groups, so only the process itself gets signals.

func ownGroup(*exec.Cmd) {}

func interruptGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }

func killGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }
