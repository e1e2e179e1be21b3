package compose

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"gotest.tools/v3/assert"
)

// label is on all containers and networks of the tests.
const label = "llmbench.compose"

// dockerTimeout is the time limit of a docker command.
const dockerTimeout = 3 * time.Minute

// interrupted is a context that ends with SIGINT or SIGTERM.
var interrupted, interrupt = context.WithCancel(context.Background())

// Each docker command that changes something holds commands for reading.
var commands sync.RWMutex

// TestMain makes sure that only one process at a time runs the tests on this machine. So containers
// and networks that have the label at the start belong to a process that was killed. TestMain
// removes them. After SIGINT or SIGTERM it removes its own.
func TestMain(m *testing.M) {
	if _, err := output(context.Background(), "version"); err != nil {
		os.Exit(m.Run()) // the tests report that there is no engine
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	lock := flock.New(filepath.Join(os.TempDir(), "llmbench-compose.lock"), flock.SetPermissions(0o666))
	if _, err := lock.TryLockContext(ctx, 100*time.Millisecond); err != nil {
		fmt.Fprintf(os.Stderr, "another process runs these tests: lock %s: %v\n", lock.Path(), err)
		os.Exit(1)
	}
	if err := removeAll(); err != nil {
		fmt.Fprintf(os.Stderr, "what an earlier run has left: %v\n", err)
		os.Exit(1)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		sig := <-signals
		signal.Reset() // the next signal ends the process at once
		interrupt()
		commands.Lock() // it is never unlocked, so that no new command begins
		if err := removeAll(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		fmt.Fprintf(os.Stderr, "%v: the containers and networks of the tests are removed\n", sig)
		os.Exit(1)
	}()
	os.Exit(m.Run())
}

// removeAll removes all containers and networks with the label.
func removeAll() error {
	filter := "label=" + label
	boxes, err := output(context.Background(), "ps", "--all", "--quiet", "--filter", filter)
	if err == nil && boxes != "" {
		_, err = output(context.Background(), append([]string{"rm", "--force", "--volumes"}, strings.Fields(boxes)...)...)
	}
	networks, listed := output(context.Background(), "network", "ls", "--quiet", "--filter", filter)
	if listed == nil && networks != "" {
		_, listed = output(context.Background(), append([]string{"network", "rm"}, strings.Fields(networks)...)...)
	}
	return errors.Join(err, listed)
}

// output runs a docker command and returns what it printed.
func output(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, dockerTimeout)
	defer cancel()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "docker", args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("docker %s: %w: %s", strings.Join(args, " "), err, &stderr)
	}
	return strings.TrimSpace(string(out)), err
}

// docker runs a docker command that ends soon, and returns what the command printed.
func docker(t *testing.T, args ...string) string {
	t.Helper()
	commands.RLock()
	defer commands.RUnlock()
	out, err := output(context.Background(), args...)
	assert.NilError(t, err)
	return out
}

// dockerWait runs a docker command that waits for something. An interrupt ends it.
func dockerWait(t *testing.T, args ...string) string {
	t.Helper()
	out, err := output(interrupted, args...)
	assert.NilError(t, err)
	return out
}
