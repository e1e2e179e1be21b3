package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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
// If the machine is too noisy or too slow for a verdict, the test is skipped after it has
// checked files that are broken. The test fails only if two comparisons of the same
// versions end in a wrong verdict that noise does not explain.
func TestCanary(t *testing.T) {
	if os.Getenv("BENCHGATE_CANARY") == "" {
		t.Skip("BENCHGATE_CANARY is not set, and other tests that run at the same time would disturb the measurement; run make canary")
	}
	root := filepath.Join("..", "..", "..")
	if _, err := command(t.Context(), root, "git", "rev-parse", "--verify", "HEAD"); err != nil {
		t.Skipf("the sources are not a git repository: %v", err)
	}
	t.Chdir(root)
	head, err := checkOut(t.Context(), "HEAD", filepath.Join(t.TempDir(), "tree"))
	assert.NilError(t, err)
	t.Cleanup(head.remove)
	t.Chdir(head.dir)
	for name, value := range map[string]string{"CONCURRENCY": "2", "REQUESTS": "6", "WARMUP": "2", "INPUT": "16", "OUTPUT": "100", "CLIENT_BOUND": "report"} {
		t.Setenv("LLMBENCH_"+name, value)
	}
	// With -trimpath, packages are compiled once for all folders.
	serve := []string{"-bench=Serve", "-benchtime=1x", "-trimpath", "./scenarios"}
	ctx, cancel := context.WithTimeout(t.Context(), canaryTime)
	defer cancel()

	var same string // the folder of the newest samples of equal versions
	quiet := conclusive(ctx, t, "equal versions", func() outcome {
		same = t.TempDir()
		return compareHead(ctx, t, same, serve)
	}, func(o outcome) bool { return o.status == 0 })
	if quiet {
		slowDownMock(t)
		// The comparison ends early, at the first unit that shows the regression.
		row := regexp.MustCompile(`concurrency=2-?[0-9]* (mean-tpot-sec: \+|output-tok/s: -)`)
		quiet = conclusive(ctx, t, "a slower mock", func() outcome { return action(ctx, t, serve) }, func(o outcome) bool {
			return o.status == exitRegression && row.MatchString(strings.ReplaceAll(o.text, `\`, ""))
		})
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

// conclusive makes a comparison until its outcome is right, up to three times. It returns
// false if the machine is too noisy for a verdict, or so slow that ctx ends first. It fails
// the test if two outcomes are wrong and noise explains neither, because one alone may be
// an accident: the gate allows false alarms with a small probability.
func conclusive(ctx context.Context, t *testing.T, name string, compare func() outcome, right func(outcome) bool) bool {
	const tries = 3
	wrong := 0
	for try := 1; try <= tries; try++ {
		o := compare()
		verdict := "too noisy to tell"
		switch {
		case right(o):
			return true
		case ctx.Err() != nil:
			t.Logf("%s: try %d of %d did not end in time, the limit for all comparisons is %v:\n%s", name, try, tries, canaryTime, o.text)
			return false
		case !o.tooNoisy():
			verdict = "wrong"
			wrong++
		}
		t.Logf("%s: try %d of %d is %s, status %d:\n%s", name, try, tries, verdict, o.status, o.text)
		assert.Assert(t, wrong < 2, "%s: two comparisons are wrong, and noise explains neither", name)
	}
	return false
}

// tooNoisy reports whether the noise of the machine explains a wrong outcome: the report
// states so, or the samples are so noisy that a change of 5 % can be missed.
func (o outcome) tooNoisy() bool {
	switch o.status {
	case exitCannotJudge:
		notNoise := func(p gate.Problem) bool { return !strings.Contains(p.Message, "noise") }
		return len(o.report.Problems) > 0 && !slices.ContainsFunc(o.report.Problems, notNoise)
	case 0:
		// The margin of mean-tpot-ns is 2 %. If 80 % of comparisons find a change
		// of 3.5 %, nearly all of them find a change of 5 %.
		return slices.ContainsFunc(o.report.Rows, func(r gate.Row) bool {
			return r.Unit == "mean-tpot-sec" && (r.Detectable == nil || math.Abs(*r.Detectable) > 0.035)
		})
	}
	return false
}

// compareHead compares the working tree with its own commit, and keeps the samples in the
// folder out.
func compareHead(ctx context.Context, t *testing.T, out string, args []string) outcome {
	self, err := os.Executable()
	assert.NilError(t, err)
	cmd := exec.CommandContext(ctx, self, append([]string{"ab", "-base=HEAD", "-n=10", "-alpha=0.005", "-out=" + out, "--"}, args...)...)
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
	source, err := os.ReadFile(".github/actions/benchgate/action.yml")
	assert.NilError(t, err)
	_, script, _ := strings.Cut(string(source), "      run: |\n")
	script, _, _ = strings.Cut(script, "    - uses:")
	dir := t.TempDir()
	cmd := exec.CommandContext(ctx, "bash", "-e", "-o", "pipefail", "-c", script)
	cmd.Env = append(os.Environ(), "ARGS="+strings.Join(args, "\n"), "BASE=HEAD", "N=10", "UNITS=benchdata/units.txt", "FLAGS=-timeout=5m", "VERSION=latest", "NAME=gate",
		"RUNNER_TEMP="+dir, "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary"), "GITHUB_OUTPUT="+filepath.Join(dir, "output"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err = runGroup(t.Context(), cmd, time.Minute)
	if ctx.Err() != nil {
		return outcome{status: exitCannotJudge, text: stderr.String()}
	}
	assert.NilError(t, err, &stderr)
	summary, err := os.ReadFile(filepath.Join(dir, "summary"))
	assert.NilError(t, err)
	output, err := os.ReadFile(filepath.Join(dir, "output"))
	assert.NilError(t, err)
	o := outcome{text: string(summary) + stderr.String(), report: readReport(t, filepath.Join(dir, "gate"))}
	_, err = fmt.Sscanf(string(output), "status=%d\n", &o.status)
	assert.NilError(t, err)
	return o
}
