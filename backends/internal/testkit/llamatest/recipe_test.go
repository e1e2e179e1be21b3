package llamatest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/scenariostest"
)

// TestRecipe runs the command for an engine in C++, as the documentation of the gate has it, in a repository whose two
// commits are two settings of llama-server. A cmake that only writes a script with the settings stands for the build.
// The verdict depends on the machine, so the test checks that both versions were built and measured.
func TestRecipe(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	Start(t, Options{}) // skips where the server cannot run
	tools, dir := t.TempDir(), t.TempDir()
	sh(t, "../../../..", "go build -ldflags='-s -w' -o '"+tools+"/' ./llmbench/cmd/benchgate ./backends/internal/testkit/llamatest/cmd/llamaserver")
	assert.NilError(t, os.Mkdir(filepath.Join(dir, "llmbench"), 0o777))
	assert.NilError(t, os.Rename(scenariostest.Program(t), filepath.Join(dir, "llmbench", "scenarios.test")))
	cmake := fmt.Sprintf(`#!/bin/sh
case $1 in
-B) mkdir -p "$2/bin" ;;
--build)
  echo "#!/bin/sh
LLMBENCH_CACHE='%s' exec '%s/llamaserver' -addr 127.0.0.1:\$4 -- $(cat settings)" >"$2/bin/llama-server"
  chmod +x "$2/bin/llama-server" ;;
esac
`, os.Getenv("LLMBENCH_CACHE"), tools)
	assert.NilError(t, os.WriteFile(filepath.Join(tools, "cmake"), []byte(cmake), 0o777))
	engine := filepath.Join(dir, "engine")
	sh(t, dir, `git init -q engine && cd engine
commit() { echo "$1" >settings && git add settings && git -c user.name=t -c user.email=t@example.com commit -qm "$1"; }
commit '-ub 512' && git update-ref refs/remotes/origin/master HEAD && commit '-ub 64'`)

	t.Setenv("PATH", tools+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("LLMBENCH_CACHE", t.TempDir()) // of the builds
	for name, value := range map[string]string{"REQUESTS": "8", "WARMUP": "1", "INPUT": "16", "OUTPUT": "32", "CLIENT_BOUND": "report"} {
		t.Setenv("LLMBENCH_"+name, value)
	}
	out := sh(t, engine, strings.Replace(recipe(t), " -max=25 ", " -n=7 -out=gate ", 1)+" || [ $? = 1 -o $? = 2 ]")
	text, err := os.ReadFile(filepath.Join(engine, "gate", "report.json"))
	assert.NilError(t, err, out)
	var report struct {
		Samples  int
		Problems []any
		Rows     []struct{ Name, Unit string }
	}
	assert.NilError(t, json.Unmarshal(text, &report))
	assert.Assert(t, report.Samples == 7 && len(report.Problems) == 0 && len(report.Rows) > 4, "%s", out)
	assert.Assert(t, strings.Contains(out, "; command: llama-server -m /models/m.gguf --port {port}"), out)
}

// recipe returns the command of the documentation.
func recipe(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../../llmbench/gate/SERVERS.md")
	assert.NilError(t, err)
	_, after, found := strings.Cut(string(text), "\nAn engine in C++, ")
	assert.Assert(t, found)
	_, after, found = strings.Cut(after, "\n    $ ")
	assert.Assert(t, found)
	command, _, found := strings.Cut(after, "\n\n")
	assert.Assert(t, found && strings.HasPrefix(command, "LLMBENCH_READY="), command)
	return command
}

// sh runs a shell script in a folder and returns its output.
func sh(t *testing.T, dir, script string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	assert.NilError(t, err, "%s", out)
	return string(out)
}
