package scenarios

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/llmbench/version"
)

// A release has this test binary as the program llmbench, for machines without Go. The binary then has the flags of
// "go test": a flag -test.x of the test binary is -x (https://pkg.go.dev/cmd/go#hdr-Testing_flags).

// commandHelp is what llmbench -help prints. It has the lists of scenarios, of variables, of old variables and of variables that scenarios read.
const commandHelp = `usage: LLMBENCH_URL=http://127.0.0.1:8000 llmbench -bench=Serve [flags] >results.txt
       LLMBENCH_BACKEND=list llmbench
       llmbench version

Llmbench measures a server that runs at LLMBENCH_URL, or a simulated server without it. It prints results in Go benchmark
format, which benchgate, benchreport and benchstat read, and a table for people on standard error.

The flags are the flags of go test; the most useful are:

  -bench regexp      run these scenarios: %s
  -benchtime Nx      measure N passes (1x)
  -count n           repeat each scenario n times; a fresh process is a better sample
  -list ^Benchmark   list scenarios, and measure nothing
  -v                 print what scenarios log

Variables say what to measure; an unknown variable is an error.

%s
https://github.com/seed-2b9cec6d/llmbench/blob/main/llmbench/VARIABLES.md says more about each.
%s
still work, too, and say what to set instead. A variable of a load ends the run if no scenario that runs reads it.
Every scenario but ColdStart reads %s.
They also read:

%s`

// isCommand reports whether the file of a program is a released binary: llmbench, or for example
// llmbench-linux-amd64, and no test binary of a package llmbench.
func isCommand(path string) bool {
	base := strings.TrimSuffix(filepath.Base(path), ".exe")
	return strings.HasPrefix(base, "llmbench") && !strings.HasSuffix(base, ".test")
}

// command returns the arguments of the test binary for the arguments of llmbench. If end is set, the process has to end with the
// status instead.
func command(args []string, lookup func(string) *flag.Flag, stdout, stderr io.Writer) (full []string, status int, end bool) {
	if version.Asked(args) {
		io.WriteString(stdout, version.Line("llmbench"))
		return nil, 0, true
	}
	given := map[string]bool{}
	for i := 0; i < len(args); i++ {
		name, value, hasValue := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(args[i], "-"), "-"), "=")
		switch {
		case args[i] == name:
			return nil, refuse(stderr, "argument %q: want flags only, such as -bench=%s", args[i], args[i]), true
		case name == "h" || name == "help":
			fmt.Fprintf(stdout, commandHelp, scenarioNames(), variablesHelp, strings.Join(slices.Sorted(maps.Keys(env.Old())), ", "), strings.Join(common, ", "), readTable())
			return nil, 0, true
		}
		f := lookup(name)
		if f == nil {
			f = lookup("test." + name)
		}
		if f == nil {
			return nil, refuse(stderr, "flag -%s is not known; llmbench -help lists the flags", name), true
		}
		given[strings.TrimPrefix(f.Name, "test.")] = true
		isBool, _ := f.Value.(interface{ IsBoolFlag() bool })
		if !hasValue && (isBool == nil || !isBool.IsBoolFlag()) {
			if i++; i == len(args) {
				return nil, refuse(stderr, "flag -%s: want a value, as in -%s=VALUE", name, name), true
			}
			value, hasValue = args[i], true
		}
		arg := "-" + f.Name
		if hasValue {
			arg += "=" + value
		}
		full = append(full, arg)
	}
	if !given["bench"] && !given["list"] && !given["run"] {
		return nil, refuse(stderr, "no scenario: want -bench=REGEXP, such as -bench=Serve; llmbench -help lists them"), true
	}
	for _, d := range []struct{ name, value string }{{"run", "^$"}, {"benchtime", "1x"}} {
		if !given[d.name] {
			full = append(full, "-test."+d.name+"="+d.value)
		}
	}
	return full, 0, false
}

// refuse prints why arguments are wrong, and returns the exit status.
func refuse(stderr io.Writer, format string, args ...any) int {
	fmt.Fprintf(stderr, "llmbench: "+format+"\n", args...)
	return 2
}

// readTable lists the load variables that each scenario reads, without their common prefix.
func readTable() string {
	var b strings.Builder
	for _, sc := range everyScenario() {
		names := slices.Sorted(slices.Values(sc.reads))
		fmt.Fprintf(&b, "  %-17s %s\n", sc.Name, strings.ReplaceAll(strings.Join(names, " "), "LLMBENCH_", ""))
	}
	return b.String()
}

// scenarioNames lists the catalogue.
func scenarioNames() string {
	var names []string
	for _, s := range everyScenario() {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}
