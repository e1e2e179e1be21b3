package cli

import (
	"fmt"
	"io"
	"os"
)

// Main runs the command with the given name, and ends the process with the exit status that run returns. If
// run returns 0 although standard output could not be written, for example because the disk is full, Main
// prints the error, and the status is lost. Any other status stays, because run has said what is wrong.
func Main(name string, lost int, run func(args []string, stdout, stderr io.Writer) int) {
	out := &output{to: os.Stdout}
	status := run(os.Args[1:], out, os.Stderr)
	if out.err != nil && status == 0 {
		fmt.Fprintf(os.Stderr, "%s: the output is incomplete: %v\n", name, out.err)
		status = lost
	}
	os.Exit(status)
}

// An output writes to another writer, and remembers the first error.
type output struct {
	to  io.Writer
	err error
}

// Write writes b.
func (o *output) Write(b []byte) (int, error) {
	n, err := o.to.Write(b)
	if o.err == nil {
		o.err = err
	}
	return n, err
}
