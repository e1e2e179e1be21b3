package llamatest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/ports"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/serverlog"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/child"
)

// startContainer starts the server in a container. The URL has the container's own address unless o.Addr is
// set: the proxy behind a published port merges small writes, which hides when tokens were sent.
func startContainer(ctx context.Context, root, model string, o Options, log *serverlog.Log) (p *child.Process, url string, err error) {
	image, err := ensureImage(ctx, root)
	if err != nil {
		return nil, "", err
	}
	create := []string{"create", "--label", "llmbench=llamatest"}
	if o.Addr != "" {
		host, port, err := ports.FreeAddr(o.Addr)
		if err != nil {
			return nil, "", err
		}
		url = "http://" + net.JoinHostPort(host, port)
		create = append(create, "--publish", net.JoinHostPort(host, port)+":"+containerPort)
	}
	create = append(append(create, image), arguments(o, model, "0.0.0.0", containerPort)...)
	id, err := docker(ctx, create...)
	if err != nil {
		return nil, "", err
	}
	remove, err := removeAtEnd(id)
	if err != nil {
		_, rmErr := docker(context.WithoutCancel(ctx), "rm", "--force", id)
		return nil, "", errors.Join(err, rmErr)
	}
	defer func() {
		if err != nil {
			remove()
		}
	}()
	if _, err := docker(ctx, "cp", model, id+":/models/"+filepath.Base(model)); err != nil {
		return nil, "", err
	}
	if _, err := docker(ctx, "start", id); err != nil {
		return nil, "", err
	}
	if p, err = follow(id, log, remove); err != nil {
		return nil, "", err
	}
	if url == "" {
		ip, err := docker(ctx, "inspect", "--format", "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", id)
		if err == nil && ip == "" { // the container has already exited, and docker logs exits by itself
			select {
			case <-p.Done:
			case <-ctx.Done():
			case <-time.After(dockerTimeout):
			}
			p.Stop()
			err = fmt.Errorf("%w; its last lines:\n%s", p.Err, log)
		}
		if err != nil {
			return nil, "", err
		}
		url = "http://" + net.JoinHostPort(ip, containerPort)
	}
	return p, url, nil
}

// follow copies the container's output to log until the container exits. remove must stop and remove the
// container.
func follow(id string, log *serverlog.Log, remove func()) (*child.Process, error) {
	life, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(life, "docker", "logs", "--follow", id)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.WaitDelay = stopDelay
	if err := cmd.Start(); err != nil {
		cancel()
		return nil, err
	}
	p := &child.Process{Done: make(chan struct{})}
	p.Stop = func() { remove(); cancel(); <-p.Done }
	go func() {
		err := cmd.Wait() // docker logs exits when the container exits
		p.Err = fmt.Errorf("container %.12s ended (docker logs: %v)", id, err)
		close(p.Done)
	}()
	return p, nil
}

// removeAtEnd returns a function that stops and removes the container. A helper process does so when its
// standard input is closed. It therefore also does so if this process is killed.
func removeAtEnd(id string) (remove func(), err error) {
	cmd := exec.Command("sh", "-c", `cat; docker stop -t 1 "$1"; docker rm --force "$1"`, "sh", id)
	detach(cmd)
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() {
		pipe.Close()
		overdue := time.AfterFunc(dockerTimeout, func() { _ = cmd.Process.Kill() })
		defer overdue.Stop()
		_ = cmd.Wait()
	}), nil
}
