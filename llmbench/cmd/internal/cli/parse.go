// Package cli holds code that the commands share.
package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// Parse parses the flags of a command and returns the other arguments. Flags may stand before, between and after
// the other arguments; after the argument --, none is a flag. If the help was asked for, Parse prints usage and the
// flags to stdout and returns [flag.ErrHelp]. If a flag is wrong, Parse prints usage and the flags to stderr and
// returns the error.
func Parse(fs *flag.FlagSet, usage string, args []string, stdout, stderr io.Writer) (others []string, err error) {
	for {
		rest, err := ParseFirst(fs, usage, args, stdout, stderr)
		if err != nil {
			return nil, err
		}
		if parsed := len(args) - len(rest); len(rest) == 0 || parsed > 0 && args[parsed-1] == "--" {
			return append(others, rest...), nil
		}
		others, args = append(others, rest[0]), rest[1:]
	}
}

// ParseFirst is like Parse, but all arguments after the first one that is no flag are returned as they are.
func ParseFirst(fs *flag.FlagSet, usage string, args []string, stdout, stderr io.Writer) ([]string, error) {
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
