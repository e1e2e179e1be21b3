package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/proc"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/history"
	"go.yaml.in/yaml/v3"
	"gotest.tools/v3/assert"
)

// recipesFile has the recipes for CI systems.
const recipesFile = "../../gate/CI.md"

// A recipe is a job of a CI system in the form of CI.md.
type recipe struct {
	Variables map[string]string // GitLab's
	Script    []string
	Artifacts struct{ Paths, Exclude []string }
	Steps     []struct { // GitHub's
		Uses string
		With map[string]string
	}
}

// recipes returns the jobs in the YAML blocks below a heading of recipesFile, in their order.
func recipes(t *testing.T, heading string) (all []recipe) {
	t.Helper()
	text, err := os.ReadFile(recipesFile)
	assert.NilError(t, err)
	_, section, ok := strings.Cut(string(text), "\n## "+heading+"\n")
	assert.Assert(t, ok, "no heading %q", heading)
	section, _, _ = strings.Cut(section, "\n## ")
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(section, -1) {
		jobs := map[string]recipe{}
		switch {
		case strings.HasPrefix(block[1], "name: "): // a workflow of GitHub
			var workflow struct{ Jobs map[string]recipe }
			assert.NilError(t, yaml.Unmarshal([]byte(block[1]), &workflow))
			jobs = workflow.Jobs
		case !strings.HasPrefix(block[1], " "): // no further step of that workflow
			assert.NilError(t, yaml.Unmarshal([]byte(block[1]), &jobs))
		}
		for _, job := range jobs {
			all = append(all, job)
		}
	}
	return all
}

// runScript runs the script of a GitLab job as its runner does: all lines in one shell, which ends at the first failure
// (https://docs.gitlab.com/ci/yaml/script/). env overrides variables of the job.
func (r recipe) runScript(t *testing.T, env ...string) (status int, log string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-c", "set -eo pipefail\n"+strings.Join(r.Script, "\n"))
	cmd.Env = os.Environ()
	for name, value := range r.Variables {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Env = append(cmd.Env, env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = proc.RunGroup(t.Context(), cmd, time.Minute)
	return cmd.ProcessState.ExitCode(), out.String()
}

// servingFixture is fixture with a benchmark that the recipes name, and that prints its margin as llmbench does.
func servingFixture(t *testing.T) (measure func(value string)) {
	t.Helper()
	named, _ := fixture(t)
	writeMargin(t)
	named("Serving", "100")
	commit(t)
	return func(value string) { named("Serving", value); commit(t) }
}

// writeMargin writes a file that makes the tests of the fixture print a Unit line.
func writeMargin(t *testing.T) {
	t.Helper()
	assert.NilError(t, os.WriteFile("main_test.go", []byte(`package fixture

import (
	"fmt"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	fmt.Println("Unit x/op better=lower gate=2%")
	os.Exit(m.Run())
}
`), 0o666))
}

// recipeTest skips a test of a recipe where that cannot run, and reports whether a separate process has run the test.
func recipeTest(t *testing.T) (done bool) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("skipped: no bash")
	}
	return apart(t)
}

// TestGitHubRecipe runs the action with the arguments of the workflow in CI.md.
func TestGitHubRecipe(t *testing.T) {
	if recipeTest(t) {
		return
	}
	steps := recipes(t, "On GitHub")[0].Steps
	step := steps[len(steps)-1]
	assert.Assert(t, strings.HasPrefix(step.Uses, "seed-2b9cec6d/llmbench/.github/actions/benchgate@"), step.Uses)
	script, err := filepath.Abs(filepath.Join(actionFolder, "gate.bash"))
	assert.NilError(t, err)
	measure := servingFixture(t)
	measure("106")
	fakeGo(t, true)
	r := runAction(t.Context(), t, script, "ARGS="+step.With["args"])
	assert.Assert(t, r.status == command.Regression && strings.Contains(r.summary, "regression after 8 of 10 rounds: Serving"), r.log)
}

// TestGitLabRecipe runs the script of the first job for GitLab: a merge request that changes nothing passes, a slower one
// is a regression, and the job keeps the report, and not the key of the samples.
func TestGitLabRecipe(t *testing.T) {
	if recipeTest(t) {
		return
	}
	job := recipes(t, "On GitLab")[0]
	measure := servingFixture(t)
	base := git(t, "rev-parse", "HEAD")
	fakeGo(t, true)
	for _, c := range []struct {
		value  string
		status int
		want   string
	}{{"100", 0, "pass after 6 of 10 rounds"}, {"106", command.Regression, "regression after 8 of 10 rounds: Serving"}} {
		assert.NilError(t, os.RemoveAll("gate"))
		measure(c.value)
		status, log := job.runScript(t, "CI_MERGE_REQUEST_DIFF_BASE_SHA="+base)
		assert.Assert(t, status == c.status && strings.Contains(log, c.want), "%d\n%s", status, log)
		_, err := os.Stat(filepath.Join(job.Artifacts.Paths[0], "report.json"))
		assert.NilError(t, err)
		excluded, err := filepath.Glob(job.Artifacts.Exclude[0])
		assert.Assert(t, err == nil && len(excluded) > 0, "%v", err)
	}
}

