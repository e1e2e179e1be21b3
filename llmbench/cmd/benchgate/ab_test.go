package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/proc"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/source"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"
)

// TestMain runs the command instead of the tests if BENCHGATE_TEST_MAIN is set. Tests use this to run benchgate
// in a separate process.
func TestMain(m *testing.M) {
	if os.Getenv("BENCHGATE_TEST_MAIN") != "" {
		main()
	}
	_ = flag.Set("test.parallel", "4") // parallel tests mostly wait
	os.Exit(m.Run())
}

// Sources of a package with one benchmark. The test sets the benchmark's value.
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
	if path := os.Getenv("FIXTURE_LOG"); path != "" {
		log, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
		if err != nil {
			b.Fatal(err)
		}
		log.WriteString("VALUE ")
		log.Close()
	}
	if os.Getenv("FIXTURE") == "hangs" {
		time.Sleep(time.Hour)
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

// fixture creates a repository with a commit of the package, in which x/op is 100, and makes it the working
// directory. It returns a function that changes the name and the value of the benchmark, and the path of a file
// for -units outside the repository.
func fixture(t *testing.T) (measure func(name, value string), units string) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("skipped: no git")
	}
	t.Setenv("GOFLAGS", "-mod=mod -ldflags=-s -trimpath") // without debug information, a test is linked in half the time
	t.Setenv("GOWORK", "off")
	dir := t.TempDir()
	t.Chdir(dir)
	measure = func(name, value string) {
		source := strings.NewReplacer("NAME", name, "VALUE", value).Replace(fixtureTest)
		assert.NilError(t, os.WriteFile("fixture_test.go", []byte(source), 0o666))
	}
	measure("X", "100")
	assert.NilError(t, os.WriteFile("go.mod", []byte(fixtureMod), 0o666))
	git(t, "init", "-q")
	commit(t)
	units = filepath.Join(t.TempDir(), "units.txt")
	assert.NilError(t, os.WriteFile(units, []byte("Unit x/op better=lower gate=2%\n"), 0o666))
	return measure, units
}

// git runs git in the working directory and returns its output without the final newline.
func git(t *testing.T, args ...string) string {
	t.Helper()
	out, err := proc.Command(t.Context(), "", "git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always"}, args...)...)
	assert.NilError(t, err)
	return strings.TrimSpace(out)
}

// commit commits all files of the working directory.
func commit(t *testing.T) {
	t.Helper()
	git(t, "add", "--all", ".")
	git(t, "commit", "-qm", "x", "--allow-empty")
}

// benchgate runs the command and returns its exit status and its output.
func benchgate(args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = run(args, &out, &err)
	return status, out.String(), err.String()
}

// noSources checks that a folder of samples contains neither the base's files nor binaries.
func noSources(t *testing.T, out string) {
	t.Helper()
	for _, pattern := range []string{"_base-src", "*-bin"} {
		left, err := filepath.Glob(filepath.Join(out, pattern))
		assert.NilError(t, err)
		assert.Equal(t, len(left), 0, "%q", left)
	}
}

// TestCheckOutAtOnce checks that several commands can check out commits of one repository at the same time, as
// shards on one file system do, and that the repository does not change.
func TestCheckOutAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	measure, _ := fixture(t)
	measure("X", "106")
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for range 4 { // again into the same folder, as after a killed command
				base, err := source.CheckOut(t.Context(), "HEAD", filepath.Join(dir, fmt.Sprint(i), "_base-src"))
				if !assert.Check(t, err) {
					return
				}
				source, err := os.ReadFile(filepath.Join(base.Dir, "fixture_test.go"))
				assert.Check(t, err)
				assert.Check(t, strings.Contains(string(source), "b.ReportMetric(100, "))
				_, err = os.Stat(filepath.Join(base.Dir, ".git"))
				assert.Check(t, errors.Is(err, fs.ErrNotExist), err)
			}
		})
	}
	all.Wait()
	assert.Equal(t, git(t, "status", "--porcelain"), "M fixture_test.go")
	assert.Equal(t, strings.Count(git(t, "worktree", "list"), "\n"), 0)
}

