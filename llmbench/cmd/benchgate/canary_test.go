package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/proc"
	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"gotest.tools/v3/assert"
)

// canaryTime limits the total time of TestCanary's comparisons. A quiet machine needs less than a minute.
const canaryTime = 3 * time.Minute

// TestCanary runs the whole gate on this repository, like the check of a pull request: it runs scenarios
// against the mock server, built from a commit and from a working tree. At first the working tree equals the
// commit. Then its mock server needs 5 % more time per token. The test should have the machine for itself.
//
// If benchgate cannot judge because of noise, the comparison is repeated, up to three times in total. If it is
// still too noisy, or if the machine is too slow, the test checks broken files and is then skipped. Any other
// wrong verdict fails the test at once. With alpha 0.001, chance hardly ever fails the test. At this alpha, a
// comparison of 12 rounds judges the samples only once, at its end, so all rounds are run.
func TestCanary(t *testing.T) {
	if os.Getenv("BENCHGATE_CANARY") == "" {
		t.Skip("BENCHGATE_CANARY is not set, and other tests that run at the same time would disturb the measurement; run make canary")
	}
	root := filepath.Join("..", "..", "..")
	if _, err := proc.Command(t.Context(), root, "git", "rev-parse", "--verify", "HEAD"); err != nil {
		t.Skipf("the sources are not a git repository: %v", err)
	}
	t.Chdir(root)
	head := filepath.Join(t.TempDir(), "head")
	git(t, "clone", "--quiet", ".", head)
	t.Chdir(head)
	for name, value := range map[string]string{"CONCURRENCY": "2", "REQUESTS": "6", "WARMUP": "2", "INPUT": "16", "OUTPUT": "100", "CLIENT_BOUND": "report"} {
		t.Setenv("LLMBENCH_"+name, value)
	}
	// With -trimpath, packages are compiled only once, although the folders differ.
	serve := []string{"-bench=Serve", "-benchtime=1x", "-trimpath", "./scenarios"}
	ctx, cancel := context.WithTimeout(t.Context(), canaryTime)
	defer cancel()

	var same string // folder of the latest samples of equal versions
	quiet := conclusive(ctx, t, "equal versions", func() outcome {
		out := t.TempDir()
		o := compareHead(ctx, t, out, serve)
		if ctx.Err() == nil {
			same = out
		}
		return o
	}, equal)
	if quiet {
		slowDownMock(t)
		quiet = conclusive(ctx, t, "a slower mock", func() outcome { return action(ctx, t, serve) }, slower)
	}
	checkBroken(t, same)
	if !quiet {
		t.Skip("TOO NOISY TO TELL: other processes disturb the measurement; run make canary on a quiet machine")
	}
}

// An outcome is the result of one run of benchgate ab.
type outcome struct {
	status int
	text   string // the report and the output on stderr
	report gate.Report
}

// A finding says whether an outcome is the expected one.
type finding string

const (
	right   finding = "right"
	wrong   finding = "wrong"
	unknown finding = "too noisy to tell" // benchgate cannot judge because of noise
)

// conclusive makes a comparison, and repeats it up to three times in total while its outcome is unknown. It
// returns false if the outcome stays unknown, or if the machine is so slow that ctx ends first. A wrong outcome
// fails the test.
func conclusive(ctx context.Context, t *testing.T, name string, compare func() outcome, find func(outcome) finding) bool {
	const tries = 3
	for try := 1; try <= tries; try++ {
		o := compare()
		if ctx.Err() != nil {
			t.Logf("%s: try %d of %d did not end in time, the limit for all comparisons is %v:\n%s", name, try, tries, canaryTime, o.text)
			return false
		}
		found := find(o)
		if found == right {
			return true
		}
		t.Logf("%s: try %d of %d is %s, status %d:\n%s", name, try, tries, found, o.status, o.text)
		assert.Equal(t, found, unknown, name)
	}
	return false
}

// noProblem reports whether only noise can have kept benchgate from a verdict.
func (o outcome) noProblem() bool { return len(o.report.Rows) > 0 && len(o.report.Problems) == 0 }

// equal judges the outcome of comparing equal versions.
func equal(o outcome) finding {
	switch {
	case o.status == 0:
		return right
	case o.status == command.CannotJudge && o.noProblem():
		return unknown
	}
	return wrong
}

// slower judges the outcome of a comparison with a version that needs 5 % more time per token. Both the time
// per token and the throughput must show that. If benchgate cannot decide about a row, the finding is unknown;
// if it decides that the row is no worse, the finding is wrong.
func slower(o outcome) finding {
	if o.status == 0 || !o.noProblem() {
		return wrong
	}
	worse := 0
	for _, row := range o.report.Rows {
		if row.Unit != "mean-tpot-ns" && row.Unit != "output-tok/s" {
			continue
		}
		switch row.Verdict {
		case gate.Regression:
			worse++
		case gate.Pass, gate.CannotJudge:
		default:
			return wrong
		}
	}
	switch {
	case worse == 2 && o.status == command.Regression:
		return right
	case worse < 2:
		return unknown
	}
	return wrong
}