// TestGitLabNightlyRecipe runs the script of the nightly job for GitLab after a night in which a benchmark became slower: the
// job opens an issue, by a curl that only writes down its arguments. "go test" runs a binary that was built before, and
// prints its time, because two equal outputs would be one rerun.
func TestGitLabNightlyRecipe(t *testing.T) {
	if recipeTest(t) {
		return
	}
	nightly, err := os.ReadFile("../../../scenarios/example/nightly.sh")
	assert.NilError(t, err)
	job := recipes(t, "On GitLab")[1]
	assert.Equal(t, os.Expand(job.Variables["REMOTE"], func(name string) string { return "<" + name + ">" }),
		"https://oauth2:<HISTORY_TOKEN>@<CI_SERVER_HOST>/<CI_PROJECT_PATH>.git")
	cache, err := proc.Command(t.Context(), "", "go", "env", "GOCACHE")
	assert.NilError(t, err)
	t.Setenv("GOCACHE", strings.TrimSpace(cache)) // the next line changes HOME
	bare, clone := gitWithoutIdentity(t)
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GOWORK", "off")
	write := func(value string) {
		source := strings.NewReplacer("NAME", "Serving", "VALUE", value).Replace(fixtureTest)
		assert.NilError(t, os.WriteFile("fixture_test.go", []byte(source), 0o666))
	}
	write("100")
	writeMargin(t)
	assert.NilError(t, os.WriteFile("go.mod", []byte(fixtureMod), 0o666))
	assert.NilError(t, os.WriteFile("nightly.sh", nightly, 0o777))
	commit(t)
	build := func() string { // once for all reruns
		path := filepath.Join(t.TempDir(), "fixture.test")
		_, err := proc.Command(t.Context(), "", "go", "test", "-c", "-o", path, ".")
		assert.NilError(t, err)
		return path
	}
	run, err := proc.Command(t.Context(), "", build(), "-test.bench=Serving", "-test.benchtime=1x")
	assert.NilError(t, err)
	folder := t.TempDir()
	about := history.About{Machine: job.Variables["MACHINE"]}
	for i := 1; i <= 20; i++ {
		about.Commit, about.Time = fmt.Sprintf("c%02d", i), time.Date(2026, 1, i, 0, 0, 0, 0, time.UTC)
		text := strings.Replace(run, "100.0 x/op", fmt.Sprintf("%d.0 x/op", 100+i%2), 1)
		_, err := history.Dir(filepath.Join(folder, "benchhistory")).Add([]byte(text), about, about.Time)
		assert.NilError(t, err)
	}
	t.Chdir(folder)
	git(t, "init", "-q")
	commit(t)
	git(t, "push", "-q", bare, "HEAD:refs/heads/benchmarks")
	t.Chdir(clone)
	write("120")
	commit(t)
	slower := build()
	fakeGo(t, true)
	goTool, err := exec.LookPath("go")
	assert.NilError(t, err)
	tools := t.TempDir()
	for name, script := range map[string]string{
		"curl": "printf '%s\\n' \"$@\" >curl.txt",
		"go":   "case $1 in test) '" + slower + "' -test.run='^$' -test.bench=\"$BENCH\" -test.benchtime=1x && date '+ok example.com/fixture 0.%Ns' ;; *) exec '" + goTool + "' \"$@\" ;; esac",
	} {
		assert.NilError(t, os.WriteFile(filepath.Join(tools, name), []byte("#!/bin/sh\n"+script+"\n"), 0o777))
	}
	t.Setenv("PATH", tools+string(filepath.ListSeparator)+os.Getenv("PATH"))
	status, log := job.runScript(t, "REMOTE="+bare, "HISTORY_TOKEN=token", "CI_API_V4_URL=https://gitlab.example/api/v4", "CI_PROJECT_ID=7")
	assert.Equal(t, status, 0, log)
	curl, err := os.ReadFile("curl.txt")
	assert.NilError(t, err, log)
	assert.Assert(t, regexp.MustCompile(`(?s)PRIVATE-TOKEN: token\n.*title=alarm: Serving\S* x/op \+.*description@nightly/issue.md\nhttps://gitlab.example/api/v4/projects/7/issues\n`).Match(curl), "%s\n%s", curl, log)
	runs := strings.Count(git(t, "--git-dir="+bare, "ls-tree", "-r", "--name-only", "benchmarks"), ".txt")
	assert.Assert(t, runs > 21, "%d runs: want 20, this night's run, and reruns", runs)
}