func TestAB(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	if apart(t) {
		return
	}
	measure, units := fixture(t)
	for _, c := range []struct {
		name, benchmark, value, env string
		status                      int
		stdout                      string // part of stdout
		stderr                      string // part of stderr
		rounds                      int
	}{
		{"equal", "X", "100", "", 0, "x/op, lower is better, may be 2% worse", "a regression may be found after this many rounds: 8 (alpha 0.005), 10 (alpha 0.02)\n10 rounds of 2 processes; ", 6},
		{"worse", "X", "106", "", 1, "X-", "round 2 of 10: ", 8},
		{"another benchmark", "XY", "100", "", 2, ": missing in ", "", 1},
		{"a benchmark that fails", "X", "100", "broken", 2, "", ": example.com/fixture: exit status 1\n", 0},
		{"no build", "X", "nosuch", "", 2, "", "benchgate: the working tree cannot be built: package example.com/fixture: exit status 1: ", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			measure(c.benchmark, c.value)
			t.Setenv("FIXTURE", c.env)
			out := t.TempDir()
			status, stdout, stderr := benchgate("ab", "-v", "-base=HEAD", "-units="+units, "-out="+out, "--", "-bench=X", "-benchtime=1x")
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
			noSources(t, out)
		})
	}
}

// TestNewBenchmarks compares working trees with bases that have no benchmarks yet.
func TestNewBenchmarks(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	if apart(t) {
		return
	}
	for _, c := range []struct {
		name     string
		base     func(t *testing.T) // turns the fixture into the base
		packages string
		stderr   string
	}{
		{"a base without a module", func(t *testing.T) { git(t, "rm", "-q", "-r", "--cached", "go.mod", "fixture_test.go", "serving") }, "./...", "so all benchmarks are new"},
		{"a base without tests", func(t *testing.T) { git(t, "rm", "-q", "-r", "--cached", "fixture_test.go", "serving") }, "./...", "so all benchmarks are new"},
		{"a base without the package", func(t *testing.T) { git(t, "rm", "-q", "-r", "--cached", "serving") }, "./serving", "so all benchmarks are new"},
		{"a base without the folder of a pattern", func(t *testing.T) { git(t, "rm", "-q", "-r", "--cached", "serving") }, "./serving/...", "so all benchmarks are new"},
		{"a base with another benchmark", func(t *testing.T) {
			source, err := os.ReadFile("serving/fixture_test.go")
			assert.NilError(t, err)
			assert.NilError(t, os.WriteFile("serving/fixture_test.go", bytes.ReplaceAll(source, []byte("BenchmarkX"), []byte("BenchmarkOther")), 0o666))
			git(t, "add", "serving")
			assert.NilError(t, os.WriteFile("serving/fixture_test.go", source, 0o666))
		}, "./serving", "round 1 of 10: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, units := fixture(t)
			source, err := os.ReadFile("fixture_test.go")
			assert.NilError(t, err)
			assert.NilError(t, os.Mkdir("serving", 0o777))
			assert.NilError(t, os.WriteFile("serving/fixture_test.go", source, 0o666))
			git(t, "add", "--all", ".")
			c.base(t)
			git(t, "commit", "-qm", "base", "--allow-empty")
			base := git(t, "rev-parse", "HEAD")
			commit(t)
			// The folder of samples is below the working tree. The base in it must not be mistaken for a part
			// of the module around it.
			status, stdout, stderr := benchgate("ab", "-base="+base, "-units="+units, "-out=out", "--", "-bench=X$", "-benchtime=1x", c.packages)
			assert.Equal(t, status, 0, "%s\n%s", stdout, stderr)
			assert.Assert(t, strings.Contains(stdout, "pass: nothing was judged, because no gated row is in both files; "), stdout)
			assert.Assert(t, strings.Contains(stdout, fmt.Sprintf("(head.txt) against the base, %.12s (base.txt)\n", base)), stdout)
			assert.Assert(t, strings.Contains(stderr, c.stderr), stderr)
			assert.Equal(t, strings.Count(stderr, " of 10: "), 1, stderr)
			noSources(t, "out")
		})
	}
}

