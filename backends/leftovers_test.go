package backends

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/engine"
)

// A process is one that measures a server in a container.
type process struct {
	*exec.Cmd
	url string
	in  io.WriteCloser // it ends when this is closed: with a panic if something was written to it
}

const helper = "LLMBENCH_TEST_HELPER"

// TestHelper is no test: it is the other process of TestLeftovers.
func TestHelper(t *testing.T) {
	image := os.Getenv(helper)
	if image == "" {
		return
	}
	target := MockContainer{Container{Image: image}}.Start(t)
	fmt.Println("URL", target.URL)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // and not for ever if nobody ends it
	defer cancel()
	said := make(chan []byte, 1)
	go func() {
		b, _ := io.ReadAll(os.Stdin)
		said <- b
	}()
	select {
	case b := <-said:
		t.Run("leaf", func(t *testing.T) {
			if len(b) > 0 {
				panic(string(b))
			}
		})
	case <-ctx.Done():
	}
}

// begin starts such a process and returns when its server is ready.
func begin(t *testing.T, image string) process {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestHelper$")
	// The variable is the test's own. The proxy, which is none, must not be asked
	// for what is in a container.
	cmd.Env = append(without(os.Environ(), "LLMBENCH_"), helper+"="+image, "HTTP_PROXY=http://127.0.0.1:1", "NO_PROXY=")
	in, err := cmd.StdinPipe()
	assert.NilError(t, err)
	out, err := cmd.StdoutPipe()
	assert.NilError(t, err)
	assert.NilError(t, cmd.Start())
	t.Cleanup(func() { cancel(); _ = cmd.Wait() })
	p := process{Cmd: cmd, in: in}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var found bool
		if p.url, found = strings.CutPrefix(lines.Text(), "URL "); found {
			return p
		}
	}
	t.Fatalf("the other process ended before its server was ready")
	return p
}

func without(environ []string, prefix string) (rest []string) {
	for _, v := range environ {
		if !strings.HasPrefix(v, prefix) {
			rest = append(rest, v)
		}
	}
	return rest
}

func (p process) containers(t *testing.T) int {
	t.Helper()
	return len(containers(t, engine.LabelOwner, engine.LabelProcess+"="+strconv.Itoa(p.Process.Pid)))
}

func (p process) answers() bool {
	res, err := http.Get(p.url + "/health")
	if err != nil {
		return false
	}
	res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// TestLeftovers ends processes so that they cannot remove their containers, by a
// signal and by a panic, and looks whether the next process does, and touches
// no other's.
func TestLeftovers(t *testing.T) {
	image := mock(t).Image
	killed, panics, alive := begin(t, image), begin(t, image), begin(t, image)
	assert.NilError(t, killed.Process.Signal(syscall.SIGKILL))
	_ = killed.Wait()
	_, err := io.WriteString(panics.in, "in a leaf")
	assert.NilError(t, err)
	assert.NilError(t, panics.in.Close())
	assert.ErrorContains(t, panics.Wait(), "exit status 2")
	next := begin(t, image)
	assert.Equal(t, killed.containers(t), 0, "what the killed process left is there after the next one has begun")
	assert.Equal(t, panics.containers(t), 0, "what the process left that panicked is there after the next one has begun")
	assert.Assert(t, alive.answers(), "the server of a process that lives was removed")
	assert.Assert(t, next.answers())
	for _, p := range []process{alive, next} {
		assert.NilError(t, p.in.Close())
		assert.NilError(t, p.Wait())
		assert.Equal(t, p.containers(t), 0)
	}
}

// TestInterrupt ends a benchmark as Ctrl-C does.
func TestInterrupt(t *testing.T) {
	image := mock(t).Image
	binary := filepath.Join(t.TempDir(), "scenarios.test")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-o", binary, "../scenarios").CombinedOutput()
	assert.NilError(t, err, "%s", out)
	cmd := exec.CommandContext(ctx, binary, "-test.run=^$", "-test.bench=Chat", "-test.benchtime=1000000x", "-test.v")
	cmd.Env = append(os.Environ(), "LLMBENCH_BACKEND=mock-container", "LLMBENCH_IMAGE="+image)
	pipe, err := cmd.StdoutPipe()
	assert.NilError(t, err)
	assert.NilError(t, cmd.Start())
	var text strings.Builder
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		fmt.Fprintln(&text, lines.Text())
		if strings.HasPrefix(lines.Text(), "backend: mock-container") { // it measures
			assert.NilError(t, cmd.Process.Signal(os.Interrupt))
		}
	}
	assert.ErrorContains(t, cmd.Wait(), "exit status 1")
	assert.Assert(t, strings.Contains(text.String(), "interrupted"), text.String())
	assert.Equal(t, process{Cmd: cmd}.containers(t), 0)
}

// TestNoSecretIsShown plants a token, gives the server every reason to show it,
// and looks for it wherever it may end up.
func TestNoSecretIsShown(t *testing.T) {
	const token = "hf_PlantedTokenThatNobodyMaySee"
	t.Setenv("HF_TOKEN", token)
	dir := t.TempDir()
	var said strings.Builder
	logf := func(format string, args ...any) { fmt.Fprintf(&said, format+"\n", args...) }

	// OpenLLM's command is one that the simulated server does not know, and
	// says so; HF_TOKEN is passed to it.
	image := mock(t).Image
	// Its key, which only Args tell, it says too, as vLLM does of all its settings.
	const key = "sk-PlantedKeyThatNobodyMaySee"
	s, err := OpenLLM{Container: Container{Image: image, Model: "m", LogDir: dir, Args: []string{"--api-key", key}}}.spec()
	assert.NilError(t, err)
	s.cmd = []string{"-profile=" + token + "{'api_key': '" + key + "'}"}
	_, err = run(t.Context(), s, logf)
	assert.ErrorContains(t, err, `profile "[secret]{'api_key': '[secret]'}": not known`)
	fmt.Fprintln(&said, err)

	m := MockContainer{Container{Image: image, Env: map[string]string{"MY_API_KEY": token, "NOTE": token}, LogDir: dir}}
	s, err = m.spec()
	assert.NilError(t, err)
	r, err := run(t.Context(), s, logf)
	assert.NilError(t, err)
	assert.NilError(t, r.stop())
	assert.Equal(t, r.target.Config["env-note"], "[secret]")
	fmt.Fprintln(&said, r.target)

	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	assert.NilError(t, err)
	assert.Equal(t, len(logs), 2)
	for _, l := range logs {
		content, err := os.ReadFile(l)
		assert.NilError(t, err)
		assert.Assert(t, len(content) > 0)
		said.Write(content)
	}
	for _, secret := range []string{token, key} {
		assert.Assert(t, !strings.Contains(said.String(), secret), "%s is shown:\n%s", secret, &said)
	}
}
