package main

import (
	"fmt"
	"io"
)

// The exit statuses. The status for pass is 0.
const (
	exitRegression  = 1
	exitCannotJudge = 2
)

// fail prints why no report was made, and returns the exit status.
func fail(stderr io.Writer, err error) int {
	fmt.Fprintln(stderr, "benchgate:", err)
	return exitCannotJudge
}
