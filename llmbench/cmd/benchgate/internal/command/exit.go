package command

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// The exit statuses. The status for pass is 0.
const (
	Regression  = 1
	CannotJudge = 2
)

// Fail prints why no report was made, and returns the exit status.
func Fail(stderr io.Writer, err error) int {
	fmt.Fprintln(stderr, "benchgate:", redact.Printable(err.Error()))
	return CannotJudge
}

// Ended returns the exit status of a command that ended with err. It prints err, unless the help was asked for.
func Ended(stderr io.Writer, err error) int {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	return Fail(stderr, err)
}
