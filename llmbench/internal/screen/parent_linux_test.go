package screen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestGoCommand checks that the standard error of the parent process is used if the parent is the go
// command, but not for other parents.
func TestGoCommand(t *testing.T) {
	for _, tt := range []struct{ name, env, stdout, screen string }{
		{"go", "", "", "72 columns, draws: true\n"},
		{"go", "SEPARATE=" + os.DevNull, "", ""}, // the standard error of the binary was redirected
		{"sh", "", "no terminal\n", ""},
	} {
		stdout, screen := atTerminal(t, command(t, parent(t, tt.name), "go command", tt.env))
		assert.Equal(t, stdout, tt.stdout, "%+v", tt)
		assert.Equal(t, screen, tt.screen, "%+v", tt)
	}
}

// parent returns a link to this binary with the given name.
func parent(t *testing.T, name string) string {
	self, err := os.Executable()
	assert.NilError(t, err)
	link := filepath.Join(t.TempDir(), name)
	assert.NilError(t, os.Symlink(self, link))
	return link
}

// init ends a helper process whose exit status says whether a process may duplicate the standard error of its parent.
func init() {
	if os.Getenv(helper) != "duplicate" {
		return
	}
	if _, err := duplicateStderr(os.Getppid()); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// TestGoCommandInCI checks the go command if its standard error is not a terminal. A pipe or a file is
// used, unless it is also the standard output.
func TestGoCommandInCI(t *testing.T) {
	cmd := command(t, parent(t, "go"), "go command")
	out, err := cmd.CombinedOutput()
	assert.NilError(t, err)
	assert.Equal(t, string(out), "no terminal\n")

	const want = "120 columns, draws: false\n"
	var stderr strings.Builder
	cmd = command(t, parent(t, "go"), "go command")
	cmd.Stderr = &stderr
	out, err = cmd.Output()
	assert.NilError(t, err)
	assert.Equal(t, string(out), "")
	assert.Equal(t, stderr.String(), want)

	// The shell writes to the file before and after. Without ">>", the file is not open for appending.
	name := filepath.Join(t.TempDir(), "stderr.txt")
	for _, redirection := range []string{">", ">>"} {
		if redirection == ">" && command(t, "", "duplicate").Run() != nil {
			t.Log("not tested: the kernel does not permit a process to duplicate a file of its parent")
			continue
		}
		assert.NilError(t, os.WriteFile(name, nil, 0o666))
		cmd = command(t, "/bin/sh", "go command")
		cmd.Args = append(cmd.Args, "-c", `{ echo before >&2; "$0"; echo after >&2; } 2`+redirection+name, parent(t, "go"))
		out, err = cmd.Output()
		assert.NilError(t, err)
		assert.Equal(t, string(out), "")
		text, err := os.ReadFile(name)
		assert.NilError(t, err)
		assert.Equal(t, string(text), "before\n"+want+"after\n", redirection)
	}
}
