package container

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/backends/container/internal/engine"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/scenariostest"
)

// helperImage is the environment variable that turns [TestHelperProcess] into a helper process. Its
// value is an image of the simulated server.
const helperImage = "TEST_HELPER_IMAGE"

// TestHelperProcess is not a test but the helper process of TestLeftovers. It starts a server,
// prints its URL, and ends when its standard input is closed. If something was written to its
// standard input, it panics.
func TestHelperProcess(t *testing.T) {
	image := os.Getenv(helperImage)
	if image == "" {
		return
	}
	target := Start(t, backends.MockContainer{Container: backends.Container{Image: image}})
	fmt.Println("URL", target.URL)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // if nobody ends it earlier
	defer cancel()
	input := make(chan []byte, 1)
	go func() {
		b, _ := io.ReadAll(os.Stdin)
		input <- b
	}()
	select {
	case b := <-input:
		t.Run("leaf", func(t *testing.T) {
			if len(b) > 0 {
				panic(string(b))
			}
		})
	case <-ctx.Done():
	}
}

// A helperProcess is another process that has started a server in a container.
type helperProcess struct {
	*exec.Cmd
	url   string
	input io.WriteCloser
}

// startHelper starts a helper process and returns when its server is ready.
func startHelper(t *testing.T, image string) helperProcess {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestHelperProcess$")
	// The other LLMBENCH_ variables are meant for this process only. The proxy does not exist. So
	// any request through it would fail.
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "LLMBENCH_") })
	cmd.Env = append(env, helperImage+"="+image, "HTTP_PROXY=http://127.0.0.1:1", "NO_PROXY=")
	input, err := cmd.StdinPipe()
	assert.NilError(t, err)
	output, err := cmd.StdoutPipe()
	assert.NilError(t, err)
	assert.NilError(t, cmd.Start())
	t.Cleanup(func() { cancel(); _ = cmd.Wait() })
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if url, found := strings.CutPrefix(lines.Text(), "URL "); found {
			return helperProcess{cmd, url, input}
		}
	}
	t.Fatalf("the helper process ended before its server was ready")
	return helperProcess{}
}

// networksOf returns the number of networks of another process.
func networksOf(t *testing.T, process *os.Process) int {
	t.Helper()
	return networks(t, engine.LabelOwner, engine.LabelProcess+"="+strconv.Itoa(process.Pid))
}

// containersOf returns the number of containers of another process.
func containersOf(t *testing.T, process *os.Process) int {
	t.Helper()
	return len(containers(t, engine.LabelOwner, engine.LabelProcess+"="+strconv.Itoa(process.Pid)))
}

// awaitNothingOf waits until no container and no network of an ended process is left. Another process must have begun after
// the end. A third process that has begun too may already be removing some of them.
func awaitNothingOf(t *testing.T, ended *os.Process) {
	t.Helper()
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		if n, networks := containersOf(t, ended), networksOf(t, ended); n+networks > 0 {
			return poll.Continue("%d containers and %d networks are left", n, networks)
		}
		return poll.Success()
	}, poll.WithTimeout(2*time.Minute))
}

func (p helperProcess) isHealthy() bool {
	res, err := http.Get(p.url + "/health")
	if err != nil {
		return false
	}
	res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// TestLeftovers ends processes by a signal and by a panic, so that they cannot remove their
// containers. The next process must remove these containers. It must not touch the containers of a
// process that is still running.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	image := mock(t).Image
	killed, panics, alive := startHelper(t, image), startHelper(t, image), startHelper(t, image)
	assert.NilError(t, killed.Process.Signal(syscall.SIGKILL))
	_ = killed.Wait()
	_, err := io.WriteString(panics.input, "in a leaf")
	assert.NilError(t, err)
	assert.NilError(t, panics.input.Close())
	assert.ErrorContains(t, panics.Wait(), "exit status 2")
	next := startHelper(t, image)
	awaitNothingOf(t, killed.Process)
	awaitNothingOf(t, panics.Process)
	assert.Assert(t, alive.isHealthy(), "the server of a process that is alive was removed")
	assert.Assert(t, next.isHealthy())
	for _, p := range []helperProcess{alive, next} {
		assert.NilError(t, p.input.Close())
		assert.NilError(t, p.Wait())
		assert.Equal(t, containersOf(t, p.Process), 0)
	}
}

// TestInterrupt ends a benchmark with the signal that Ctrl-C sends.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	image := mock(t).Image
	binary := scenariostest.Program(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "-test.run=^$", "-test.bench=Chat", "-test.benchtime=1000000x", "-test.v")
	cmd.Env = append(os.Environ(), "LLMBENCH_BACKEND=mock-container", "LLMBENCH_IMAGE="+image)
	pipe, err := cmd.StdoutPipe()
	assert.NilError(t, err)
	assert.NilError(t, cmd.Start())
	var text strings.Builder
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		fmt.Fprintln(&text, lines.Text())
		if strings.HasPrefix(lines.Text(), "backend: mock-container") { // the measurement has begun
			assert.NilError(t, cmd.Process.Signal(os.Interrupt))
		}
	}
	assert.ErrorContains(t, cmd.Wait(), "exit status 1")
	assert.Assert(t, strings.Contains(text.String(), "interrupted"), text.String())
	assert.Equal(t, containersOf(t, cmd.Process), 0)
}
