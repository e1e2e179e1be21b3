package child

import (
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// TestOutputDies checks that the command of Output ends when the process that called Output is killed: the last end of a
// pipe to the command is then closed.
func TestOutputDies(t *testing.T) {
	const variable = "CHILD_TEST_OUTPUT"
	if os.Getenv(variable) != "" { // this is the process to be killed
		cmd := exec.CommandContext(t.Context(), "sh", "-c", "echo started >&3; exec sleep 1000")
		cmd.ExtraFiles = []*os.File{os.NewFile(3, "pipe")}
		_, err := Output(cmd, time.Second)
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	assert.NilError(t, err)
	defer r.Close()
	assert.NilError(t, r.SetReadDeadline(time.Now().Add(time.Minute)))
	caller := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	caller.Env, caller.ExtraFiles = append(os.Environ(), variable+"=1"), []*os.File{w}
	assert.NilError(t, caller.Start())
	w.Close()
	_, err = r.Read(make([]byte, len("started\n")))
	assert.NilError(t, err)
	assert.NilError(t, caller.Process.Kill())
	_ = caller.Wait() // it was killed
	_, err = io.Copy(io.Discard, r)
	assert.NilError(t, err)
}
