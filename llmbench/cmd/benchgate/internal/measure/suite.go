package measure

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/files"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/proc"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/source"
)

// A suite is the set of benchmarks that the arguments of go test select.
type suite struct {
	packages []string // package patterns
	build    []string // flags of go test -c
	run      []string // flags of the test binaries, for example -test.bench=Chat
}

// parseSuite parses the arguments after "--", which are flags and packages of go test in any order.
func parseSuite(args []string) (suite, error) {
	var s suite
	flags := s.flags()
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
		return suite{}, errors.New("after --: no -bench: want arguments of go test, for example -- -bench=Chat ./scenarios")
	}
	if !s.has("run") {
		s.run = append(s.run, "-test.run=^$")
	}
	if len(s.packages) == 0 {
		s.packages = []string{"."}
	}
	return s, nil
}

// has reports whether the suite sets the test binaries' flag -test.name.
func (s suite) has(name string) bool {
	return slices.ContainsFunc(s.run, func(f string) bool { return strings.HasPrefix(f, "-test."+name+"=") })
}

// flags returns a FlagSet with the flags of go test that are useful for benchmarks. Parsing it fills in s.
func (s *suite) flags() *flag.FlagSet {
	flags := flag.NewFlagSet("go test", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
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
		return errors.New("every sample is a process of its own; set their number with -n of benchgate")
	})
	return flags
}

// Hint adds advice to the error for an undefined flag of command. If the flag is the name of a format, the
// advice is to use -format; if it is a flag of go test, the advice is to put it after "--".
func Hint(err error, command string) error {
	name, undefined := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	switch {
	case !undefined:
	case files.Renderings[name] != nil:
		return fmt.Errorf("%w: want -format %s", err, name)
	case new(suite).flags().Lookup(name) != nil:
		return fmt.Errorf("%w; it is a flag of go test, which stands after --: %s -- -%s=…", err, command, name)
	}
	return err
}

// checkSources returns an error if the suite's packages, built in dir, use sources outside root. A workspace or
// a replace directive could lead to the sources of the other side. The standard library and modules with a
// version are allowed.
func (s suite) checkSources(ctx context.Context, dir, root string) error {
	list := append([]string{"list", "-deps", "-test", "-f", "{{if not .Standard}}{{if .Module}}{{if not (or .Module.Version .ForTest)}}{{.ImportPath}}\t{{.Dir}}{{end}}{{end}}{{end}}"}, s.build...)
	packages, err := proc.Command(ctx, dir, "go", append(list, s.packages...)...)
	if err != nil {
		return err
	}
	for line := range strings.Lines(packages) {
		path, folder, _ := strings.Cut(strings.TrimSpace(line), "\t")
		inside, err := source.Within(folder, root)
		if err != nil {
			return err
		}
		if !inside {
			return fmt.Errorf("package %s would come from %s, outside the files of the commit: is there a go.work or a replace with an absolute path?", path, folder)
		}
	}
	return nil
}