// TestBaseDoesNotBuild checks that the error names the side that cannot be built.
func TestBaseDoesNotBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	measure, units := fixture(t)
	measure("X", "nosuch")
	commit(t)
	base := git(t, "rev-parse", "HEAD")
	measure("X", "100")
	status, stdout, stderr := benchgate("ab", "-base=HEAD", "-units="+units, "-out="+t.TempDir(), "--", "-bench=X", "-benchtime=1x")
	assert.Equal(t, status, command.CannotJudge, stdout)
	assert.Assert(t, strings.Contains(stderr, fmt.Sprintf("benchgate: the base, commit %.12s, cannot be built: package example.com/fixture: exit status 1: ", base)), stderr)
	assert.Assert(t, strings.Contains(stderr, "undefined: nosuch"), stderr)
	assert.Assert(t, strings.Contains(stderr, fmt.Sprintf("building the base, %.12s and the working tree at %.12s with changes in ", base, base)), stderr)
}

// TestHeadVersion checks the description of the working tree in reports.
func TestHeadVersion(t *testing.T) {
	measure, _ := fixture(t)
	base := git(t, "rev-parse", "HEAD")
	samples, err := filepath.Abs("out")
	assert.NilError(t, err)
	check := func(want string, equal bool) {
		t.Helper()
		got, same, err := source.HeadVersion(t.Context(), base, samples)
		assert.NilError(t, err)
		head := git(t, "rev-parse", "HEAD")
		assert.Equal(t, got, fmt.Sprintf("the working tree at %.12s%s", head, want))
		switch {
		case equal:
			assert.Equal(t, same, base)
		case want == "":
			assert.Equal(t, same, head)
		default:
			assert.Equal(t, same, "")
		}
	}
	check(", equal to the base", true)
	assert.NilError(t, os.Mkdir("out", 0o777))
	assert.NilError(t, os.WriteFile("out/head.txt", nil, 0o666))
	check(", equal to the base", true)
	assert.NilError(t, os.Mkdir("sub", 0o777))
	assert.NilError(t, os.WriteFile("data.txt", nil, 0o666))
	t.Chdir("sub")
	check(" with changes", false)
	t.Chdir("..")
	assert.NilError(t, os.Remove("data.txt"))
	measure("X", "106")
	check(" with changes", false)
	git(t, "commit", "-qam", "slower")
	check("", false)
	measure("X", "100")
	check(", equal to the base", true)
}

// TestSubmodule compares versions whose benchmark is in a submodule of a submodule.
func TestSubmodule(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	if apart(t) {
		return
	}
	_, units := fixture(t)
	inner := t.TempDir()
	assert.NilError(t, os.CopyFS(inner, os.DirFS(".")))
	middle := t.TempDir()
	t.Chdir(middle)
	git(t, "init", "-q")
	git(t, "submodule", "--quiet", "add", inner, "inner")
	commit(t)
	outer := t.TempDir()
	t.Chdir(outer)
	git(t, "init", "-q")
	git(t, "submodule", "--quiet", "add", middle, "middle")
	git(t, "submodule", "--quiet", "update", "--init", "--recursive")
	commit(t)
	t.Chdir(filepath.Join(outer, "middle", "inner")) // the module, which has its own repository
	source, err := os.ReadFile("fixture_test.go")
	assert.NilError(t, err)
	t.Chdir(outer)
	// The module of the outer repository uses the package in the submodule.
	assert.NilError(t, os.WriteFile("go.mod", []byte("module example.com/outer\n\ngo 1.24\n\nrequire example.com/fixture v0.0.0\n\nreplace example.com/fixture => ./middle/inner\n"), 0o666))
	commit(t)
	worse := bytes.Replace(source, []byte("b.ReportMetric(100, "), []byte("b.ReportMetric(106, "), 1)
	assert.NilError(t, os.WriteFile("middle/inner/fixture_test.go", worse, 0o666))
	out := t.TempDir()
	status, stdout, stderr := benchgate("ab", "-base=HEAD", "-units="+units, "-out="+out, "--", "-bench=X", "-benchtime=1x", "example.com/fixture")
	assert.Equal(t, status, command.Regression, "%s\n%s", stdout, stderr)
	assert.Assert(t, strings.Contains(stdout, "+6.00%"), stdout)
	noSources(t, out)

	// A submodule that is not checked out is reported.
	git(t, "submodule", "--quiet", "deinit", "--force", "middle")
	_, _, stderr = benchgate("ab", "-base=HEAD", "-units="+units, "-out="+t.TempDir(), "--", "-bench=X", "-benchtime=1x", "example.com/fixture")
	assert.Assert(t, strings.Contains(stderr, "the submodule middle is not checked out in the working tree, so it is empty in the base\n"), stderr)
}

