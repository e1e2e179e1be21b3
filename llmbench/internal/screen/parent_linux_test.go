package screen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestGoCommand checks that the standard error of the go command is used, and of no other
// parent.
func TestGoCommand(t *testing.T) {
	for _, tt := range []struct{ name, env, stdout, screen string }{
		{"go", "", "", "72 columns, draws: true\n"},
		{"go", "SEPARATE=" + os.DevNull, "", ""}, // somebody redirects the standard error of the binary
		{"sh", "", "no terminal\n", ""},
	} {
		stdout, screen := atTerminal(t, command(t, parent(t, tt.name), "go command", tt.env))
		assert.Equal(t, stdout, tt.stdout, "%+v", tt)
		assert.Equal(t, screen, tt.screen, "%+v", tt)
	}
}

// parent returns a link to this binary with that name.
func parent(t *testing.T, name string) string {
	self, err := os.Executable()
	assert.NilError(t, err)
	link := filepath.Join(t.TempDir(), name)
	assert.NilError(t, os.Symlink(self, link))
	return link
}

// TestGoCommandInCI checks what is used of a go command whose standard error is no terminal: a pipe or a
// file, unless standard output goes there too.
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

	name := filepath.Join(t.TempDir(), "stderr.txt")
	assert.NilError(t, os.WriteFile(name, []byte("before\n"), 0o666))
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	assert.NilError(t, err)
	defer file.Close()
	cmd = command(t, parent(t, "go"), "go command")
	cmd.Stderr = file
	out, err = cmd.Output()
	assert.NilError(t, err)
	assert.Equal(t, string(out), "")
	text, err := os.ReadFile(name)
	assert.NilError(t, err)
	assert.Equal(t, string(text), "before\n"+want)
}
