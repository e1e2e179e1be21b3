package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// docExample matches a command in the package documentation with its output, which ends with the exit status.
var docExample = regexp.MustCompile(`(?m)^//\t\$ benchgate (.*); echo \$\?\n((?://\t.*\n|//\n//\t.*\n)+)`)

// TestDoc runs the examples in the package documentation.
func TestDoc(t *testing.T) {
	source, err := os.ReadFile("main.go")
	assert.NilError(t, err)
	t.Chdir("../../gate/testdata/chat")
	examples := docExample.FindAllStringSubmatch(string(source), -1)
	assert.Equal(t, len(examples), 2)
	for _, e := range examples {
		var stdout, stderr bytes.Buffer
		status := run(strings.Fields(e[1]), &stdout, &stderr)
		got := fmt.Sprintf("%s%d\n", &stdout, status)
		want := strings.ReplaceAll(strings.ReplaceAll(e[2], "//\t", ""), "//\n", "\n")
		assert.Equal(t, got, want, "benchgate %s", e[1])
		assert.Equal(t, stderr.String(), "", "benchgate %s", e[1])
	}
}

func TestExitStatus(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, lines := range map[string]string{
		"reqs":  strings.Repeat("goos: linux\nBenchmarkA 1 100 req/s\nPASS\n", 6),
		"ops":   strings.Repeat("goos: linux\nBenchmarkA 1 100 ns/op\nPASS\n", 6),
		"slow":  strings.Repeat("goos: linux\nBenchmarkA 1 200 ns/op\nPASS\n", 6),
		"gpu":   "gpu: a\n" + strings.Repeat("goos: linux\nBenchmarkA 1 100 ns/op\nPASS\n", 6),
		"cut":   strings.Repeat("goos: linux\nBenchmarkA 1 100 ns/op\nPASS\n", 6) + "goos: linux\n",
		"empty": "",
		"via":   strings.Repeat("goos: linux\nBenchmarkA/via=direct 1 100 ns/op\nBenchmarkA/via=gateway 1 200 ns/op\nPASS\n", 6),
		"more":  strings.Repeat("goos: linux\nBenchmarkA 1 100 ns/op\nBenchmarkB 1 100 ns/op\nPASS\n", 6),
		"count": "goos: linux\n" + strings.Repeat("BenchmarkA 1 100 ns/op\n", 6) + "PASS\n",
		// The output of "grep -e Benchmark -e goos".
		"filtered": strings.Repeat("goos: linux\nBenchmarkA 1 100 ns/op\n", 6),
		"units":    "Unit ns/op gate=5%\n",
		"typo":     "Unit ns/op gaet=5%\nunit ns/op gate=5%\n",
	} {
		assert.NilError(t, os.WriteFile(path(name), []byte(lines), 0o600))
	}
	units := "-units=" + path("units")
	for _, c := range []struct {
		args   []string
		status int
		stdout string // part of the output; "" means no output
		stderr string
	}{
		{[]string{units, path("ops"), path("ops")}, 0, "\npass: 1 row within its margin; both files have the same contents, so the results are compared with themselves\n", ""},
		{[]string{units, path("ops"), path("slow")}, 1, "\nregression: A ns/op: +100.00% (margin 5%)\n", ""},
		{[]string{units, path("slow"), path("ops")}, 0, "\n1 row is better by more than its margin: is OLD really first?\npass: 1 row within its margin\n", ""},
		{[]string{units, "-format=md", path("ops"), path("slow")}, 1, "| **REGRESSION** |", ""},
		{[]string{units, "-format=json", path("ops"), path("slow")}, 1, `"verdict": "regression"`, ""},
		{[]string{units, path("ops"), path("more")}, 0, "\npass: 1 row within its margin; new: B\n", ""},
		{[]string{units, "-added=fail", path("ops"), path("more")}, 2, "B: missing in ", ""},
		{[]string{units, path("more"), path("ops")}, 2, "B: missing in ", ""},
		{[]string{units, "-removed=allow", path("more"), path("ops")}, 0, "\npass: 1 row within its margin; removed: B\n", ""},
		{[]string{"-removed=yes", path("more"), path("ops")}, 2, "", `invalid value "yes" for flag -removed: want allow or fail`},
		{[]string{units, path("count"), path("ops")}, 2, "6 results of one process are one observation", ""},
		{[]string{units, "-one-start", path("count"), path("ops")}, 0, "-one-start", ""},
		{[]string{units, path("filtered"), path("ops")}, 2, "(benchgate -partial accepts that)", ""},
		{[]string{units, "-partial", path("filtered"), path("ops")}, 0, "-partial: results may be missing", ""},
		{[]string{units, path("ops"), path("cut")}, 2, "has not ended in PASS or ok", ""},
		{[]string{units, path("ops"), path("empty")}, 2, "no results", ""},
		{[]string{path("ops"), path("ops")}, 0, "\npass: 1 row within its margin; no Unit line has a margin, so ns/op may be 5% worse by default; ", ""},
		{[]string{path("ops"), path("slow")}, 1, "\nregression: A ns/op: +100.00% (margin 5%); no Unit line has a margin, so ns/op may be 5% worse by default\n", ""},
		{[]string{path("reqs"), path("reqs")}, 2, "no unit of these results has a margin", ""},
		{[]string{units, "-alpha=0.001", path("ops"), path("slow")}, 2, "want at least 10 of each at alpha 0.001", ""},
		{[]string{units, path("gpu"), path("ops")}, 2, "gpu is not set, but a in ", ""},
		{[]string{units, "-ignore=cpu,gpu", path("gpu"), path("ops")}, 0, "pass", ""},
		{[]string{units, path("ops"), path("none")}, 2, "", "none: "},
		{[]string{"-units=" + path("none"), path("ops"), path("ops")}, 2, "", "none: "},
		{[]string{"-units=" + path("typo"), path("ops"), path("ops")}, 2, path("typo") + ":1: unit ns/op: gaet=5%: want better, gate, max, min, same, of, apart, pairs, withheld, says or assume\n", ""},
		{[]string{"-units=" + path("typo"), path("ops"), path("ops")}, 2, path("typo") + `:2: "unit ns/op gate=5%": want Unit lines only`, ""},
		{[]string{path("ops")}, 2, "cannot judge: " + path("ops") + ": no unit of these results has a budget: want a line such as", ""},
		{[]string{path("ops"), path("ops"), path("ops")}, 2, "", "benchgate: 3 files: want two, old and new"},
		{[]string{}, 2, "", "benchgate: 0 files: want two, old and new"},
		{[]string{"-alpha=0", path("ops"), path("ops")}, 2, "", "benchgate: -alpha: 0: want at least 0.001 and at most 0.5"},
		{[]string{"-alpha=1", path("ops"), path("ops")}, 2, "", "benchgate: alpha: 1: want at least 0.001 and at most 0.5"},
		{[]string{"-require=maybe"}, 2, "", `invalid value "maybe" for flag -require: want pass or no-worse`},
		{[]string{units, "-require=no-worse", path("ops"), path("ops")}, 0, "no worse\n", ""},
		{[]string{"-ignore=", path("ops"), path("ops")}, 2, "", `benchgate: ignore: "": want a configuration key`},
		{[]string{"-format=csv", path("ops"), path("ops")}, 2, "", `invalid value "csv" for flag -format: want text, md or json`},
		{[]string{"-json", path("ops"), path("slow")}, 2, "", "benchgate: flag provided but not defined: -json: want -format json\n"},
		{[]string{"ab", "-json", "--", "-bench=X"}, 2, "", "benchgate: flag provided but not defined: -json: want -format json\n"},
		{[]string{"-bogus"}, 2, "", "benchgate: flag provided but not defined: -bogus\n"},
		{[]string{"-bench=X", "./x"}, 2, "", "-bench; it is a flag of go test, which stands after --: benchgate ab -base main -- -bench=…\n"},
		{[]string{units, "-col=/via", path("via")}, 1, "/via=gateway (" + path("via") + ") against /via=direct (" + path("via") + ")\n", ""},
		{[]string{units, "-col=/via", path("via"), path("via")}, 2, "", "benchgate: 2 files: want one with -col"},
		{[]string{units, "-col=/none", path("via")}, 2, "", "have 0 values of /none"},
	} {
		var stdout, stderr bytes.Buffer
		if got := run(c.args, &stdout, &stderr); got != c.status {
			t.Errorf("run(%q) = %d, want %d", c.args, got, c.status)
		}
		if !strings.Contains(stdout.String(), c.stdout) || c.stdout == "" && stdout.Len() > 0 {
			t.Errorf("run(%q) stdout = %q, want %q", c.args, &stdout, c.stdout)
		}
		if !strings.Contains(stderr.String(), c.stderr) || c.stderr == "" && stderr.Len() > 0 {
			t.Errorf("run(%q) stderr = %q, want %q", c.args, &stderr, c.stderr)
		}
		if strings.Contains(c.stdout, `"verdict"`) && !json.Valid(stdout.Bytes()) {
			t.Errorf("run(%q) stdout = %q, want JSON", c.args, &stdout)
		}
	}
}

