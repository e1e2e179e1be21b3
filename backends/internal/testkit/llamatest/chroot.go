package llamatest

import (
	"fmt"
	"os/exec"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/serverlog"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/child"
)

// startChroot starts the server with root as its root directory.
func startChroot(root string, args []string, log *serverlog.Log) (*child.Process, error) {
	attr, err := chrootAttr(root)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(serverPath, args...)
	cmd.Dir = "/"
	cmd.Env = []string{"HOME=/tmp", "PATH=/usr/bin"} // without the LLAMA_ARG_ variables of this process
	cmd.SysProcAttr = attr
	cmd.Stdout, cmd.Stderr = log, log
	p, err := child.Start(cmd, stopDelay)
	if err != nil {
		return nil, fmt.Errorf("chroot %s: %w", root, err)
	}
	return p, nil
}
