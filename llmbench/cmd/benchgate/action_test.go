package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/proc"
	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"gotest.tools/v3/assert"
)

// actionFolder is the folder of the GitHub action.
const actionFolder = "../../../.github/actions/benchgate"

// An actionRun holds the outputs and files of one run of the action's script.
type actionRun struct {
	status, exit int    // the action's outputs
	summary      string // summary of the job
	log          string
	text         string // report.txt of the artifact
	report       gate.Report
}

// runAction runs the script of the GitHub action in the working directory, with the inputs in env. If ctx ends
// first, the result has the status for "cannot judge" and only a log.
func runAction(ctx context.Context, t *testing.T, script string, env ...string) actionRun {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(ctx, "bash", script)
	cmd.Env = append(os.Environ(), "ARGS=", "BASE=", "FAIL_ON=any", "FLAGS=", "N=10", "NAME=gate", "REF=latest", "UNITS=", "VERSION=", "GITHUB_SERVER_URL=https://github.com", "RUNNER_ARCH=X64", "RUNNER_OS=Linux",
		"RUNNER_TEMP="+dir, "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary"), "GITHUB_OUTPUT="+filepath.Join(dir, "output"))
	cmd.Env = append(cmd.Env, env...)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	err := proc.RunGroup(t.Context(), cmd, time.Minute)
	run := actionRun{status: command.CannotJudge, log: log.String()}
	if ctx.Err() != nil {
		return run
	}
	assert.NilError(t, err, run.log)
	for name, text := range map[string]*string{"summary": &run.summary, "gate/report.txt": &run.text} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		assert.NilError(t, err, run.log)
		*text = string(content)
	}
	output, err := os.ReadFile(filepath.Join(dir, "output"))
	assert.NilError(t, err)
	_, err = fmt.Sscanf(string(output), "status=%d\nexit=%d\n", &run.status, &run.exit)
	assert.NilError(t, err, "%s", output)
	run.report = readReport(t, filepath.Join(dir, "gate"))
	return run
}

// fakeGo puts a fake go command at the front of PATH. If tool is true, "go tool benchgate" runs this test
// binary in every module. Otherwise no module has such a tool, and none can be installed.
func fakeGo(t *testing.T, tool bool) {
	real, err := exec.LookPath("go")
	assert.NilError(t, err)
	self, err := os.Executable()
	assert.NilError(t, err)
	answer := "echo '" + self + "'"
	if !tool {
		answer = "exit 1"
	}
	dir := t.TempDir()
	script := "#!/usr/bin/env bash\ncase \"$1 $2\" in\n\"tool -n\") " + answer + " ;;\n\"install \"*) echo 'no such version' >&2; exit 1 ;;\n*) exec '" + real + "' \"$@\" ;;\nesac\n"
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o777))
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("BENCHGATE_TEST_MAIN", "1")
}

