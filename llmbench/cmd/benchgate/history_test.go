package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/historycmd"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/proc"
	"gotest.tools/v3/assert"
)

// benchgateHistory runs "benchgate history" with stdin as standard input, and returns its exit status and
// outputs.
func benchgateHistory(stdin string, args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = historycmd.Run(args, strings.NewReader(stdin), &out, &err)
	return status, out.String(), err.String()
}

func TestHistoryKeepsFilesOfAllTools(t *testing.T) {
	dir := t.TempDir()
	vllm := filepath.Join(t.TempDir(), "vllm.json")
	assert.NilError(t, os.WriteFile(vllm, []byte(toolFile(t, "vllm.json", 0, 0)), 0o600))
	status, first, stderr := benchgateHistory("", "add", "-dir", dir, "-commit=abc", "-commit-time=2026-11-26T21:17:16Z", "-machine=m", vllm)
	assert.Equal(t, status, 0, stderr)
	status, _, stderr = benchgateHistory("commit: def\ncommit-time: 2026-11-25T00:00:00Z\nBenchmarkX 1 5 ns/op\nFAIL\n", "add", "-dir", dir)
	assert.Equal(t, status, 0, stderr)
	assert.NilError(t, os.WriteFile(filepath.Join(dir, ".add-1-2.tmp"), nil, 0o600))

	status, stdout, stderr := benchgateHistory("", "log", "-dir", dir)
	assert.Equal(t, status, 0)
	lines := strings.Split(stdout, "\n")
	assert.Assert(t, strings.HasPrefix(lines[1], "2026-11-25T00:00:00Z  def     -        1       failed"), stdout)
	assert.Assert(t, strings.Contains(lines[2], first[:len(first)-1]), stdout)
	assert.Assert(t, strings.Contains(stderr, ".add-1-2.tmp: unfinished"), stderr)

	// The same results of the same commit are stored only once.
	status, again, stderr := benchgateHistory("", "add", "-dir", dir, "-commit=abc", "-commit-time=2026-11-26T21:17:16Z", "-machine=m", vllm)
	assert.Equal(t, status, 0)
	assert.Equal(t, again, first)
	assert.Assert(t, strings.Contains(stderr, "the history has this run"), stderr)

	// Prune deletes only the files that are named.
	status, listed, _ := benchgateHistory("", "prune", "-dir", dir, "-keep=1")
	assert.Equal(t, status, 0)
	assert.Assert(t, strings.HasPrefix(listed, "2026-11-25T000000Z-def-") && strings.HasSuffix(listed, "\n.add-1-2.tmp\n"), listed)
	entries, err := os.ReadDir(dir)
	assert.NilError(t, err)
	assert.Equal(t, len(entries), 3)
	status, _, stderr = benchgateHistory(listed, "prune", "-dir", dir, "-f", "-")
	assert.Equal(t, status, 0, stderr)
	entries, err = os.ReadDir(dir)
	assert.NilError(t, err)
	assert.Equal(t, len(entries), 1)
	assert.Equal(t, entries[0].Name()+"\n", first)
}

