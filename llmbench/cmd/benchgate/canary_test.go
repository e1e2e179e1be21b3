package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"
)

// TestCanary runs the whole pipeline on this repository, as a pull request's check
// does: scenarios against the mock, built from a commit and from a working tree in
// which the mock's tokens take 5 % longer. It wants the machine for itself for half
// a minute.
func TestCanary(t *testing.T) {
	if os.Getenv("BENCHGATE_CANARY") == "" {
		t.Skip("skipped: BENCHGATE_CANARY is not set, and other tests that run now would disturb it; make canary")
	}
	root := filepath.Join("..", "..", "..")
	if _, err := command(t.Context(), root, "git", "rev-parse", "--verify", "HEAD"); err != nil {
		t.Skipf("skipped: the sources are no git repository: %v", err)
	}
	t.Chdir(root)
	head, err := checkOut(t.Context(), "HEAD", filepath.Join(t.TempDir(), "tree"))
	assert.NilError(t, err)
	t.Cleanup(head.remove)
	t.Chdir(head.dir)
	for name, value := range map[string]string{"CONCURRENCY": "2", "REQUESTS": "6", "WARMUP": "2", "INPUT": "16", "OUTPUT": "100"} {
		t.Setenv("LLMBENCH_"+name, value)
	}
	serve := []string{"--", "-bench=Serve", "-benchtime=1x", "./scenarios"}

	const setting, slower = "1500 * time.Microsecond", "1575 * time.Microsecond"
	source, err := os.ReadFile("mockserver/config.go")
	assert.NilError(t, err)
	assert.Equal(t, bytes.Count(source, []byte(setting)), 1, "the mock's time for a token")

	var same string
	status, stdout, stderr := judged(t, func() (int, string, string) {
		same = t.TempDir()
		return benchgate(append([]string{"ab", "-base=HEAD", "-n=10", "-out=" + same}, serve...)...)
	})
	assert.Equal(t, status, 0, "head against head: %s\n%s", stdout, stderr)

	assert.NilError(t, os.WriteFile("mockserver/config.go", bytes.Replace(source, []byte(setting), []byte(slower), 1), 0o666))
	status, stdout, stderr = judged(t, func() (int, string, string) { return action(t, serve[1:]) })
	assert.Equal(t, status, exitRegression, "a slower mock: %s\n%s", stdout, stderr)
	// It is looked for early, and ends with the first unit that shows it.
	const row = `concurrency=2-?[0-9]* (mean-tpot-sec: \+|output-tok/s: -)`
	assert.Assert(t, cmp.Regexp(row, strings.ReplaceAll(stdout, `\`, "")))

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
}

// judged runs a comparison again, twice at most, if it could not judge: what it says of
// a machine that others make too noisy for a moment.
func judged(t *testing.T, compare func() (status int, stdout, stderr string)) (status int, stdout, stderr string) {
	for range 3 {
		if status, stdout, stderr = compare(); status != exitCannotJudge {
			break
		}
		t.Logf("cannot judge: %s", stdout)
	}
	return status, stdout, stderr
}

// action runs the script of the action for pull requests, and returns what it says
// is the status, the summary, and its stderr.
func action(t *testing.T, args []string) (status int, summary, stderr string) {
	source, err := os.ReadFile(".github/actions/benchgate/action.yml")
	assert.NilError(t, err)
	_, script, _ := strings.Cut(string(source), "      run: |\n")
	script, _, _ = strings.Cut(script, "    - uses:")
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "bash", "-e", "-o", "pipefail", "-c", script)
	cmd.Env = append(os.Environ(), "ARGS="+strings.Join(args, "\n"), "BASE=HEAD", "N=10", "UNITS=benchdata/units.txt", "FLAGS=-timeout=1m", "VERSION=latest", "NAME=gate",
		"RUNNER_TEMP="+dir, "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary"), "GITHUB_OUTPUT="+filepath.Join(dir, "output"))
	var told bytes.Buffer
	cmd.Stderr = &told
	assert.NilError(t, cmd.Run(), &told)
	text, err := os.ReadFile(filepath.Join(dir, "summary"))
	assert.NilError(t, err)
	output, err := os.ReadFile(filepath.Join(dir, "output"))
	assert.NilError(t, err)
	_, err = fmt.Sscanf(string(output), "status=%d\n", &status)
	assert.NilError(t, err)
	return status, string(text), told.String()
}