func TestHelpAndDocNameEveryFlag(t *testing.T) {
	source, err := os.ReadFile("main.go")
	assert.NilError(t, err)
	doc, _, _ := strings.Cut(string(source), "\npackage main")
	for _, c := range []struct {
		args  []string
		flags int
	}{{[]string{"--help"}, 12}, {[]string{"ab", "-h"}, 23}, {[]string{"aa", "-help"}, 14}, {[]string{"convert", "-h"}, 3}} {
		var stdout, stderr bytes.Buffer
		if got := run(c.args, &stdout, &stderr); got != 0 || stderr.Len() > 0 {
			t.Errorf("run(%q) = %d with stderr %q, want 0 and nothing", c.args, got, &stderr)
		}
		flags := regexp.MustCompile(`(?m)^  (-[a-z-]+)`).FindAllStringSubmatch(stdout.String(), -1)
		assert.Equal(t, len(flags), c.flags, "%q", flags)
		for _, f := range flags {
			if !strings.Contains(doc, "//\t"+f[1]+" ") {
				t.Errorf("the doc comment does not list %s", f[1])
			}
		}
	}
}

// TestFullDisk checks that the status is not 0 if the output cannot be written.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("skipped: ", err)
	}
	defer full.Close()
	self, err := os.Executable()
	assert.NilError(t, err)
	cmd := exec.CommandContext(t.Context(), self, "-help")
	cmd.Env = append(os.Environ(), "BENCHGATE_TEST_MAIN=1")
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = full, &stderr
	assert.ErrorContains(t, cmd.Run(), "exit status 2")
	assert.Assert(t, strings.HasPrefix(stderr.String(), "benchgate: the output is incomplete: write /dev/stdout: no space left on device\n"), &stderr)
}
