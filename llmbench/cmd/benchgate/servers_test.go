package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/proc"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"
)

// serverTest is a benchmark that takes its value from a file that the build wrote or, without a build, from the
// end of the URL or of the image's name.
const serverTest = `package fixture

import (
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"
)

func BenchmarkServer(b *testing.B) {
	value := path.Base(os.Getenv("LLMBENCH_URL") + os.Getenv("LLMBENCH_IMAGE"))
	if dir := os.Getenv("LLMBENCH_BUILD"); dir != "" {
		text, err := os.ReadFile(dir + "/value")
		if err != nil {
			b.Fatal(err)
		}
		value = strings.TrimSpace(string(text))
		if os.Getenv("LLMBENCH_BACKEND") != "process" {
			b.Fatal(os.Getenv("LLMBENCH_BACKEND"))
		}
		if os.Getenv("FIXTURE") != "another server" {
			fmt.Printf("command: %s\n", os.Getenv("LLMBENCH_COMMAND"))
		}
		fmt.Printf("server-version: v%s\n", value)
	} else if image := os.Getenv("LLMBENCH_IMAGE"); image != "" {
		fmt.Printf("image: %s\nimage-digest: sha256:%s\nserver-version: v%s\n", image, value, value)
	} else {
		fmt.Println("backend: url")
	}
	value, _, _ = strings.Cut(value, "?")
	number, err := strconv.ParseFloat(value, 64)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(number, "x/op")
}
`

// serverFixture creates a repository whose server is only a file with a number, and whose benchmark reports
// that number. The build cache is empty. The function change changes the number.
func serverFixture(t *testing.T) (change func(value string), units string) {
	_, units = fixture(t)
	assert.NilError(t, os.WriteFile("fixture_test.go", []byte(serverTest), 0o666))
	change = func(value string) { assert.NilError(t, os.WriteFile("value", []byte(value), 0o666)) }
	change("100")
	commit(t)
	git(t, "tag", "v1")
	t.Setenv("LLMBENCH_CACHE", t.TempDir())
	return change, units
}

// buildCopy builds a server: it copies the number, and prints the version that git reports.
const buildCopy = "echo building $(git describe --tags); cp value {out}/value"

func TestBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	if apart(t) {
		return
	}
	change, units := serverFixture(t)
	base := git(t, "rev-parse", "HEAD")
	ab := func(build string, args ...string) (status int, stdout, stderr, out string) {
		out = t.TempDir()
		all := append([]string{"ab", "-base=v1", "-build=" + build, "-command={out}/server --port {port}", "-units=" + units, "-out=" + out}, args...)
		if !strings.Contains(strings.Join(args, " "), "-- ") {
			all = append(all, "--", "-bench=Server", "-benchtime=1x")
		}
		status, stdout, stderr = benchgate(all...)
		noSources(t, out)
		for _, name := range []string{"head-out", "base-out", "_head-src"} {
			_, err := os.Stat(filepath.Join(out, name))
			assert.ErrorIs(t, err, os.ErrNotExist)
		}
		return status, stdout, stderr, out
	}
	lastLine := func(text string) string {
		lines := strings.Split(strings.TrimSpace(text), "\n")
		return lines[len(lines)-1]
	}

	// A working tree with changes is built in place, and its build is not cached.
	change("106")
	for range 2 {
		status, stdout, stderr, out := ab(buildCopy)
		assert.Equal(t, status, command.Regression, "%s%s", stdout, stderr)
		assert.Assert(t, strings.HasSuffix(lastLine(stdout), fmt.Sprintf("; the working tree at %.12s with changes against the base, %.12s; command: {out}/server --port {port}; server-version: v106 against v100", base, base)), stdout)
		assert.Assert(t, strings.Contains(stderr, fmt.Sprintf("building the server of the working tree at %.12s with changes: %s\n", base, buildCopy)), stderr)
		log, err := os.ReadFile(filepath.Join(out, "head-build.txt"))
		assert.NilError(t, err)
		assert.Equal(t, string(log), "building v1\n")
	}

	// Each commit is built only once.
	commit(t)
	head := git(t, "rev-parse", "HEAD")
	for i := range 2 {
		status, stdout, stderr, _ := ab(buildCopy)
		assert.Equal(t, status, command.Regression, "%s%s", stdout, stderr)
		assert.Assert(t, strings.HasSuffix(lastLine(stdout), fmt.Sprintf("; the working tree at %.12s against the base, %.12s; command: {out}/server --port {port}; server-version: v106 against v100", head, base)), stdout)
		assert.Assert(t, strings.Contains(stderr, fmt.Sprintf("the server of the base, %.12s (-base=v1): was built before, in ", base)), stderr)
		assert.Equal(t, strings.Contains(stderr, fmt.Sprintf("the server of the working tree at %.12s: was built before, in ", head)), i == 1, stderr)
		assert.Equal(t, strings.Contains(stderr, "building the server of "), i == 0, stderr)
	}
	_, _, stderr, out := ab(buildCopy + " && true")
	assert.Equal(t, strings.Count(stderr, "building the server of "), 2, stderr)
	log, err := os.ReadFile(filepath.Join(out, "head-build.txt"))
	assert.NilError(t, err)
	assert.Assert(t, strings.HasPrefix(string(log), "building v1-1-g"), "%s", log)

	// If the working tree equals the base, both use the same build.
	change("100")
	status, stdout, stderr, _ := ab(buildCopy)
	assert.Equal(t, status, 0, "%s%s", stdout, stderr)
	assert.Assert(t, strings.Contains(stderr, "both are the same: any difference is noise") && !strings.Contains(stderr, "building the server of "), stderr)

	// The benchmarks may come from another module or from a test binary.
	t.Setenv("GOWORK", "off")
	other := t.TempDir()
	assert.NilError(t, os.CopyFS(other, os.DirFS(".")))
	binary := filepath.Join(t.TempDir(), "any.test")
	_, err = proc.Command(t.Context(), other, "go", "test", "-c", "-o", binary, ".")
	assert.NilError(t, err)
	for _, name := range []string{"go.mod", "fixture_test.go"} {
		assert.NilError(t, os.Remove(name))
	}
	commit(t)
	_, _, stderr, _ = ab(buildCopy)
	assert.Assert(t, strings.Contains(stderr, "the working tree cannot be built: it is in no Go module: want -bench-from=FILE") && strings.Contains(stderr, "or -bench-from=FOLDER, a folder of a module"), stderr)
	for _, from := range []string{"base", other, binary} {
		status, stdout, stderr, _ = ab(buildCopy, "-bench-from="+from)
		assert.Equal(t, status, 0, "%s%s", stdout, stderr)
	}

	// Errors name the side. Failed builds are not cached.
	change("100")
	git(t, "reset", "-q", "--hard", head)
	for range 2 {
		status, _, stderr, _ = ab("echo compiling; grep -q 106 value && cp value {out}")
		assert.Equal(t, status, command.CannotJudge)
		assert.Assert(t, strings.Contains(stderr, fmt.Sprintf("benchgate: the server of the base, %.12s (-base=v1) cannot be built: exit status 1; the end of ", base)), stderr)
		assert.Assert(t, strings.HasSuffix(stderr, "base-build.txt:\ncompiling\n"), stderr)
		assert.Equal(t, strings.Contains(stderr, "building the server of the base, "), true, stderr)
	}
	_, _, stderr, _ = ab("echo compiling; grep -q 100 value && cp value {out}")
	assert.Assert(t, strings.Contains(stderr, fmt.Sprintf("benchgate: the server of the working tree at %.12s cannot be built: exit status 1; the end of ", head)), stderr)
	_, _, stderr, _ = ab("true {out}")
	assert.Assert(t, strings.Contains(stderr, "cannot be built: the command has ended without an error, and has written nothing to {out}"), stderr)
	_, _, stderr, _ = ab("cp value {out}/$(if grep -q 106 value; then echo value; else echo other; fi)")
	assert.Assert(t, strings.Contains(stderr, fmt.Sprintf(": the base, %.12s: example.com/fixture: exit status 1\n", base)), stderr)

	t.Setenv("FIXTURE", "another server")
	_, _, stderr, _ = ab(buildCopy)
	assert.Assert(t, strings.Contains(stderr, fmt.Sprintf("benchgate: no result of the base, %.12s is of the server of -build: the benchmarks measure something else", base)), stderr)
	t.Setenv("FIXTURE", "")
	for name, value := range map[string]string{"LLMBENCH_URL": "http://a", "LLMBENCH_BACKEND": "vllm", "LLMBENCH_COMMAND": "{out}/s", "LLMBENCH_BUILD": "."} {
		t.Setenv(name, value)
		_, _, stderr, _ = ab(buildCopy)
		assert.Assert(t, strings.HasPrefix(stderr, "benchgate: ") && strings.Contains(stderr, name), stderr)
		os.Unsetenv(name)
	}
	t.Setenv("LLMBENCH_CACHE", filepath.Join(t.TempDir(), "with space"))
	_, _, stderr, _ = ab(buildCopy)
	assert.Assert(t, strings.Contains(stderr, "has characters that a shell does not take literally: want another LLMBENCH_CACHE and -out"), stderr)
}

