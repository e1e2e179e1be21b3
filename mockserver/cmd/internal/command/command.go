// Package command runs a command-line program: it parses and checks the flags, does the
// work and chooses the exit status.
package command

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

// A Command is a program.
type Command struct {
	// Name is the program's name. Every message begins with it.
	Name string
	// Usage is the command line without the name, such as "[flags] file...". It may have several lines,
	// one for each form.
	Usage string
	// Flags defines the flags.
	Flags func(fs *flag.FlagSet)
	// Check returns an error if the flags or the arguments cannot be used.
	Check func(fs *flag.FlagSet) error
	// Do does the work. args are the arguments after the flags.
	Do func(args []string) error
}

// Run runs the command and returns the exit status: 0 for success and for -help, 1 if Do
// fails, 2 for bad usage. Messages go to stderr.
func (c Command) Run(args []string, stderr io.Writer) int {
	fs := flag.NewFlagSet(c.Name, flag.ContinueOnError)
	fs.SetOutput(stderr)
	c.Flags(fs)
	fs.Usage = func() {
		start := "usage: "
		for form := range strings.Lines(c.Usage) {
			fmt.Fprintf(stderr, "%s%s %s\n", start, c.Name, strings.TrimSpace(form))
			start = "       "
		}
		fmt.Fprintln(stderr)
		fs.PrintDefaults()
	}
	if err := parse(fs, args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if err := c.Check(fs); err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", c.Name, err)
		return 2
	}
	if err := c.Do(fs.Args()); err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", c.Name, err)
		return 1
	}
	return 0
}

// parse parses flags that stand before, between and after other arguments. Afterwards fs.Args returns the other
// arguments. After the argument --, none is a flag.
func parse(fs *flag.FlagSet, args []string) error {
	others := []string{"--"}
	for {
		if err := fs.Parse(args); err != nil {
			return err
		}
		rest := fs.Args()
		if parsed := len(args) - len(rest); len(rest) == 0 || parsed > 0 && args[parsed-1] == "--" {
			return fs.Parse(append(others, rest...))
		}
		others, args = append(others, rest[0]), rest[1:]
	}
}