func TestHistoryTakesTheCommitFromGit(t *testing.T) {
	repository := t.TempDir()
	t.Chdir(repository)
	git := func(args ...string) {
		_, err := proc.Command(t.Context(), "", "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		assert.NilError(t, err)
	}
	git("init", "-q")
	result := "BenchmarkX 1 5 ns/op\n"
	status, _, stderr := benchgateHistory(result, "add")
	assert.Equal(t, status, 2)
	assert.Assert(t, strings.Contains(stderr, "want them in the results or as -commit and -commit-time, or a git repository that has HEAD"), stderr)
	t.Setenv("GIT_COMMITTER_DATE", "2026-11-26T23:17:16+02:00")
	git("commit", "-q", "--allow-empty", "-m", "one")
	status, name, stderr := benchgateHistory(result, "add")
	assert.Equal(t, status, 0, stderr)
	assert.Assert(t, strings.HasPrefix(name, "2026-11-26T211716Z-"), name)
	assert.Equal(t, stderr, "")
}

func TestHistoryChanges(t *testing.T) {
	dir := t.TempDir()
	for night := range 28 {
		value := 10000 + 37*(night*7%11)
		if night >= 14 {
			value += 2000
		}
		result := fmt.Sprintf("Unit ns/op better=lower gate=5%%\nBenchmarkX/n=1 1 %d ns/op\nBenchmarkX/n=2 1 %d ns/op\n", value, 10000+37*(night*5%11))
		status, _, stderr := benchgateHistory(result, "add", "-dir", dir, fmt.Sprintf("-commit=c%d", night+1), fmt.Sprintf("-commit-time=2026-11-%02dT00:00:00Z", night+1))
		assert.Equal(t, status, 0, stderr)
	}
	status, stdout, stderr := benchgateHistory("", "changes", "-dir", dir)
	assert.Equal(t, status, 0, stderr)
	assert.Equal(t, stdout, "all series: X\nafter commit c14 of 2026-11-14, in commit c15 of 2026-11-15 at the latest:\n  X/n=1 ns/op: +20.2%, 95% confidence interval +18.6% to +21.8%, p < 1e-12\n")
	status, stdout, _ = benchgateHistory("", "changes", "-dir", dir, "-min=50%")
	assert.Equal(t, status, 0)
	assert.Equal(t, stdout, "no changes\n")
	status, stdout, _ = benchgateHistory("", "changes", "-dir", dir, "-json", "-min=50%")
	assert.Equal(t, status, 0)
	assert.Equal(t, stdout, "[]\n")
}

func TestHistoryErrors(t *testing.T) {
	empty := t.TempDir()
	cut := filepath.Join(t.TempDir(), "cut.txt")
	assert.NilError(t, os.WriteFile(cut, []byte("BenchmarkX 1 5 ns/op\nBenchmarkX 1 5 ns"), 0o600))
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "history: no command: want add"},
		{[]string{"draw"}, `history: "draw": want add`},
		{[]string{"log", "-dir", empty}, "no runs: want files that benchgate history add wrote"},
		{[]string{"log", "x"}, `history log: "x": want no arguments`},
		{[]string{"log", "-dir", filepath.Join(empty, "none")}, "none"},
		{[]string{"prune", "-f"}, "-f without names: want a list"},
		{[]string{"prune", "-f", "-keep=1", "x"}, "want names and none of these flags with -f"},
		{[]string{"prune", "x"}, `history prune: "x" without -f`},
		{[]string{"prune", "-before=yesterday"}, "-before"},
		{[]string{"add", "-commit-time=x", "y"}, "-commit-time"},
		{[]string{"add", "-dir", empty, "-commit=a", "-commit-time=2026-11-26T21:17:16Z", cut}, "cut.txt:2: the last line has no line end: was the file cut off?"},
		{[]string{"check", "x"}, `history check: "x": want no arguments`},
		{[]string{"check", "-markdown", "-json"}, "-markdown and -json: want one of them"},
		{[]string{"check", "-min=one"}, "-min"},
		{[]string{"check", "-ignore=a,"}, "want configuration keys"},
		{[]string{"changes", "x"}, `history changes: "x": want no arguments`},
		{[]string{"changes", "-min=100%"}, "want a percentage from 0% to less than 100%"},
		{[]string{"check", "-nights=1", "-dir", empty}, "no runs"},
	} {
		status, stdout, stderr := benchgateHistory("", c.args...)
		assert.Equal(t, status, 2, "%v", c.args)
		assert.Equal(t, stdout, "", "%v", c.args)
		assert.Assert(t, strings.Contains(stderr, c.want), "%v: %s", c.args, stderr)
	}
}

func TestHistoryCheckRerunsByName(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("-rerun needs sh")
	}
	for name, c := range map[string]struct {
		rerun          string
		status, reruns int
		summary        string
	}{
		"no rerun":         {"", 2, 0, "cannot judge: 1 series out of line, to be rerun\n"},
		"reruns disagree":  {`test "$BENCH" = '^BenchmarkX$/^n=1$' && echo BenchmarkX/n=1 1 100$(ls "$DIR" | wc -l) ns/op`, 0, 2, "nothing: 2 series in line with what came before\n"},
		"reruns agree":     {`echo BenchmarkX/n=1 1 150$(ls "$DIR" | wc -l) ns/op`, 1, 2, "alarm: X/n=1 ns/op +47"},
		"the rerun fails":  {"exit 3", 2, 0, ""},
		"no result":        {"true", 2, 0, ""},
		"another command ": {"echo BenchmarkY 1 1 ns/op", 2, 1, "cannot judge: 1 series out of line, to be rerun\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("DIR", dir)
			for night := range 30 {
				value := 10000 + 37*(night*7%11)
				if night == 29 {
					value = 15000
				}
				result := fmt.Sprintf("Unit ns/op better=lower gate=5%%\nBenchmarkX/n=1 1 %d ns/op\nBenchmarkX/n=2 1 %d ns/op\n", value, 10000+37*(night*5%11))
				status, _, stderr := benchgateHistory(result, "add", "-dir", dir, "-commit=c", fmt.Sprintf("-commit-time=2026-11-%02dT00:00:00Z", night+1))
				assert.Equal(t, status, 0, stderr)
			}
			status, stdout, stderr := benchgateHistory("", "check", "-dir", dir, "-rerun", c.rerun)
			assert.Equal(t, status, c.status, "%s%s", stdout, stderr)
			assert.Assert(t, strings.HasPrefix(stdout, c.summary), stdout)
			status, stdout, _ = benchgateHistory("", "log", "-dir", dir)
			assert.Equal(t, status, 0)
			assert.Equal(t, strings.Count(stdout, "rerun"), c.reruns)
		})
	}
}
