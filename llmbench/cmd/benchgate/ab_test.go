package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"
)

// TestMain runs the command instead of the tests if BENCHGATE_TEST_MAIN is set, for
// tests that need a process.
func TestMain(m *testing.M) {
	if os.Getenv("BENCHGATE_TEST_MAIN") != "" {
		main()
	}
	os.Exit(m.Run())
}

// The sources of a package with a benchmark whose value is set by the test.
const (
	fixtureMod  = "module example.com/fixture\n\ngo 1.24\n"
	fixtureTest = `package fixture

import (
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"testing"
	"time"
)

func BenchmarkNAME(b *testing.B) {
	if os.Getenv("FIXTURE") == "slow" {
		time.Sleep(400 * time.Millisecond)
	}
	if os.Getenv("FIXTURE") == "deaf" {
		signal.Ignore(os.Interrupt)
		child := exec.Command("sleep", "100")
		if err := child.Start(); err != nil {
			b.Fatal(err)
		}
		os.WriteFile(os.Getenv("FIXTURE_READY"), []byte(strconv.Itoa(child.Process.Pid)), 0o666)
		child.Wait()
	}
	if os.Getenv("FIXTURE") == "broken" {
		b.Fatal("the server did not start")
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(VALUE, "x/op")
}
`
)

// fixture makes a repository with the package in a commit, where x/op is 100, and makes
// the repository the working directory. It returns a function that changes the name and
// the value of the benchmark, and a file of units outside the repository.
func fixture(t *testing.T) (measure func(name, value string), units string) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("skipped: no git")
	}
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GOWORK", "off")
	dir := t.TempDir()
	t.Chdir(dir)
	measure = func(name, value string) {
		source := strings.NewReplacer("NAME", name, "VALUE", value).Replace(fixtureTest)
		assert.NilError(t, os.WriteFile("fixture_test.go", []byte(source), 0o666))
	}
	measure("X", "100")
	assert.NilError(t, os.WriteFile("go.mod", []byte(fixtureMod), 0o666))
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "x"}} {
		_, err := command(t.Context(), "", "git", args...)
		assert.NilError(t, err)
	}
	units = filepath.Join(t.TempDir(), "units.txt")
	assert.NilError(t, os.WriteFile(units, []byte("Unit x/op better=lower gate=2%\n"), 0o666))
	return measure, units
}

// benchgate runs the command and returns its exit status and its output.
func benchgate(args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = run(args, &out, &err)
	return status, out.String(), err.String()
}

// onlyOneTree checks that no worktree is left behind.
func onlyOneTree(t *testing.T) {
	t.Helper()
	trees, err := command(t.Context(), "", "git", "worktree", "list")
	assert.NilError(t, err)
	assert.Equal(t, strings.Count(trees, "\n"), 1, trees)
}

func TestAB(t *testing.T) {
	measure, units := fixture(t)
	for _, c := range []struct {
		name, benchmark, value, env string
		status                      int
		stdout                      string // part of stdout
		stderr                      string // part of stderr
		rounds                      int
	}{
		{"equal", "X", "100", "", 0, "x/op, lower is better, may be 2% worse", "round 1 of 10: base ", 6},
		{"worse", "X", "106", "", 1, "X-", "round 2 of 10: head ", 7},
		{"a missing benchmark", "XY", "100", "", 2, ": missing in ", "", 1},
		{"a benchmark that fails", "X", "100", "broken", 2, "", "round 1: base: example.com/fixture: exit status 1\n", 0},
		{"no build", "X", "nosuch", "", 2, "", "undefined: nosuch", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			measure(c.benchmark, c.value)
			t.Setenv("FIXTURE", c.env)
			out := t.TempDir()
			status, stdout, stderr := benchgate("ab", "-base=HEAD", "-units="+units, "-out="+out, "--", "-bench=X", "-benchtime=1x")
			assert.Equal(t, status, c.status, "%s\n%s", stdout, stderr)
			assert.Assert(t, strings.Contains(stdout, c.stdout), "%q is not in\n%s", c.stdout, stdout)
			assert.Assert(t, strings.Contains(stderr, c.stderr), "%q is not in\n%s", c.stderr, stderr)
			assert.Equal(t, strings.Count(stderr, " of 10: "), c.rounds, "rounds in\n%s", stderr)
			report, err := os.ReadFile(filepath.Join(out, "report.txt"))
			assert.NilError(t, err)
			if c.rounds > 0 {
				assert.Equal(t, string(report), stdout)
			} else {
				assert.Assert(t, strings.Contains(string(report), "cannot judge: "), "%s", report)
			}
			samples, _ := filepath.Glob(filepath.Join(out, "head", "*.txt"))
			assert.Equal(t, len(samples), c.rounds)
			onlyOneTree(t)
		})
	}
}

