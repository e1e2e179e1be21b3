package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/history"
)

// aRun returns the results of a run.
func aRun(number int) string {
	return fmt.Sprintf("commit: c%02d\ncommit-time: 2026-01-%02dT00:00:00Z\nUnit ns/op better=lower gate=5%%\nBenchmarkX 1 %d ns/op\n", number, number, 100+number%3)
}

// gitWithoutIdentity creates a bare repository and a shallow clone of it, in which git knows no author, and makes
// the clone the working directory.
func gitWithoutIdentity(t *testing.T) (bare, clone string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("skipped: no git")
	}
	home := t.TempDir()
	for name, value := range map[string]string{"HOME": home, "XDG_CONFIG_HOME": home, "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "", "GIT_AUTHOR_EMAIL": "", "GIT_COMMITTER_NAME": "", "GIT_COMMITTER_EMAIL": ""} {
		t.Setenv(name, value)
		if value == "" {
			os.Unsetenv(name)
		}
	}
	bare, source, clone := filepath.Join(t.TempDir(), "bare.git"), t.TempDir(), filepath.Join(t.TempDir(), "clone")
	t.Chdir(source)
	git(t, "init", "-q", "--bare", bare)
	git(t, "init", "-q")
	commit(t)
	commit(t)
	git(t, "push", "-q", bare, "HEAD:refs/heads/main")
	git(t, "--git-dir="+bare, "symbolic-ref", "HEAD", "refs/heads/main")
	git(t, "clone", "-q", "--depth=1", "file://"+bare, clone)
	t.Chdir(clone)
	return bare, clone
}

// TestHistoryInABranch keeps a history in a branch of a remote repository.
func TestHistoryInABranch(t *testing.T) {
	bare, _ := gitWithoutIdentity(t)
	names := make([]string, 9)
	for i := 1; i <= 8; i++ {
		status, stdout, stderr := benchgateHistory(aRun(i), "add", "-git=bench/results")
		assert.Equal(t, status, 0, stderr)
		names[i] = strings.TrimSpace(stdout)
	}
	status, again, stderr := benchgateHistory(aRun(1), "add", "-git=bench/results")
	assert.Equal(t, status, 0, stderr)
	assert.Equal(t, strings.TrimSpace(again), names[1])
	inBranch := func() string {
		return git(t, "--git-dir="+bare, "ls-tree", "-r", "--name-only", "refs/heads/bench/results")
	}
	assert.Equal(t, strings.Count(inBranch(), "benchhistory/"), 8, inBranch())
	assert.Equal(t, git(t, "--git-dir="+bare, "log", "--format=%an <%ae>: %s", "-1", "bench/results"), "benchgate <benchgate@localhost>: benchgate history: "+names[8])
	assert.Equal(t, git(t, "--git-dir="+bare, "rev-list", "--count", "bench/results"), "8")

	for _, args := range [][]string{{"check"}, {"log"}, {"changes"}, {"show"}} {
		status, _, stderr = benchgateHistory("", append(args, "-git=bench/results")...)
		assert.Equal(t, status, 0, "%v: %s", args, stderr)
	}
	status, _, stderr = benchgateHistory("", "ack", "-git=bench/results", names[8])
	assert.Equal(t, status, 0, stderr)
	assert.Assert(t, strings.Contains(inBranch(), "benchhistory/ack-"+names[8]), inBranch())
	status, _, stderr = benchgateHistory("", "prune", "-git=bench/results", "-f", "ack-"+names[8])
	assert.Equal(t, status, 0, stderr)
	status, _, stderr = benchgateHistory("", "prune", "-git=bench/results", "-f", names[1])
	assert.Equal(t, status, 0, stderr)
	assert.Assert(t, !strings.Contains(inBranch(), names[1]), inBranch())
	assert.Equal(t, strings.Count(inBranch(), "benchhistory/"), 7, inBranch())

	// Nothing is left in the clone.
	assert.Equal(t, git(t, "status", "--porcelain"), "")
	assert.Equal(t, git(t, "branch", "--list"), "* main")
	assert.Equal(t, git(t, "for-each-ref", "refs/benchgate"), "")

	for want, args := range map[string][]string{
		"-git=a..b: want the name of a branch":      {"-git=a..b"},
		"-dir=/x: want a folder of the branch":      {"-git=x", "-dir=/x"},
		"-remote: means nothing without -git":       {"-remote=origin"},
		"benchhistory: no runs: want files that":    {"-git=none"},
		"git ls-remote nosuch refs/heads/bench/r":   {"-git=bench/results", "-remote=nosuch"},
		"git ls-remote file://a/nosuch refs/heads/": {"-git=bench/results", "-remote=file://user:secret@a/nosuch"},
	} {
		status, _, stderr = benchgateHistory("", append([]string{"check"}, args...)...)
		assert.Equal(t, status, 2)
		assert.Assert(t, strings.Contains(stderr, want) && !strings.Contains(stderr, "secret"), stderr)
	}

	// A remote that refuses is an error at once.
	assert.NilError(t, os.WriteFile(filepath.Join(bare, "hooks", "pre-receive"), []byte("#!/bin/sh\necho no room >&2\nexit 1\n"), 0o777))
	status, _, stderr = benchgateHistory(aRun(9), "add", "-git=bench/results")
	assert.Equal(t, status, 2)
	assert.Assert(t, strings.Contains(stderr, "git push origin refs/heads/bench/results: ") && strings.Contains(stderr, "no room"), stderr)
}

