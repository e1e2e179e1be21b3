package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/proc"
	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"
)

// wideMargins are so wide that equal versions are never a regression, on any machine.
const wideMargins = `Unit output-tok/s better=higher gate=99%
Unit p50-ttft-ns better=lower gate=99%
Unit mean-tpot-ns better=lower gate=99%
Unit srv-cpu-s/ktok better=lower gate=99%
`

// TestBuildOfGateway compares versions of a gateway in front of a simulated server. The versions are really
// built, started and measured with the scenarios. This test has no regression; TestBuild has one that does not
// depend on time, and .ci/gate has regressions that do.
func TestBuildOfGateway(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	if apart(t) {
		return
	}
	scenarios := filepath.Join(t.TempDir(), "scenarios.test")
	_, err := proc.Command(t.Context(), "../../..", "go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-o", scenarios, "./scenarios")
	assert.NilError(t, err)
	source, err := os.ReadFile("testdata/gateway/main.go")
	assert.NilError(t, err)
	_, upstream := mockserver.Start(t, mockserver.Config{TTFT: time.Millisecond, PerToken: time.Millisecond})
	_, units := fixture(t)
	assert.NilError(t, os.Remove("fixture_test.go"))
	assert.NilError(t, os.WriteFile(units, []byte(wideMargins), 0o666))
	change := func(old, new string) {
		assert.Equal(t, bytes.Count(source, []byte(old)), 1, old)
		assert.NilError(t, os.WriteFile("main.go", bytes.Replace(source, []byte(old), []byte(new), 1), 0o666))
	}
	change("audits = 0", "audits = 0")
	commit(t)
	base := git(t, "rev-parse", "HEAD")
	cache := t.TempDir()
	for name, value := range map[string]string{"CACHE": cache, "CONCURRENCY": "1", "REQUESTS": "2", "WARMUP": "1", "INPUT": "8", "OUTPUT": "4", "CLIENT_BOUND": "report"} {
		t.Setenv("LLMBENCH_"+name, value)
	}
	args := func(out, build string, flags ...string) []string {
		return append(append([]string{"ab", "-base=" + base, "-build=" + build, "-command={out}/gateway -listen 127.0.0.1:{port} -upstream " + upstream,
			"-bench-from=" + scenarios, "-units=" + units, "-out=" + out}, flags...), "--", "-bench=Serve", "-benchtime=1x")
	}
	const build = "go build -o {out}/gateway ."

	change("audits = 0", "audits = 0 /* the same */")
	out := t.TempDir()
	status, stdout, stderr := benchgate(args(out, build, "-n=7")...)
	text, err := os.ReadFile(filepath.Join(out, "report.json"))
	assert.NilError(t, err)
	var report gate.Report
	assert.NilError(t, json.Unmarshal(text, &report))
	// On a busy machine, the comparison may be too noisy for a pass even with these margins.
	assert.Assert(t, status != command.Regression && len(report.Problems) == 0 && len(report.Rows) > 4, "%s%s", stdout, stderr)
	assert.Assert(t, strings.HasSuffix(stdout, fmt.Sprintf("; the working tree at %.12s with changes against the base, %.12s; command: gateway -listen 127.0.0.1:{port} -upstream %s\n", base, base, upstream)), stdout)
	assert.Equal(t, slices.ContainsFunc(report.Rows, func(row gate.Row) bool { return row.Unit == "srv-cpu-s/ktok" }), runtime.GOOS == "linux", stdout)

	change("exit   = -1", "exit   = 3")
	status, _, stderr = benchgate(args(t.TempDir(), build)...)
	assert.Equal(t, status, command.CannotJudge, stderr)
	assert.Assert(t, strings.Contains(stderr, fmt.Sprintf("benchgate: round 1: the working tree at %.12s with changes: scenarios.test: exit status 1\n", base)), stderr)
	assert.Assert(t, strings.Contains(stderr, "the program ended: exit status 3") && strings.Contains(stderr, "no license"), stderr)

	change("audits = 0", "audits = 2")
	status, _, stderr = benchgate(args(t.TempDir(), "if grep -q 'audits = 0' main.go; then cp main.go {out}; else "+build+"; fi")...)
	assert.Equal(t, status, command.CannotJudge, stderr)
	assert.Assert(t, strings.Contains(stderr, fmt.Sprintf("benchgate: round 1: the base, %.12s: scenarios.test: exit status 1\n", base)), stderr)
	assert.Assert(t, strings.Contains(stderr, "/gateway: no such file or directory"), stderr)

	commit(t)
	out = t.TempDir()
	testInterruptedServers(t, args(out, build, "-n=50"), cache)
	samples, err := filepath.Glob(filepath.Join(out, "*", "001.txt"))
	assert.NilError(t, err)
	assert.Equal(t, len(samples), 2)
	noSources(t, out)
}

// testInterruptedServers interrupts a command after its first round, and checks that no server from the folder
// cache is still running.
func testInterruptedServers(t *testing.T, args []string, cache string) {
	t.Helper()
	self, err := os.Executable()
	assert.NilError(t, err)
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), "BENCHGATE_TEST_MAIN=1")
	stderr, err := cmd.StderrPipe()
	assert.NilError(t, err)
	assert.NilError(t, cmd.Start())
	progress := untilLine(t, stderr, "round 1 of ", func() {
		poll.WaitOn(t, func(poll.LogT) poll.Result {
			if runtime.GOOS != "linux" || len(programs(t, cache)) > 0 {
				return poll.Success()
			}
			return poll.Continue("no server was started")
		}, poll.WithTimeout(time.Minute))
		assert.NilError(t, cmd.Process.Signal(os.Interrupt))
	})
	_ = cmd.Wait()
	assert.Equal(t, cmd.ProcessState.ExitCode(), command.CannotJudge, progress)
	assert.Assert(t, strings.Contains(progress, "continues with these samples"), progress)
	assert.Equal(t, len(programs(t, cache)), 0, "%q", programs(t, cache))
}

// untilLine reads all of r and returns it. It calls do once, after the first line with the prefix.
func untilLine(t *testing.T, r io.Reader, prefix string, do func()) string {
	t.Helper()
	var all strings.Builder
	for lines := bufio.NewScanner(r); lines.Scan(); {
		all.WriteString(lines.Text() + "\n")
		if strings.HasPrefix(lines.Text(), prefix) && do != nil {
			do()
			do = nil
		}
	}
	return all.String()
}

// programs returns the command lines of running processes whose programs are below a folder. It works on Linux
// only.
func programs(t *testing.T, folder string) (all []string) {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/exe")
	assert.NilError(t, err)
	for _, path := range paths {
		if program, err := os.Readlink(path); err == nil && strings.HasPrefix(program, folder+"/") {
			all = append(all, program)
		}
	}
	return all
}