// TestInterrupt checks that complete samples are kept after Ctrl-C, and that the same command continues with
// them.
func TestInterrupt(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	if apart(t) {
		return
	}
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
	assert.Equal(t, cmd.ProcessState.ExitCode(), command.CannotJudge, progress.String())
	assert.Assert(t, strings.Contains(progress.String(), "interrupted; the same command with -out=\""+out+"\" continues with these samples"), progress.String())
	noSources(t, out)

	status, _, again := benchgate(args...)
	assert.Equal(t, status, 0, again)
	assert.Assert(t, strings.Contains(again, " kept, ") && strings.Contains(again, " kept\n"), again)
	seed := regexp.MustCompile(`-seed=\d+`)
	assert.Equal(t, seed.FindString(again), seed.FindString(progress.String()))
	status, _, again = benchgate(append([]string{"ab", "-seed=7"}, args[1:]...)...)
	assert.Equal(t, status, command.CannotJudge)
	assert.Assert(t, strings.Contains(again, "of another comparison: -seed changed"), again)

	// The same samples must not be judged by other rules.
	status, _, again = benchgate(append([]string{"ab", "-require=no-worse", "-ignore=gpu"}, args[1:]...)...)
	assert.Equal(t, status, command.CannotJudge)
	assert.Assert(t, strings.Contains(again, "of another comparison: -ignore, -require changed"), again)
	margins, err := os.ReadFile(units)
	assert.NilError(t, err)
	assert.NilError(t, os.WriteFile(units, []byte("Unit x/op better=lower gate=9%\n"), 0o666))
	status, _, again = benchgate(args...)
	assert.Equal(t, status, command.CannotJudge)
	assert.Assert(t, strings.Contains(again, "of another comparison: -units changed"), again)
	assert.NilError(t, os.WriteFile(units, margins, 0o666))

	// A change of the working tree counts even if no binary depends on the file.
	assert.NilError(t, os.WriteFile("data.txt", nil, 0o666))
	status, _, data := benchgate(args...)
	assert.Equal(t, status, command.CannotJudge)
	assert.Assert(t, strings.Contains(data, "of another comparison: sources of head changed"), data)
	assert.NilError(t, os.Remove("data.txt"))

	t.Setenv("LLMBENCH_API_KEY", "hunter2")
	status, _, key := benchgate(args...)
	assert.Equal(t, status, command.CannotJudge)
	assert.Assert(t, strings.Contains(key, "of another comparison: LLMBENCH_API_KEY changed"), key)
	assert.Assert(t, !strings.Contains(key, "hunter2"), key)
	os.Unsetenv("LLMBENCH_API_KEY")

	measure("X", "106")
	status, _, other := benchgate(args...)
	assert.Equal(t, status, command.CannotJudge)
	assert.Assert(t, strings.Contains(other, "the folder has samples of another comparison: binary of head example.com/fixture, sources of head changed"), other)
}

// TestSecondInterrupt checks that a second Ctrl-C kills a benchmark that ignores the first one, together with
// its child process, and that the base's files are removed.
func TestSecondInterrupt(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	if apart(t) {
		return
	}
	_, units := fixture(t)
	self, err := os.Executable()
	assert.NilError(t, err)
	out, ready := t.TempDir(), filepath.Join(t.TempDir(), "ready")
	cmd := exec.CommandContext(t.Context(), self, "ab", "-base=HEAD", "-units="+units, "-out="+out, "--", "-bench=X", "-benchtime=1x")
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
	assert.Equal(t, cmd.ProcessState.ExitCode(), command.CannotJudge, "%s", &progress)
	noSources(t, out)
	// A killed process may need a moment to end.
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		stat, err := os.ReadFile("/proc/" + string(pid) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return poll.Success()
		}
		return poll.Continue("process %s is alive: %s", pid, stat)
	}, poll.WithTimeout(time.Minute))
}