// TestHistoryAsksNothing checks that ssh asks no questions, which nobody would see, and that the error says what to do.
// A program of the user's own asks what it likes.
func TestHistoryAsksNothing(t *testing.T) {
	gitWithoutIdentity(t)
	bin := t.TempDir()
	script := func(name, text string) string {
		path := filepath.Join(bin, name)
		assert.NilError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o777))
		return path
	}
	script("ssh", `case " $* " in *" -oBatchMode=yes "*) echo "Host key verification failed." ;; *) echo "ssh asks" ;; esac >&2; exit 255`)
	own := script("own", "echo own program >&2; exit 255")
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	check := func() string {
		status, _, stderr := benchgateHistory("", "check", "-git=results", "-remote=ssh://user@nosuch/x.git")
		assert.Equal(t, status, 2)
		return stderr
	}
	const hint = "put the key into ssh-agent, the host into known_hosts"
	stderr := check()
	assert.Assert(t, strings.Contains(stderr, "Host key verification failed.") && strings.Contains(stderr, hint), stderr)
	t.Setenv("GIT_SSH", own)
	stderr = check()
	assert.Assert(t, strings.Contains(stderr, "own program") && !strings.Contains(stderr, hint), stderr)
	os.Unsetenv("GIT_SSH")
	t.Setenv("GIT_SSH_COMMAND", own)
	stderr = check()
	assert.Assert(t, strings.Contains(stderr, "own program"), stderr)
	os.Unsetenv("GIT_SSH_COMMAND")
	git(t, "config", "core.sshCommand", own)
	stderr = check()
	assert.Assert(t, strings.Contains(stderr, "own program"), stderr)
}

// TestHistoryInALocalBranch keeps a history in a repository without a remote.
func TestHistoryInALocalBranch(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("skipped: no git")
	}
	t.Chdir(t.TempDir())
	git(t, "init", "-q")
	commit(t)
	for i := 1; i <= 2; i++ {
		status, _, stderr := benchgateHistory(aRun(i), "add", "-git=results", "-dir=some/folder")
		assert.Equal(t, status, 0, stderr)
	}
	assert.Equal(t, strings.Count(git(t, "ls-tree", "-r", "--name-only", "results"), "some/folder/"), 2)
	assert.Equal(t, git(t, "status", "--porcelain"), "")
}

// TestHistoryPushedAtOnce checks that writers that push at the same time, from one clone, lose nothing.
func TestHistoryPushedAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	bare, _ := gitWithoutIdentity(t)
	var all sync.WaitGroup
	const writers = 6
	for i := range writers {
		all.Go(func() {
			status, _, stderr := benchgateHistory(aRun(i+1), "add", "-git=results")
			assert.Check(t, status == 0, stderr)
		})
	}
	all.Wait()
	assert.Equal(t, strings.Count(git(t, "--git-dir="+bare, "ls-tree", "-r", "--name-only", "results"), "\n"), writers-1)
	assert.Equal(t, git(t, "--git-dir="+bare, "rev-list", "--count", "results"), fmt.Sprint(writers))
}

// TestNightlyRecipe runs scenarios/example/nightly.sh in a clone of a toy repository: after a night without a change,
// and after one in which reruns confirm a change.
func TestNightlyRecipe(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	if apart(t) {
		return
	}
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("skipped: no sh")
	}
	script, err := filepath.Abs("../../../scenarios/example/nightly.sh")
	assert.NilError(t, err)
	_, clone := gitWithoutIdentity(t)
	about := history.About{Machine: "h100-a"}
	result := func(value int) string {
		return fmt.Sprintf("Unit ns/op better=lower gate=5%%\nBenchmarkX 1 %d ns/op\nBenchmarkY 1 %d ns/op\n", value, 500)
	}
	folder := t.TempDir()
	for i := 1; i <= 20; i++ {
		about.Commit, about.Time = fmt.Sprintf("c%02d", i), time.Date(2026, 1, i, 0, 0, 0, 0, time.UTC)
		_, err := history.Dir(filepath.Join(folder, "benchhistory")).Add([]byte(result(1000+i%3)), about, about.Time)
		assert.NilError(t, err)
	}
	t.Chdir(folder)
	git(t, "init", "-q")
	commit(t)
	git(t, "push", "-q", git(t, "-C", clone, "remote", "get-url", "origin"), "HEAD:refs/heads/benchmarks")
	t.Chdir(clone)

	self, err := os.Executable()
	assert.NilError(t, err)
	night := func(value int) (status int, issue, output string) {
		commit(t)
		cmd := exec.CommandContext(t.Context(), "sh", script, "echo \"$BENCH\" >>patterns; cat <<'END'\n"+result(value)+"END\n"+
			"echo \"# run $(grep -c . patterns)\"") // two equal texts would be one rerun
		cmd.Env = append(os.Environ(), "BENCHGATE_TEST_MAIN=1", "BENCHGATE="+self, "MACHINE=h100-a")
		out, _ := cmd.CombinedOutput()
		text, err := os.ReadFile("nightly/issue.md")
		assert.NilError(t, err, "%s", out)
		return cmd.ProcessState.ExitCode(), string(text), string(out)
	}
	status, issue, out := night(1001)
	assert.Equal(t, status, 0, "%s%s", issue, out)
	assert.Assert(t, strings.HasPrefix(issue, "**nothing: 2 series in line"), issue)
	status, issue, out = night(1100)
	assert.Equal(t, status, 1, "%s%s", issue, out)
	assert.Assert(t, strings.HasPrefix(issue, "**alarm: X ns/op +9"), issue)
	patterns, err := os.ReadFile("patterns")
	assert.NilError(t, err)
	assert.Assert(t, strings.HasPrefix(string(patterns), ".\n.\n^BenchmarkX$\n"), "%s", patterns)
	for _, name := range []string{"index.html", "feed.xml"} {
		text, err := os.ReadFile(filepath.Join("nightly", name))
		assert.NilError(t, err)
		assert.Assert(t, strings.Contains(string(text), "X ns/op"), "%s", text)
	}
}
