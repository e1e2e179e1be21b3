package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// apartName is the variable that names the test which a process of its own runs.
const apartName = "BENCHGATE_TEST_APART"

// apart runs t in a process of its own, and reports whether t has been run. Tests that change the working
// directory and the environment, which all tests of a process share, wait side by side in this way.
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
