// Package cli is what the commands have in common.
package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// Parse parses a command's flags and returns its other arguments. It prints the
// help, which is usage and the flags, to stdout if that was asked for, when the
// error is [flag.ErrHelp], and to stderr after a mistake.
func Parse(fs *flag.FlagSet, usage string, args []string, stdout, stderr io.Writer) ([]string, error) {
	fs.SetOutput(io.Discard)
	err := fs.Parse(args)
	if err != nil {
		w := stderr
		if errors.Is(err, flag.ErrHelp) {
			w = stdout
		}
		fmt.Fprintln(w, usage)
		fs.SetOutput(w)
		fs.PrintDefaults()
	}
	return fs.Args(), err
}