// TestInterruptedBuild checks that Ctrl-C ends a build with all its processes, and that the build is not
// cached.
func TestInterruptedBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	if apart(t) {
		return
	}
	serverFixture(t)
	self, err := os.Executable()
	assert.NilError(t, err)
	started := filepath.Join(t.TempDir(), "pid")
	build := "cp value {out}; sleep 1000 & echo $! >" + started + ".part; mv " + started + ".part " + started + "; wait"
	cmd := exec.CommandContext(t.Context(), self, "ab", "-base=HEAD", "-build="+build, "-command={out}/server", "-out="+t.TempDir(), "--", "-bench=Server")
	cmd.Env = append(os.Environ(), "BENCHGATE_TEST_MAIN=1")
	var progress bytes.Buffer
	cmd.Stderr = &progress
	assert.NilError(t, cmd.Start())
	var pid []byte
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		if pid, err = os.ReadFile(started); err != nil {
			return poll.Continue("no build: %v", err)
		}
		assert.NilError(t, cmd.Process.Signal(os.Interrupt))
		return poll.Success()
	}, poll.WithTimeout(5*time.Minute))
	_ = cmd.Wait()
	assert.Equal(t, cmd.ProcessState.ExitCode(), command.CannotJudge, "%s", &progress)
	assert.Assert(t, strings.Contains(progress.String(), "benchgate: interrupted; the same command with -out="), "%s", &progress)
	// A killed process may need a moment to end.
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return poll.Success()
		}
		return poll.Continue("%s", stat)
	}, poll.WithTimeout(time.Minute))
	kept, err := filepath.Glob(filepath.Join(os.Getenv("LLMBENCH_CACHE"), "ab", "*", "done"))
	assert.NilError(t, err)
	assert.Equal(t, len(kept), 0)
}

// TestTwoServers compares two running servers, and two images.
func TestTwoServers(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	if apart(t) {
		return
	}
	_, units := serverFixture(t)
	for _, c := range []struct {
		args   []string
		env    string
		status int
		stdout string // the end of the last line
	}{
		{[]string{"-base-url=http://a:1/100", "-head-url=http://b:1/100"}, "", 0, "pass after 6 of 10 rounds: 1 row within its margin; http://b:1/100 against http://a:1/100\n"},
		{[]string{"-base-url=http://a:1/100?key=secret", "-head-url=http://b:1/106"}, "", command.Regression, "http://b:1/106 against http://a:1/100\n"},
		{[]string{"-base-image=any/vllm/100", "-head-image=any/vllm/106"}, "vllm", command.Regression, "(margin 2%); any/vllm/106 against any/vllm/100; server-version: v106 against v100\n"},
	} {
		t.Setenv("LLMBENCH_BACKEND", c.env)
		all := append(append([]string{"ab", "-units=" + units, "-out=" + t.TempDir()}, c.args...), "--", "-bench=Server", "-benchtime=1x")
		status, stdout, stderr := benchgate(all...)
		assert.Equal(t, status, c.status, "%s%s", stdout, stderr)
		assert.Assert(t, strings.HasSuffix(stdout, c.stdout), stdout)
		assert.Assert(t, !strings.Contains(stdout+stderr, "secret"), stdout+stderr)
	}
}

// TestBenchmarksElsewhere checks that two running servers can be compared without Go: the error says where benchmarks
// may come from.
func TestBenchmarksElsewhere(t *testing.T) {
	t.Chdir(t.TempDir())
	args := []string{"ab", "-base-url=http://127.0.0.1:1", "-head-url=http://127.0.0.1:2", "--", "-bench=Serve"}
	status, stdout, stderr := benchgate(args...)
	assert.Equal(t, status, command.CannotJudge)
	assert.Assert(t, !strings.Contains(stderr, "benchmarks of another module"), stderr) // which says the same again
	assert.Equal(t, stdout, "cannot judge: the working tree cannot be built: it is in no Go module: "+
		"want -bench-from=FILE, the program llmbench of a release or another test binary, or -bench-from=FOLDER, a folder of a module\n")
	t.Setenv("PATH", t.TempDir())
	status, stdout, _ = benchgate(args...)
	assert.Equal(t, status, command.CannotJudge)
	assert.Equal(t, stdout, "cannot judge: the working tree cannot be built: there is no program go in PATH: "+
		"want -bench-from=FILE, the program llmbench of a release or another test binary\n")
}