// TestInterrupt checks that Ctrl-C keeps the complete samples, and that the same command
// continues with them.
func TestInterrupt(t *testing.T) {
	measure, units := fixture(t)
	out := t.TempDir()
	args := []string{"ab", "-base=HEAD", "-units=" + units, "-out=" + out, "--", "-bench=X", "-benchtime=1x"}
	self, err := os.Executable()
	assert.NilError(t, err)
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), "BENCHGATE_TEST_MAIN=1", "FIXTURE=slow")
	stderr, err := cmd.StderrPipe()
	assert.NilError(t, err)
	assert.NilError(t, cmd.Start())
	var progress strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		progress.WriteString(lines.Text() + "\n")
		if strings.HasPrefix(lines.Text(), "round 1 of 10: ") {
			assert.NilError(t, cmd.Process.Signal(os.Interrupt))
		}
	}
	cmd.Wait()
	assert.Equal(t, cmd.ProcessState.ExitCode(), exitCannotJudge, progress.String())
	assert.Assert(t, strings.Contains(progress.String(), "interrupted; the same command with -out=\""+out+"\" continues with these samples"), progress.String())
	onlyOneTree(t)

	status, _, again := benchgate(args...)
	assert.Equal(t, status, 0, again)
	assert.Assert(t, strings.Contains(again, "round 1 of 10: base kept, head kept"), again)

	// A file of the working tree that is in no binary.
	assert.NilError(t, os.WriteFile("data.txt", nil, 0o666))
	status, _, data := benchgate(args...)
	assert.Equal(t, status, exitCannotJudge)
	assert.Assert(t, strings.Contains(data, "of another comparison: sources of head changed"), data)
	assert.NilError(t, os.Remove("data.txt"))

	t.Setenv("LLMBENCH_API_KEY", "hunter2")
	status, _, key := benchgate(args...)
	assert.Equal(t, status, exitCannotJudge)
	assert.Assert(t, strings.Contains(key, "of another comparison: LLMBENCH_API_KEY changed"), key)
	assert.Assert(t, !strings.Contains(key, "hunter2"), key)
	os.Unsetenv("LLMBENCH_API_KEY")

	measure("X", "106")
	status, _, other := benchgate(args...)
	assert.Equal(t, status, exitCannotJudge)
	assert.Assert(t, strings.Contains(other, "the folder has samples of another comparison: binary of head example.com/fixture, sources of head changed"), other)
}

// TestFingerprints checks that the identity of samples tells nothing about the value of a
// variable without the key of the folder, which nobody else may read.
func TestFingerprints(t *testing.T) {
	t.Setenv("LLMBENCH_API_KEY", "hunter2")
	var seen []string
	for range 2 {
		f := folder{path: t.TempDir()}
		for range 2 { // the second time the folder has a key
			id, err := (&rounds{folder: f}).identity()
			assert.NilError(t, err)
			seen = append(seen, id["LLMBENCH_API_KEY"])
		}
		info, err := os.Stat(f.join(keyName))
		assert.NilError(t, err)
		assert.Equal(t, info.Mode().Perm(), os.FileMode(0o600))
	}
	assert.Assert(t, seen[0] == seen[1] && seen[2] == seen[3] && seen[0] != seen[2], "%q", seen)
	assert.Assert(t, !slices.Contains(seen, fmt.Sprintf("%x", sha256.Sum256([]byte("hunter2")))), "%q", seen)
}

