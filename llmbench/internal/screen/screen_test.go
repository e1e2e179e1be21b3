//go:build unix

package screen

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/testkit/runtest"
)

// helper is the environment variable that says what this binary does instead of running tests.
const helper = "TEST_HELPER"

func TestMain(m *testing.M) {
	switch os.Getenv(helper) {
	case "show":
		show(Auto)
	case "none":
		show(None)
	case "go command":
		runChild()
	default:
		os.Exit(m.Run())
	}
}

// show writes to the screen at a place.
func show(p Place) {
	s, err := Open(p)
	switch {
	case err != nil:
		fmt.Println(err)
	case s == nil:
		fmt.Println("no terminal")
	default:
		fmt.Fprintf(s, "%d columns, draws: %t\n", s.Width(), s.Draws())
		s.Close()
	}
}

// runChild runs this binary like the go command runs test binaries, or with a separate file for standard
// error.
func runChild() {
	cmd := exec.Command(os.Getenv("SELF"))
	cmd.Env = append(os.Environ(), helper+"=show")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stdout
	if os.Getenv("SEPARATE") != "" {
		cmd.Stderr, _ = os.OpenFile(os.Getenv("SEPARATE"), os.O_WRONLY|os.O_CREATE, 0o666)
	}
	if err := cmd.Run(); err != nil {
		fmt.Println(err)
	}
}

// atTerminal runs a command whose standard error is a terminal of 72 columns.
func atTerminal(t *testing.T, cmd *exec.Cmd) (stdout, screen string) {
	t.Helper()
	stdout, screen, err := runtest.AtTerminal(t, cmd, 72)
	assert.NilError(t, err)
	return stdout, screen
}

func command(t *testing.T, path, helps string, env ...string) *exec.Cmd {
	self, err := os.Executable()
	assert.NilError(t, err)
	if path == "" {
		path = self
	}
	cmd := exec.CommandContext(t.Context(), path)
	cmd.Env = append(append(os.Environ(), "TERM=xterm", "SELF="+self, helper+"="+helps), env...)
	return cmd
}

func TestStandardError(t *testing.T) {
	for _, tt := range []struct{ helper, term, stdout, screen string }{
		{"show", "xterm", "", "72 columns, draws: true\n"},
		{"show", "dumb", "", "72 columns, draws: false\n"},
		{"none", "xterm", "no terminal\n", ""},
	} {
		stdout, screen := atTerminal(t, command(t, "", tt.helper, "TERM="+tt.term))
		assert.Equal(t, stdout, tt.stdout)
		assert.Equal(t, screen, tt.screen)
	}
}

// TestNoTerminal checks that a pipe is used unless it is also the standard output.
func TestNoTerminal(t *testing.T) {
	out, err := command(t, "", "show").CombinedOutput()
	assert.NilError(t, err)
	assert.Equal(t, string(out), "no terminal\n")
	var stderr strings.Builder
	cmd := command(t, "", "show")
	cmd.Stderr = &stderr
	out, err = cmd.Output()
	assert.NilError(t, err)
	assert.Equal(t, string(out), "")
	assert.Equal(t, stderr.String(), "120 columns, draws: false\n")
}

func TestOpenPlace(t *testing.T) {
	_, err := Open("stdout")
	assert.Error(t, err, `place "stdout": want auto, tty or none`)
}
