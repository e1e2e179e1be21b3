package main

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// The exit statuses. The status for pass is 0.
const (
	exitRegression  = 1
	exitCannotJudge = 2
)

// fail prints why no report was made, and returns the exit status.
func fail(stderr io.Writer, err error) int {
	fmt.Fprintln(stderr, "benchgate:", redact.Printable(err.Error()))
	return exitCannotJudge
}

// ended returns the exit status of a command that ended with err. It prints err, unless the help was asked for.
func ended(stderr io.Writer, err error) int {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	return fail(stderr, err)
}
