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

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
)

// canaryTime limits the time of all comparisons of TestCanary together. A quiet machine
// needs less than a minute.
const canaryTime = 3 * time.Minute

// TestCanary runs the whole gate on this repository, as the check of a pull request
// does: scenarios against the mock server, built from a commit and from a working tree.
// The working tree is first the same as the commit, then its mock needs 5 % more time
// per token. The test should have the machine for itself.
//
// If benchgate cannot judge because of noise, the comparison is made again, up to three times
// in all; then, or if the machine is too slow, the test is skipped after it has checked files
// that are broken. Any other wrong verdict fails the test at once. Alpha is 0.001, so that
// chance hardly ever does, and all rounds are taken: at that alpha, a comparison of 12
// rounds has one look, at its end.
func TestCanary(t *testing.T) {
	if os.Getenv("BENCHGATE_CANARY") == "" {
		t.Skip("BENCHGATE_CANARY is not set, and other tests that run at the same time would disturb the measurement; run make canary")
	}
	root := filepath.Join("..", "..", "..")
	if _, err := command(t.Context(), root, "git", "rev-parse", "--verify", "HEAD"); err != nil {
		t.Skipf("the sources are not a git repository: %v", err)
	}
	t.Chdir(root)
	head := filepath.Join(t.TempDir(), "head")
	git(t, "clone", "--quiet", ".", head)
	t.Chdir(head)
	for name, value := range map[string]string{"CONCURRENCY": "2", "REQUESTS": "6", "WARMUP": "2", "INPUT": "16", "OUTPUT": "100", "CLIENT_BOUND": "report"} {
		t.Setenv("LLMBENCH_"+name, value)
	}
	// With -trimpath, packages are compiled once for all folders.
	serve := []string{"-bench=Serve", "-benchtime=1x", "-trimpath", "./scenarios"}
	ctx, cancel := context.WithTimeout(t.Context(), canaryTime)
	defer cancel()

	var same string // the folder of the newest samples of equal versions
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
	text   string // the report, and the progress on stderr
	report gate.Report
}

// A finding says whether an outcome is what it must be.
type finding string

const (
	right   finding = "right"
	wrong   finding = "wrong"
	unknown finding = "too noisy to tell" // benchgate cannot judge, and noise is the reason
)

// conclusive makes a comparison, and makes it again, up to three times in all, if its outcome
// is unknown. It returns false if it stays unknown, or if the machine is so slow that ctx ends
// first. A wrong outcome fails the test.
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

// noProblem reports whether nothing but noise can have kept benchgate from a verdict.
func (o outcome) noProblem() bool { return len(o.report.Rows) > 0 && len(o.report.Problems) == 0 }

// equal judges the outcome of a comparison of equal versions.
func equal(o outcome) finding {
	switch {
	case o.status == 0:
		return right
	case o.status == exitCannotJudge && o.noProblem():
		return unknown
	}
	return wrong
}

// slower judges the outcome of a comparison with a version that needs 5 % more time per token,
// of which both the time per token and the throughput must tell. A row of which nothing is
// shown is unknown; a row that is shown to be no worse is wrong.
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
	case worse == 2 && o.status == exitRegression:
		return right
	case worse < 2:
		return unknown
	}
	return wrong
}

// TestFindings checks when the canary makes a comparison again.
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
		{outcome{status: exitCannotJudge, report: rows(gate.CannotJudge, gate.Pass, gate.Pass)}, unknown, unknown},
		{outcome{status: exitCannotJudge, report: problem}, wrong, wrong},
		{outcome{status: exitCannotJudge}, wrong, wrong},
		{outcome{status: exitRegression, report: rows(gate.Regression, gate.Regression, gate.CannotJudge)}, wrong, right},
		{outcome{status: exitRegression, report: rows(gate.Regression, gate.CannotJudge, gate.NoWorse)}, wrong, unknown},
		{outcome{status: exitRegression, report: rows(gate.Regression, gate.NoWorse, gate.Pass)}, wrong, wrong},
		{outcome{status: exitRegression, report: rows(gate.Pass, gate.Pass, gate.Regression)}, wrong, unknown},
	} {
		assert.Equal(t, equal(c.outcome), c.equal, "%+v", c.outcome)
		assert.Equal(t, slower(c.outcome), c.slower, "%+v", c.outcome)
	}
}

// compareHead compares the working tree with its own commit, and keeps the samples in the
// folder out.
func compareHead(ctx context.Context, t *testing.T, out string, args []string) outcome {
	self, err := os.Executable()
	assert.NilError(t, err)
	cmd := exec.CommandContext(ctx, self, append([]string{"ab", "-base=HEAD", "-n=12", "-alpha=0.001", "-out=" + out, "--"}, args...)...)
	cmd.Env = append(os.Environ(), "BENCHGATE_TEST_MAIN=1")
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	err = runGroup(t.Context(), cmd, time.Minute)
	if ctx.Err() != nil {
		return outcome{status: exitCannotJudge, text: output.String()}
	}
	if _, exited := errors.AsType[*exec.ExitError](err); !exited {
		assert.NilError(t, err)
	}
	return outcome{cmd.ProcessState.ExitCode(), output.String(), readReport(t, out)}
}

// slowDownMock makes the mock server of the working tree need 5 % more time per token.
func slowDownMock(t *testing.T) {
	const path, setting, slower = "mockserver/config.go", "1500 * time.Microsecond", "1575 * time.Microsecond"
	source, err := os.ReadFile(path)
	assert.NilError(t, err)
	assert.Equal(t, bytes.Count(source, []byte(setting)), 1, "the mock's time per token in %s", path)
	assert.NilError(t, os.WriteFile(path, bytes.Replace(source, []byte(setting), []byte(slower), 1), 0o666))
}

// checkBroken checks that no verdict is given for broken files. The files are made from the
// samples in a folder, which may have none if the machine was too slow.
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
		assert.Equal(t, status, exitCannotJudge, "%s: %s", name, stdout)
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

// action runs the script of the GitHub action for pull requests.
func action(ctx context.Context, t *testing.T, args []string) outcome {
	r := runAction(ctx, t, ".github/actions/benchgate/gate.bash", "ARGS="+strings.Join(args, "\n"), "BASE=HEAD", "UNITS=benchdata/units.txt", "N=12",
		"FLAGS=-timeout=5m\n-alpha=0.001\n-require=no-worse")
	return outcome{r.status, r.summary + r.log, r.report}
}
