package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// apartName is the environment variable with the name of the test that a separate process runs.
const apartName = "BENCHGATE_TEST_APART"

// apart runs t in a separate process, and reports whether it did so. All tests of a process share the working
// directory and the environment. Tests that change these and mostly wait can therefore run in parallel only as
// separate processes.
func apart(t *testing.T) (done bool) {
	t.Helper()
	if os.Getenv(apartName) == t.Name() {
		return false
	}
	t.Parallel()
	self, err := os.Executable()
	assert.NilError(t, err)
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=10m")
	cmd.Env = append(os.Environ(), apartName+"="+t.Name())
	out, err := cmd.CombinedOutput()
	assert.NilError(t, err, "%s", out)
	if strings.Contains(string(out), "--- SKIP: "+t.Name()+" (") {
		t.Skipf("%s", out)
	}
	return true
}
