package nginxtest

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/debroot"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/need"
)

const checkTimeout = 30 * time.Second // of nginx -t

// environment is the environment of nginx. OPENSSL_CONF prevents the packages' OpenSSL from reading the
// machine's configuration.
var environment = []string{"OPENSSL_CONF=/dev/null"}

// Packages has the Debian packages of nginx; see [debroot.Build].
//
//go:embed packages.sha256
var Packages []byte

// find returns the command that runs nginx: the path of the program and its first arguments. Later calls
// return the result of the first one.
var find = sync.OnceValues(func() (command []string, err error) {
	root, err := debroot.Build("nginxtest", Packages)
	if err == nil {
		command = debroot.Command(root, "usr/sbin/nginx")
		err = runs(command)
	}
	if err == nil {
		return command, nil
	}
	if !errors.Is(err, need.ErrUnavailable) {
		return nil, err
	}
	path, pathErr := exec.LookPath("nginx")
	if pathErr != nil {
		return nil, fmt.Errorf("%w; and %w", err, pathErr)
	}
	return []string{path}, nil
})

// arguments returns the arguments with which command runs nginx in the prefix directory dir: -p sets the directory, and -e
// sets where errors go before the configuration is read.
func arguments(command []string, dir string) []string {
	return append(command[1:len(command):len(command)], "-p", dir, "-c", configFile, "-e", "stderr")
}

// runs checks that the packages' nginx runs on this machine: nginx reads a configuration and ends. The error
// wraps [need.ErrUnavailable] if a signal ended nginx: then this processor or this kernel cannot run the
// packages' nginx or their C library, whatever a test does.
func runs(command []string) error {
	dir, err := os.MkdirTemp("", "nginx-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, configFile), []byte("pid nginx.pid;\nevents {}\n"), 0o644); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], append(arguments(command, dir), "-t")...)
	cmd.Env = environment
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("nginxtest: nginx -t did not end in %v: %s", checkTimeout, out)
	case !cmd.ProcessState.Exited():
		return fmt.Errorf("%w: the packages' nginx does not run on this machine: nginx -t: %w", need.ErrUnavailable, err)
	}
	return fmt.Errorf("nginxtest: nginx -t: %w: %s", err, out)
}
