package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A suite is the benchmarks that a command line of go test names.
type suite struct {
	packages []string // patterns
	build    []string // flags of go test -c
	run      []string // flags of the binaries, as they have them: -test.bench=Chat
}

// parseSuite takes the arguments that stand after "--": those of go test, flags
// and packages in any order.
func parseSuite(args []string) (suite, error) {
	var s suite
	flags := flag.NewFlagSet("go test", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	// Of the flags of go test, those that a benchmark can want.
	for _, name := range []string{"bench", "benchtime", "cpu", "run", "skip", "timeout", "parallel"} {
		flags.Func(name, "", func(v string) error {
			s.run = append(s.run, "-test."+name+"="+v)
			return nil
		})
	}
	for _, name := range []string{"benchmem", "short", "v"} {
		flags.BoolFunc(name, "", func(v string) error {
			s.run = append(s.run, "-test."+name+"="+v)
			return nil
		})
	}
	for _, name := range []string{"tags", "ldflags", "gcflags", "asmflags", "mod", "modfile", "overlay", "pgo"} {
		flags.Func(name, "", func(v string) error {
			s.build = append(s.build, "-"+name+"="+v)
			return nil
		})
	}
	for _, name := range []string{"race", "trimpath"} {
		flags.BoolFunc(name, "", func(v string) error {
			s.build = append(s.build, "-"+name+"="+v)
			return nil
		})
	}
	flags.Func("count", "", func(string) error {
		return errors.New("every sample is a process of its own; say how many with benchgate's -n")
	})
	for len(args) > 0 {
		if err := flags.Parse(args); err != nil {
			return suite{}, fmt.Errorf("after --: %w", err)
		}
		args = flags.Args()
		if len(args) > 0 {
			s.packages = append(s.packages, args[0])
			args = args[1:]
		}
	}
	if !s.has("bench") {
		return suite{}, errors.New("after --: no -bench; want what go test would be given, as in: -- -bench=Chat ./scenarios")
	}
	if !s.has("run") {
		s.run = append(s.run, "-test.run=^$")
	}
	if len(s.packages) == 0 {
		s.packages = []string{"."}
	}
	return s, nil
}

// has reports whether the suite sets a flag of the binaries.
func (s suite) has(name string) bool {
	return slices.ContainsFunc(s.run, func(f string) bool { return strings.HasPrefix(f, "-test."+name+"=") })
}
