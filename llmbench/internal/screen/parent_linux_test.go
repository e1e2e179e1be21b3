package screen

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
)

// TestGoCommand checks that the standard error of the go command is used, and that of no other
// parent.
func TestGoCommand(t *testing.T) {
	self, err := os.Executable()
	assert.NilError(t, err)
	for _, tt := range []struct{ name, env, stdout, screen string }{
		{"go", "", "", "72 columns, draws: true\n"},
		{"go", "SEPARATE=1", "no terminal\n", ""}, // somebody redirects standard error
		{"sh", "", "no terminal\n", ""},
	} {
		parent := filepath.Join(t.TempDir(), tt.name)
		assert.NilError(t, os.Symlink(self, parent))
		stdout, screen := atTerminal(t, command(t, parent, "go command", tt.env))
		assert.Equal(t, stdout, tt.stdout, "%+v", tt)
		assert.Equal(t, screen, tt.screen, "%+v", tt)
	}
}
