package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/proc"
	"gotest.tools/v3/assert"
)

// noisyTest is the benchmark of serverTest with noise: values that differ by up to 1 %.
var noisyTest = strings.NewReplacer(`	"testing"
`, `	"math/rand/v2"
	"testing"
`, `	b.ReportMetric(number, "x/op")
`, `	b.ReportMetric(number*(1+0.02*(rand.Float64()-0.5)), "x/op")
`).Replace(serverTest)

// A bisected is a repository whose commits change the number of a server, with what is needed to measure them.
type bisected struct {
	hashes        []string
	binary, units string
}

// bisectFixture creates a repository with a commit for each of values.
func bisectFixture(t *testing.T, values ...string) (f bisected) {
	t.Helper()
	change, units := serverFixture(t)
	f.units, f.binary = units, filepath.Join(t.TempDir(), "any.test")
	assert.NilError(t, os.WriteFile("fixture_test.go", []byte(noisyTest), 0o666))
	_, err := proc.Command(t.Context(), "", "go", "test", "-c", "-o", f.binary, ".")
	assert.NilError(t, err)
	assert.NilError(t, os.Remove("fixture_test.go"))
	for _, value := range values {
		change(value)
		commit(t)
		f.hashes = append(f.hashes, git(t, "rev-parse", "HEAD"))
	}
	return f
}

// A bisectJSON is what tests read of the report in JSON.
type bisectJSON struct {
	Verdict, First, Parent, Unit, Summary string
	Change                                float64
	Commits                               []struct {
		Probability float64
		Confirmed   int `json:"pairs_parent"`
	}
}

// args returns the arguments of benchgate.
func (f bisected) args(out string, flags ...string) []string {
	all := append([]string{"bisect", "-build=grep -qv build value && cp value {out}", "-command={out}/server --port {port}",
		"-units=" + f.units, "-bench-from=" + f.binary, "-out=" + out}, flags...)
	return append(all, "--", "-bench=Server", "-benchtime=1x")
}

// TestBisect bisects a history with a commit that does not build and one whose server cannot be measured, stops
// after a few pairs, and continues.
func TestBisect(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	if apart(t) {
		return
	}
	f := bisectFixture(t, "100", "100", "no build", "100", "x", "100", "105", "105", "106", "105", "100", "no build", "105", "100.5")
	hashes, out := f.hashes, t.TempDir()
	ends := []string{"-good=" + hashes[0], "-bad=" + hashes[9]}

	// -pairs ends the search early, and the same folder continues it.
	status, stdout, stderr := benchgate(f.args(out, append(ends, "-seed=1", "-pairs=3")...)...)
	assert.Equal(t, status, command.CannotJudge, "%s%s", stdout, stderr)
	assert.Assert(t, strings.Contains(stdout, "cannot judge: "), stdout)
	status, stdout, stderr = benchgate(f.args(out, append(ends, "-format=json")...)...)
	assert.Equal(t, status, 0, "%s%s", stdout, stderr)
	var r bisectJSON
	assert.NilError(t, json.Unmarshal([]byte(stdout), &r))
	assert.Equal(t, r.Verdict, "found")
	assert.Equal(t, r.First, hashes[6])
	assert.Equal(t, r.Parent, hashes[5])
	assert.Equal(t, len(r.Commits), 9)
	assert.Assert(t, r.Change > 0.03 && r.Change < 0.07, "%v", r.Change)
	assert.Assert(t, r.Commits[5].Probability >= 0.95 && r.Commits[5].Confirmed > 0, "%+v", r.Commits[5])
	for _, format := range []string{"txt", "md", "json"} {
		text, err := os.ReadFile(filepath.Join(out, "report."+format))
		assert.NilError(t, err)
		assert.Assert(t, strings.Contains(string(text), hashes[6][:12]), "%s", text)
	}

	// A third run finds everything in the folder.
	status, stdout, stderr = benchgate(f.args(out, ends...)...)
	assert.Equal(t, status, 0, "%s%s", stdout, stderr)
	assert.Assert(t, strings.HasPrefix(stdout, hashes[6][:12]+" is the first commit that is worse than allowed: Server"), stdout)
	assert.Assert(t, !strings.Contains(stderr, "\npair "), stderr)
	noSources(t, out)
	left, err := filepath.Glob(filepath.Join(out, "_*"))
	assert.NilError(t, err)
	assert.Equal(t, len(left), 0, "%q", left)

	// A state that benchgate did not write is an error.
	for text, want := range map[string]string{
		"x":                                 "invalid character 'x'",
		`{"pairs": [{"old": 3, "new": 2}]}`: "pair 0 is of commits 3 and 2: want two of the commits 0 to 9",
		`{"pairs": [{"old": 1, "new": 2}]}`: "pair 0 is of commits 1 and 2",
		`{"pairs": [{"old": 0, "new": 1}]}`: "0001-",
		`{"skipped": {"9": "does not build", "10": "", "11": ""}}`: "commit 9 is skipped: want one of the commits 1 to 8",
	} {
		assert.NilError(t, os.WriteFile(filepath.Join(out, "bisect.json"), []byte(text), 0o666))
		status, _, stderr = benchgate(f.args(out, ends...)...)
		assert.Equal(t, status, command.CannotJudge)
		assert.Assert(t, strings.Contains(stderr, want), "%s: %s", text, stderr)
	}

	testBisectCannotJudge(t, f)
	testInterruptedBisect(t, f)
}