// TestAction runs the script of the GitHub action for pull requests. It uses real repositories whose HEAD
// merges the pull request into its base.
func TestAction(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	if apart(t) {
		return
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("skipped: no bash")
	}
	script, err := filepath.Abs(filepath.Join(actionFolder, "gate.bash"))
	assert.NilError(t, err)
	const passed = "### ✅ benchgate: pass after 6 of 10 rounds: 1 row within its margin"
	nothing := func(*testing.T, func(name, value string)) {}
	slower := func(_ *testing.T, measure func(name, value string)) { measure("X", "106") }
	rename := func(_ *testing.T, measure func(name, value string)) { measure("Y", "100") }
	add := func(t *testing.T, _ func(name, value string)) {
		source, err := os.ReadFile("fixture_test.go")
		assert.NilError(t, err)
		assert.NilError(t, os.Mkdir("more", 0o777))
		assert.NilError(t, os.WriteFile("more/fixture_test.go", bytes.ReplaceAll(source, []byte("BenchmarkX"), []byte("BenchmarkMore")), 0o666))
	}
	for _, c := range []struct {
		name         string
		lacks        []string // files of the fixture that the base lacks
		change       func(t *testing.T, measure func(name, value string))
		env          []string
		status, exit int
		summary      []string // parts of the summary
	}{
		{"changes nothing", nil, nothing, nil, 0, 0, []string{passed, ", equal to the base (head.txt) against the base, "}},
		{"adopts a module", []string{"go.mod", "fixture_test.go"}, nothing, nil, 0, 0,
			[]string{"### ✅ benchgate: pass: nothing was judged, because no gated row is in both files; new: X"}},
		{"adopts benchmarks", []string{"fixture_test.go"}, nothing, nil, 0, 0,
			[]string{"### ✅ benchgate: pass: nothing was judged, because no gated row is in both files; new: X"}},
		{"adds a benchmark", nil, add, nil, 0, 0, []string{passed, "; new: example.com/fixture/more.More"}},
		{"adds a benchmark, not allowed", nil, add, []string{"FLAGS=-added=fail"}, 2, 2, []string{"### ⚠️ benchgate: cannot judge after 1 of 10 rounds: head.txt:", "missing in the base, "}},
		{"is slower", nil, slower, nil, 1, 1, []string{"### ❌ benchgate: regression after 8 of 10 rounds: X"}},
		{"is slower, and only that fails", nil, slower, []string{"FAIL_ON=regression"}, 1, 1, []string{"### ❌ benchgate: regression after 8 of 10 rounds: X"}},
		{"renames a benchmark", nil, rename, nil, 2, 2, []string{"### ⚠️ benchgate: cannot judge: base.txt:", "X", ": missing in the working tree at ",
			"(benchgate -removed=allow accepts that); new: Y"}},
		{"renames a benchmark, and only a regression fails", nil, rename, []string{"FAIL_ON=regression"}, 2, 0,
			[]string{"### ⚠️ benchgate: cannot judge: base.txt:", "The job does not fail, because of \"fail-on: regression\"."}},
		{"renames a benchmark, allowed", nil, rename, []string{"FLAGS=-timeout=5m\n-removed=allow\n"}, 2, 2,
			[]string{"### ⚠️ benchgate: cannot judge: no gated row is in both files, so nothing can be judged: want old results that have one; new: Y", "; removed: X"}},
		{"does not compile", nil, func(_ *testing.T, measure func(name, value string)) { measure("X", "nosuch") }, nil, 2, 2,
			[]string{"### ⚠️ benchgate: cannot judge\n\n    cannot judge: the working tree cannot be built: package example.com/fixture: ", "undefined: nosuch"}},
		{"is compared with an unknown commit", nil, nothing, []string{"BASE=nosuch"}, 2, 2, []string{"    cannot judge: -base=nosuch: want a commit of this repository"}},
		{"has an unknown input", nil, nothing, []string{"FAIL_ON=never"}, 2, 2, []string{"### ⚠️ benchgate: cannot judge\n\n    fail-on: never: want any or regression\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			measure, units := fixture(t)
			if len(c.lacks) > 0 {
				git(t, append([]string{"rm", "-q", "--cached"}, c.lacks...)...)
			}
			git(t, "commit", "-qm", "base", "--allow-empty")
			git(t, "checkout", "-q", "-b", "change")
			c.change(t, measure)
			commit(t)
			git(t, "checkout", "-q", "-")
			git(t, "merge", "-q", "--no-ff", "-m", "merge", "change")
			fakeGo(t, true)
			r := runAction(t.Context(), t, script, append([]string{"ARGS=-bench=.\n-benchtime=1x\n./...\n", "UNITS=" + units}, c.env...)...)
			assert.Equal(t, r.status, c.status, r.log)
			assert.Equal(t, r.exit, c.exit, r.log)
			for _, want := range c.summary {
				assert.Assert(t, strings.Contains(strings.ReplaceAll(r.summary, `\`, ""), want), "%q is not in\n%s", want, r.summary)
			}
			verdict := map[int]string{0: "pass", 1: "regression", 2: "cannot judge"}[c.status]
			assert.Assert(t, strings.HasPrefix(r.text, verdict), r.text)
		})
	}
}

// TestActionBuild checks that the action can compare servers.
func TestActionBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	if apart(t) {
		return
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("skipped: no bash")
	}
	script, err := filepath.Abs(filepath.Join(actionFolder, "gate.bash"))
	assert.NilError(t, err)
	change, units := serverFixture(t)
	change("106")
	commit(t)
	fakeGo(t, true)
	r := runAction(t.Context(), t, script, "ARGS=-bench=Server\n-benchtime=1x\n", "BASE=v1", "UNITS="+units, "FLAGS=-build="+buildCopy+"\n-command={out}/server --port {port}\n")
	assert.Equal(t, r.status, command.Regression, r.log)
	assert.Assert(t, strings.Contains(r.summary, "server-version: v106 against v100"), r.summary)
}

// TestActionWithoutProgram checks that the summary gives the reason if nothing could be run.
func TestActionWithoutProgram(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("skipped: no bash")
	}
	script, err := filepath.Abs(filepath.Join(actionFolder, "gate.bash"))
	assert.NilError(t, err)
	fixture(t)
	r := runAction(t.Context(), t, script, "ARGS=-bench=X")
	assert.Equal(t, r.status, 2)
	assert.Equal(t, r.exit, 2)
	assert.Equal(t, r.summary, "### ⚠️ benchgate: cannot judge\n\n    HEAD has no parent in this clone: set \"fetch-depth: 2\" at actions/checkout, or the input base\n")
	fakeGo(t, false)
	r = runAction(t.Context(), t, script, "ARGS=-bench=X", "BASE=HEAD", "REF=v0.0.0")
	assert.Equal(t, r.status, 2)
	assert.Equal(t, r.exit, 2)
	assert.Equal(t, r.summary, "### ⚠️ benchgate: cannot judge\n\n    benchgate v0.0.0 cannot be installed: no such version\n")
	assert.Equal(t, r.text, "cannot judge: benchgate v0.0.0 cannot be installed: no such version\n")
}

// TestActionRelease checks that the action runs the binary of a release, but only if the binary has the
// release's checksum.
func TestActionRelease(t *testing.T) {
	for _, program := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("skipped: no ", program)
		}
	}
	script, err := filepath.Abs(filepath.Join(actionFolder, "gate.bash"))
	assert.NilError(t, err)
	self, err := os.Executable()
	assert.NilError(t, err)
	t.Setenv("BENCHGATE_TEST_MAIN", "1")
	binary := "#!/usr/bin/env bash\nexec '" + self + "' \"$@\"\n"
	sums := fmt.Sprintf("%x  benchgate-linux-amd64\n%x  benchgate-linux-amd64.cdx.json\n", sha256.Sum256([]byte(binary)), sha256.Sum256(nil))
	for _, c := range []struct{ version, os, binary, want string }{
		{"v1.0.0", "Linux", binary, "    cannot judge: -base=nosuch: want a commit of this repository"}, // printed by benchgate itself
		{"v1.0.0", "Linux", binary + "#", "benchgate v1.0.0 cannot be downloaded: "},
		{"v1.0.0", "Linux", binary + "#", "/v1.0.0/benchgate-linux-amd64 does not have the checksum in SHA256SUMS"},
		{"v1.0.1", "Linux", binary, "404"},
		{"v1.0.0", "Plan 9", binary, "benchgate v1.0.0 cannot be downloaded: no binary for Plan 9"},
	} {
		files := map[string]string{"benchgate-linux-amd64": c.binary, "SHA256SUMS": sums}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			text, ok := files[strings.TrimPrefix(r.URL.Path, "/seed-2b9cec6d/llmbench/releases/download/v1.0.0/")]
			if !ok {
				http.NotFound(w, r)
				return
			}
			io.WriteString(w, text)
		}))
		fixture(t)
		r := runAction(t.Context(), t, script, "ARGS=-bench=X", "BASE=nosuch", "VERSION="+c.version, "RUNNER_OS="+c.os, "GITHUB_SERVER_URL="+server.URL)
		server.Close()
		assert.Assert(t, r.status == 2 && strings.Contains(r.summary, c.want), "want %q in\n%s\n%s", c.want, r.summary, r.log)
	}
}

// TestActionInputs checks that action.yml passes every input to the script, and passes on the script's outputs.
func TestActionInputs(t *testing.T) {
	file, err := os.ReadFile(filepath.Join(actionFolder, "action.yml"))
	assert.NilError(t, err)
	script, err := os.ReadFile(filepath.Join(actionFolder, "gate.bash"))
	assert.NilError(t, err)
	for name, input := range map[string]string{"ARGS": "args", "BASE": "base", "FAIL_ON": "fail-on", "FLAGS": "flags", "N": "n", "NAME": "name", "UNITS": "units", "VERSION": "version"} {
		assert.Assert(t, strings.Contains(string(file), fmt.Sprintf("\n        %s: ${{ inputs.%s ", name, input)), "%s", name)
		assert.Assert(t, strings.Contains(string(file), fmt.Sprintf("\n  %s:\n    description: ", input)), "%s", input)
		assert.Assert(t, strings.Contains(string(script), "$"+name), "%s", name)
	}
	assert.Assert(t, strings.Contains(string(file), "\n      run: bash \"$GITHUB_ACTION_PATH/gate.bash\"\n"))
	assert.Assert(t, strings.Contains(string(file), "\n        EXIT: ${{ steps.gate.outputs.exit }}\n      run: exit \"$EXIT\"\n"))
	assert.Assert(t, strings.Contains(string(file), "value: ${{ steps.gate.outputs.status }}"))
}
