// Package cli holds code that the commands share.
package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// Parse parses the flags of a command and returns the remaining arguments. If the help was asked for, Parse
// prints usage and the flags to stdout and returns [flag.ErrHelp]. If a flag is wrong, Parse prints usage and
// the flags to stderr and returns the error.
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