// testBisectCannotJudge checks what ends without a commit.
func testBisectCannotJudge(t *testing.T, f bisected) {
	t.Helper()
	good, unbuilt, worse := f.hashes[10], f.hashes[11], f.hashes[12]
	for _, c := range []struct {
		name   string
		flags  []string
		stdout string // a part of it
		stderr string
	}{
		{"only a skipped commit before it", []string{"-good=" + good, "-bad=" + worse},
			fmt.Sprintf("cannot judge which of 2 commits is the first that is worse than allowed, because only the last of them can be measured: %.12s, %.12s\n", unbuilt, worse), "skipped: commit "},
		{"no loss", []string{"-good=" + good}, "cannot judge: the bad commit is not shown to be worse than allowed: pass after ", ""},
		{"the bad commit does not build", []string{"-good=" + good, "-bad=" + unbuilt}, "", fmt.Sprintf("benchgate: the server of the bad commit, %.12s cannot be built: ", unbuilt)},
		{"no ancestor", []string{"-good=" + worse, "-bad=" + good}, "", "is no ancestor of -bad="},
		{"the same commit", []string{"-good=HEAD"}, "", "-good=HEAD and -bad=HEAD are the same commit"},
		{"no commit", []string{"-good=nosuch"}, "", "benchgate: -good=nosuch: want a commit of this repository"},
		{"no good commit", nil, "", "benchgate: -good: not set"},
		{"no pairs", []string{"-good=HEAD", "-pairs=0"}, "", "benchgate: -pairs: 0: want at least 1"},
	} {
		status, stdout, stderr := benchgate(f.args(t.TempDir(), c.flags...)...)
		assert.Equal(t, status, command.CannotJudge, "%s: %s%s", c.name, stdout, stderr)
		assert.Assert(t, strings.Contains(stdout, c.stdout), "%s: %s%s", c.name, stdout, stderr)
		assert.Assert(t, strings.Contains(stderr, c.stderr), "%s: %s", c.name, stderr)
	}
	_, _, stderr := benchgate("bisect", "-good=HEAD", "--", "-bench=.")
	assert.Assert(t, strings.HasPrefix(stderr, "benchgate: -build: not set"), stderr)
}

// testInterruptedBisect checks that Ctrl-C in a pair prints what is known.
func testInterruptedBisect(t *testing.T, f bisected) {
	t.Helper()
	self, err := os.Executable()
	assert.NilError(t, err)
	cmd := exec.CommandContext(t.Context(), self, f.args(t.TempDir(), "-good="+f.hashes[5], "-bad="+f.hashes[9])...)
	cmd.Env = append(os.Environ(), "BENCHGATE_TEST_MAIN=1")
	var stdout strings.Builder
	cmd.Stdout = &stdout
	stderr, err := cmd.StderrPipe()
	assert.NilError(t, err)
	assert.NilError(t, cmd.Start())
	progress := untilLine(t, stderr, "pair 1 of at most 300: ", func() { assert.NilError(t, cmd.Process.Signal(os.Interrupt)) })
	_ = cmd.Wait()
	assert.Equal(t, cmd.ProcessState.ExitCode(), command.CannotJudge, progress)
	assert.Assert(t, strings.HasPrefix(stdout.String(), "cannot judge: interrupted after "), "%s%s", &stdout, progress)
	assert.Assert(t, strings.Contains(stdout.String(), f.hashes[7][:12]), "%s", &stdout)
}