// TestFindings checks when the canary repeats a comparison.
func TestFindings(t *testing.T) {
	rows := func(verdicts ...gate.Verdict) (r gate.Report) {
		for i, v := range verdicts {
			r.Rows = append(r.Rows, gate.Row{Unit: []string{"mean-tpot-ns", "output-tok/s", "p50-ttft-ns"}[i], Verdict: v})
		}
		return r
	}
	problem := rows(gate.CannotJudge)
	problem.Problems = []gate.Problem{{Message: "no results"}}
	for _, c := range []struct {
		outcome       outcome
		equal, slower finding
	}{
		{outcome{status: 0, report: rows(gate.Pass, gate.NoWorse, gate.Pass)}, right, wrong},
		{outcome{status: command.CannotJudge, report: rows(gate.CannotJudge, gate.Pass, gate.Pass)}, unknown, unknown},
		{outcome{status: command.CannotJudge, report: problem}, wrong, wrong},
		{outcome{status: command.CannotJudge}, wrong, wrong},
		{outcome{status: command.Regression, report: rows(gate.Regression, gate.Regression, gate.CannotJudge)}, wrong, right},
		{outcome{status: command.Regression, report: rows(gate.Regression, gate.CannotJudge, gate.NoWorse)}, wrong, unknown},
		{outcome{status: command.Regression, report: rows(gate.Regression, gate.NoWorse, gate.Pass)}, wrong, wrong},
		{outcome{status: command.Regression, report: rows(gate.Pass, gate.Pass, gate.Regression)}, wrong, unknown},
	} {
		assert.Equal(t, equal(c.outcome), c.equal, "%+v", c.outcome)
		assert.Equal(t, slower(c.outcome), c.slower, "%+v", c.outcome)
	}
}

// compareHead compares the working tree with its own commit, and keeps the samples in the folder out.
func compareHead(ctx context.Context, t *testing.T, out string, args []string) outcome {
	self, err := os.Executable()
	assert.NilError(t, err)
	cmd := exec.CommandContext(ctx, self, append([]string{"ab", "-base=HEAD", "-n=12", "-alpha=0.001", "-out=" + out, "--"}, args...)...)
	cmd.Env = append(os.Environ(), "BENCHGATE_TEST_MAIN=1")
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	err = proc.RunGroup(t.Context(), cmd, time.Minute)
	if ctx.Err() != nil {
		return outcome{status: command.CannotJudge, text: output.String()}
	}
	if _, exited := errors.AsType[*exec.ExitError](err); !exited {
		assert.NilError(t, err)
	}
	return outcome{cmd.ProcessState.ExitCode(), output.String(), readReport(t, out)}
}

// slowDownMock changes the mock server in the working tree so that it needs 5 % more time per token.
func slowDownMock(t *testing.T) {
	const path, setting, slower = "mockserver/config.go", "1500 * time.Microsecond", "1575 * time.Microsecond"
	source, err := os.ReadFile(path)
	assert.NilError(t, err)
	assert.Equal(t, bytes.Count(source, []byte(setting)), 1, "the mock's time per token in %s", path)
	assert.NilError(t, os.WriteFile(path, bytes.Replace(source, []byte(setting), []byte(slower), 1), 0o666))
}

// checkBroken checks that broken files get no verdict. The files are made from the samples in a folder. The
// folder has no samples if the machine was too slow.
func checkBroken(t *testing.T, folder string) {
	base, err := os.ReadFile(filepath.Join(folder, "base.txt"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Log("there are no samples to make broken files from")
		return
	}
	assert.NilError(t, err)
	for name, broken := range map[string]string{
		"a truncated file":            string(base[:len(base)-100]),
		"a missing row":               strings.ReplaceAll(string(base), "BenchmarkServe/", "BenchmarkOther/"),
		"a baseline from another GPU": "gpu: H100\n" + string(base),
	} {
		old := filepath.Join(t.TempDir(), "old.txt")
		assert.NilError(t, os.WriteFile(old, []byte(broken), 0o666))
		status, stdout, _ := benchgate(old, filepath.Join(folder, "head.txt"))
		assert.Equal(t, status, command.CannotJudge, "%s: %s", name, stdout)
	}
}

// readReport reads the report in a folder of samples. The report is empty if benchgate
// failed.
func readReport(t *testing.T, folder string) (r gate.Report) {
	text, err := os.ReadFile(filepath.Join(folder, "report.json"))
	if err == nil {
		assert.NilError(t, json.Unmarshal(text, &r))
	}
	return r
}

// action runs the script of the GitHub action.
func action(ctx context.Context, t *testing.T, args []string) outcome {
	r := runAction(ctx, t, ".github/actions/benchgate/gate.bash", "ARGS="+strings.Join(args, "\n"), "BASE=HEAD", "UNITS=benchdata/units.txt", "N=12",
		"FLAGS=-timeout=5m\n-alpha=0.001\n-require=no-worse")
	return outcome{r.status, r.summary + r.log, r.report}
}
