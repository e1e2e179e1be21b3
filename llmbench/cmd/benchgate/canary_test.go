package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
)

// An outcome is the result of one run of benchgate ab.
type outcome struct {
	status int
	text   string // the report, and the progress on stderr
	report gate.Report
}

// TestCanary runs the whole gate on this repository, as the check of a pull request
// does: scenarios against the mock server, built from a commit and from a working tree.
// The working tree is first the same as the commit, then its mock needs 5 % more time
// per token. The test takes about half a minute and should have the machine for itself.
// If the machine is too noisy for a verdict, the test is skipped, after it has
// checked files that are broken. The test fails only if a verdict is wrong.
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
	serve := []string{"-bench=Serve", "-benchtime=1x", "./scenarios"}

	const setting, slower = "1500 * time.Microsecond", "1575 * time.Microsecond"
	source, err := os.ReadFile("mockserver/config.go")
	assert.NilError(t, err)
	assert.Equal(t, bytes.Count(source, []byte(setting)), 1, "the mock's time per token")

	var same string // folder of samples
	equal, quiet := conclusive(t, "head against head", 0, func() outcome {
		same = t.TempDir()
		status, stdout, stderr := benchgate(append([]string{"ab", "-base=HEAD", "-n=10", "-alpha=0.005", "-out=" + same, "--"}, serve...)...)
		return outcome{status, stdout + stderr, readReport(t, same)}
	})
	if quiet {
		assert.Equal(t, equal.status, 0, "head against head: %s", equal.text)

		assert.NilError(t, os.WriteFile("mockserver/config.go", bytes.Replace(source, []byte(setting), []byte(slower), 1), 0o666))
		var worse outcome
		worse, quiet = conclusive(t, "a slower mock", exitRegression, func() outcome { return action(t, serve) })
		if quiet {
			assert.Equal(t, worse.status, exitRegression, "a slower mock: %s", worse.text)
			// The comparison ends early, at the first unit that shows the regression.
			const row = `concurrency=2-?[0-9]* (mean-tpot-sec: \+|output-tok/s: -)`
			assert.Assert(t, cmp.Regexp(row, strings.ReplaceAll(worse.text, `\`, "")))
		}
	}

	base, err := os.ReadFile(filepath.Join(same, "base.txt"))
	assert.NilError(t, err)
	for name, broken := range map[string]string{
		"a truncated file":            string(base[:len(base)-100]),
		"a missing row":               strings.ReplaceAll(string(base), "BenchmarkServe/", "BenchmarkOther/"),
		"a baseline from another GPU": "gpu: H100\n" + string(base),
	} {
		old := filepath.Join(t.TempDir(), "old.txt")
		assert.NilError(t, os.WriteFile(old, []byte(broken), 0o666))
		status, stdout, _ := benchgate(old, filepath.Join(same, "head.txt"))
		assert.Equal(t, status, exitCannotJudge, "%s: %s", name, stdout)
	}
	if !quiet {
		t.Skip("TOO NOISY TO TELL: other processes disturb the measurement; run make canary on a quiet machine")
	}
}

// conclusive makes a comparison that should have the status want, up to three times while
// the machine is too noisy for a verdict. It returns the last outcome, and whether the
// machine was quiet.
func conclusive(t *testing.T, name string, want int, compare func() outcome) (outcome, bool) {
	const tries = 3
	for try := 1; ; try++ {
		o := compare()
		if !o.tooNoisy(want) {
			return o, true
		}
		t.Logf("%s: try %d of %d was too noisy: %s", name, try, tries, o.text)
		if try == tries {
			return o, false
		}
	}
}

// tooNoisy reports whether the noise of the machine explains that the status is not want:
// the report states so, or the samples are so noisy that a change of 5 % can be missed.
func (o outcome) tooNoisy(want int) bool {
	switch {
	case o.status == want:
		return false
	case o.status == exitCannotJudge:
		notNoise := func(p gate.Problem) bool { return !strings.Contains(p.Message, "noise") }
		return len(o.report.Problems) > 0 && !slices.ContainsFunc(o.report.Problems, notNoise)
	case o.status == 0:
		// The margin of mean-tpot-ns is 2 %. If 80 % of comparisons find a change
		// of 3.5 %, nearly all of them find a change of 5 %.
		return slices.ContainsFunc(o.report.Rows, func(r gate.Row) bool {
			return r.Unit == "mean-tpot-sec" && (r.Detectable == nil || math.Abs(*r.Detectable) > 0.035)
		})
	}
	return false
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
func action(t *testing.T, args []string) outcome {
	source, err := os.ReadFile(".github/actions/benchgate/action.yml")
	assert.NilError(t, err)
	_, script, _ := strings.Cut(string(source), "      run: |\n")
	script, _, _ = strings.Cut(script, "    - uses:")
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "bash", "-e", "-o", "pipefail", "-c", script)
	cmd.Env = append(os.Environ(), "ARGS="+strings.Join(args, "\n"), "BASE=HEAD", "N=10", "UNITS=benchdata/units.txt", "FLAGS=-timeout=5m", "VERSION=latest", "NAME=gate",
		"RUNNER_TEMP="+dir, "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary"), "GITHUB_OUTPUT="+filepath.Join(dir, "output"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	assert.NilError(t, cmd.Run(), &stderr)
	summary, err := os.ReadFile(filepath.Join(dir, "summary"))
	assert.NilError(t, err)
	output, err := os.ReadFile(filepath.Join(dir, "output"))
	assert.NilError(t, err)
	o := outcome{text: string(summary) + stderr.String(), report: readReport(t, filepath.Join(dir, "gate"))}
	_, err = fmt.Sscanf(string(output), "status=%d\n", &o.status)
	assert.NilError(t, err)
	return o
}