// TestMax checks that benchgate ab continues after -n rounds while a row is undecided. The row is worse, but
// six rounds are too few to call it a regression.
func TestMax(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	if apart(t) {
		return
	}
	measure, units := fixture(t)
	measure("X", "106")
	status, stdout, stderr := benchgate("ab", "-base=HEAD", "-units="+units, "-n=5", "-max=8", "-seed=3", "-out="+t.TempDir(), "--", "-bench=X", "-benchtime=1x")
	assert.Equal(t, status, command.Regression, "%s%s", stdout, stderr)
	assert.Equal(t, strings.Count(stderr, " of 8: "), 8, stderr)
	assert.Assert(t, strings.Contains(stderr, "-seed=3: the order of base and head in each round is random"), stderr)
	assert.Assert(t, strings.Contains(stderr, "5 to 8 rounds of 2 processes; each process may take 1h0m0s (-timeout), all together at most 16h0m0s"), stderr)
}

func TestAA(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	if apart(t) {
		return
	}
	fixture(t)
	out := t.TempDir()
	status, stdout, stderr := benchgate("aa", "-n=6", "-out="+out, "--", "-bench=X", "-benchtime=1x")
	assert.Equal(t, status, command.CannotJudge, "a unit without a direction has no noise\n%s%s", stdout, stderr)
	units := filepath.Join(out, "direction.txt")
	assert.NilError(t, os.WriteFile(units, []byte("Unit x/op better=lower\n"), 0o666))
	status, stdout, stderr = benchgate("aa", "-n=6", "-units="+units, "-out="+out, "--", "-bench=X", "-benchtime=1x")
	assert.Equal(t, status, 0, stderr+stdout)
	assert.Equal(t, stdout, `# With 6 samples a side, two equal versions differ by more than the noise in one of 20 comparisons.
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
		{[]string{"ab", "--", "-bench=X"}, "-base: not set: want the commit to compare the working tree with, or two servers: -base-url and -head-url, or -base-image and -head-image"},
		{[]string{"ab", "-base-url=http://a", "--", "-bench=X"}, "-head-url: not set: want both -base-url and -head-url"},
		{[]string{"ab", "-head-image=a", "--", "-bench=X"}, "-base-image: not set: want both -base-image and -head-image"},
		{[]string{"ab", "-base-url=http://a", "-head-url=http://b", "-base-image=a", "-head-image=b", "--", "-bench=X"}, "-build, -base-url and -base-image: want one of them"},
		{[]string{"ab", "-base-url=http://a", "-head-url=http://b", "-build=make {out}", "--", "-bench=X"}, "-build, -base-url and -base-image: want one of them"},
		{[]string{"ab", "-base=HEAD", "-base-url=http://a", "-head-url=http://b", "--", "-bench=X"}, "-base: means nothing with -base-url, which compares no commits"},
		{[]string{"ab", "-bench-from=base", "-base-url=http://a", "-head-url=http://b", "--", "-bench=X"}, "-bench-from=base: means nothing with -base-url, which has no commit"},
		{[]string{"ab", "-base=HEAD", "-bench-from=base", "--", "-bench=X"}, "-bench-from: want -build, -base-url or -base-image too; without them, each side runs the benchmarks of its own commit"},
		{[]string{"ab", "-base=HEAD", "-command={out}/s", "--", "-bench=X"}, "-command: means nothing without -build"},
		{[]string{"ab", "-base-image=a", "-head-image=b", "--", "-bench=X"}, "LLMBENCH_BACKEND=: want the name of the server that both images contain, such as vllm"},
		{[]string{"ab", "-build=make {out}", "-command={out}/s", "--", "-bench=X"}, "-base: not set"},
		{[]string{"ab", "-base=HEAD", "-build=make {out}", "--", "-bench=X"}, "-command: not set: want the command that starts the server of -build, such as '{out}/server --port {port}'"},
		{[]string{"ab", "-base=HEAD", "-build=make", "-command={out}/s", "--", "-bench=X"}, "-build=make: want {out} in it, the folder to build into"},
		{[]string{"ab", "-base=HEAD", "-build=make {out}", "-command=./s", "--", "-bench=X"}, "the command that starts the server has no {out}, so both sides would be the same server"},
		{[]string{"ab", "-base=nosuch", "-build=make {out}", "-command={out}/s", "--", "-bench=X"}, "-base=nosuch: want a commit of this repository"},
		{[]string{"ab", "-base=HEAD", "-build=make {out}", "-command={out}/s", "-bench-from=nosuch", "--", "-bench=X"}, "-bench-from=nosuch: want head, base, a folder of a module or a test binary"},
		{[]string{"ab", "-base=HEAD", "-build=make {out}", "-command={out}/s", "-bench-from=go.mod", "--", "-bench=X", "./..."}, "-bench-from=go.mod: the file is a test binary, so want neither packages nor flags of the compiler after --"},
		{[]string{"ab", "-base=nosuch", "--", "-bench=X"}, "-base=nosuch: want a commit of this repository"},
		{[]string{"ab", "-base=HEAD", "-n=0", "--", "-bench=X"}, "-n: 0: want at least 1"},
		{[]string{"ab", "-base=HEAD", "-n=3", "-max=5", "--", "-bench=X"}, "-n: 5 samples of each side: want at least 6 for -alpha=0.025"},
		{[]string{"aa", "-n=5", "--", "-bench=X"}, "-n: 5 samples of each side: want at least 6 for -alpha=0.025"},
		{[]string{"ab", "-base=HEAD", "-max=-1", "--", "-bench=X"}, "-max: -1: want at least 0"},
		{[]string{"aa", "-max=20", "--", "-bench=X"}, "flag provided but not defined: -max"},
		{[]string{"ab", "-base=HEAD", "-timeout=0s", "--", "-bench=X"}, "-timeout: 0s: want more than 0"},
		{[]string{"ab", "-base=HEAD"}, "no -bench: want arguments of go test"},
		{[]string{"aa", "-units=" + units + ".none", "-n=6", "--", "-bench=X", "-benchtime=1x"}, "units.txt.none: no such file"},
		{[]string{"ab", "-base=HEAD", "-units=go.mod", "--", "-bench=X"}, "-units=go.mod:1: \"module example.com/fixture\": want Unit lines only in a file of units"},
		{[]string{"aa", "--", "-bench=X", "./nosuch"}, "nosuch"},
		{[]string{"aa", "-alpha=0", "--", "-bench=X"}, "alpha: 0: want at least 0.001 and at most 0.5"},
		{[]string{"aa", "-out=.", "--", "-bench=X"}, "want an empty folder or one that benchgate made"},
		{[]string{"aa", "-n=6", "-units=" + units, "--", "-bench=X", "-benchtime=1x", "-cpu=2,2"}, "2 results of one benchmark in 1 processes: want one of each; does -cpu name a number twice?"},
		{[]string{"ab", "-bogus"}, "flag provided but not defined: -bogus\n"},
		{[]string{"ab", "-base=HEAD", "-bench=X", "."}, "-bench; it is a flag of go test, which stands after --: benchgate ab -- -bench=…\n"},
	} {
		t.Setenv("TMPDIR", t.TempDir()) // for the folder of samples
		status, stdout, stderr := benchgate(c.args...)
		assert.Equal(t, status, command.CannotJudge)
		assert.Assert(t, stdout == "" || strings.HasPrefix(stdout, "cannot judge: "), stdout) // "" if nothing was begun
		assert.Assert(t, strings.Contains(stderr, c.want), "benchgate %q prints %q, want %q", c.args, stderr, c.want)
		noSources(t, filepath.Join(os.Getenv("TMPDIR"), "benchgate-*"))
	}
	t.Setenv("LLMBENCH_TEMPLATES", "{out}/proxy.cfg") // what is built may be a configuration file
	_, _, stderr := benchgate("ab", "-base=nosuch", "-build=make {out}", "-command=proxy -f {dir}/proxy.cfg", "--", "-bench=X")
	assert.Assert(t, strings.Contains(stderr, "-base=nosuch: want a commit of this repository"), stderr)
	t.Setenv("LLMBENCH_TEMPLATES", "")
	t.Setenv("FIXTURE", "hangs")
	status, stdout, stderr := benchgate("aa", "-timeout=50ms", "-out="+t.TempDir(), "--", "-bench=X", "-benchtime=1x")
	assert.Equal(t, status, command.CannotJudge)
	assert.Assert(t, strings.HasPrefix(stdout, "cannot judge: ") && strings.Count(stdout, "\n") == 1, stdout)
	assert.Assert(t, strings.Contains(stderr, "the process took longer than -timeout, 50ms"), stderr)
}