// TestSecondInterrupt checks that a second Ctrl-C kills a benchmark that ignores the
// first, together with its child process, and that the worktree is removed.
func TestSecondInterrupt(t *testing.T) {
	_, units := fixture(t)
	self, err := os.Executable()
	assert.NilError(t, err)
	ready := filepath.Join(t.TempDir(), "ready")
	cmd := exec.CommandContext(t.Context(), self, "ab", "-base=HEAD", "-units="+units, "-out="+t.TempDir(), "--", "-bench=X", "-benchtime=1x")
	cmd.Env = append(os.Environ(), "BENCHGATE_TEST_MAIN=1", "FIXTURE=deaf", "FIXTURE_READY="+ready)
	var progress bytes.Buffer
	cmd.Stderr = &progress
	assert.NilError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var pid []byte // of the child process of the benchmark
	for running := true; running; {
		select {
		case <-ended:
			running = false
		case <-time.After(200 * time.Millisecond):
			if pid, _ = os.ReadFile(ready); len(pid) > 0 {
				cmd.Process.Signal(os.Interrupt)
			}
		}
	}
	assert.Equal(t, cmd.ProcessState.ExitCode(), exitCannotJudge, "%s", &progress)
	onlyOneTree(t)
	// A killed process may need a moment to end.
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		stat, err := os.ReadFile("/proc/" + string(pid) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return poll.Success()
		}
		return poll.Continue("process %s is alive: %s", pid, stat)
	}, poll.WithTimeout(time.Minute))
}

func TestAA(t *testing.T) {
	fixture(t)
	out := t.TempDir()
	status, stdout, stderr := benchgate("aa", "-n=6", "-out="+out, "--", "-bench=X", "-benchtime=1x")
	assert.Equal(t, status, exitCannotJudge, "a unit without a direction has no noise\n%s%s", stdout, stderr)
	units := filepath.Join(out, "direction.txt")
	assert.NilError(t, os.WriteFile(units, []byte("Unit x/op better=lower\n"), 0o666))
	status, stdout, stderr = benchgate("aa", "-n=6", "-units="+units, "-out="+out, "--", "-bench=X", "-benchtime=1x")
	assert.Equal(t, status, 0, stderr)
	assert.Equal(t, stdout, `# With 6 samples a side, the medians of equal versions differ by more than the noise in at most one of 20 comparisons.
#   noise  rows  unit
#   0.00%     1  x/op
# The margins are wider than the noise. Gate few units: each further unit reduces the power of the others.
Unit x/op better=lower gate=0.5%
`)
}

func TestBadUsage(t *testing.T) {
	_, units := fixture(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"ab", "--", "-bench=X"}, "-base: not set, want the commit to compare the working tree with"},
		{[]string{"ab", "-base=nosuch", "--", "-bench=X"}, "-base=nosuch: want a commit of this repository"},
		{[]string{"ab", "-base=HEAD", "-n=0", "--", "-bench=X"}, "-n: 0, want at least 1"},
		{[]string{"ab", "-base=HEAD", "-timeout=0s", "--", "-bench=X"}, "-timeout: 0s, want more than 0"},
		{[]string{"ab", "-base=HEAD"}, "no -bench; want arguments of go test"},
		{[]string{"aa", "-units=" + units + ".none", "-n=1", "--", "-bench=X", "-benchtime=1x"}, "units.txt.none: no such file"},
		{[]string{"aa", "--", "-bench=X", "./nosuch"}, "nosuch"},
		{[]string{"aa", "-alpha=0", "--", "-bench=X"}, "alpha: 0, want more than 0 and at most 0.5"},
		{[]string{"aa", "-out=.", "--", "-bench=X"}, "want an empty folder or one that benchgate made"},
		{[]string{"aa", "-n=1", "-units=" + units, "--", "-bench=X", "-benchtime=1x", "-cpu=2,2"}, "2 results of one benchmark in 1 processes: want one of each; does -cpu name a number twice?"},
		{[]string{"ab", "-bogus"}, "flag provided but not defined: -bogus"},
	} {
		t.Setenv("TMPDIR", t.TempDir()) // for the folder of samples
		status, stdout, stderr := benchgate(c.args...)
		assert.Equal(t, status, exitCannotJudge)
		assert.Equal(t, stdout, "")
		assert.Assert(t, strings.Contains(stderr, c.want), "benchgate %q prints %q, want %q", c.args, stderr, c.want)
		onlyOneTree(t)
	}
	t.Setenv("FIXTURE", "slow")
	status, _, stderr := benchgate("aa", "-timeout=50ms", "-out="+t.TempDir(), "--", "-bench=X", "-benchtime=1x")
	assert.Equal(t, status, exitCannotJudge)
	assert.Assert(t, strings.Contains(stderr, "the process took longer than -timeout, 50ms"), stderr)
}
