package engine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/moby/moby/api/types/system"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	tclog "github.com/testcontainers/testcontainers-go/log"
)

// [Connect] returns an error that wraps ErrUnavailable if no usable engine was found.
var ErrUnavailable = errors.New("no Docker engine")

// connectTimeout limits the first requests to the engine, including the removal of leftover containers.
const connectTimeout = time.Minute

// An Engine is the Docker engine of this machine. It is safe for concurrent
// use.
type Engine struct {
	provider *testcontainers.DockerProvider
	client   client.APIClient
	info     system.Info
	owner    *owner
}

// Connect returns the engine that this process uses: the engine at DOCKER_HOST, or the one that
// testcontainers finds. The first call removes the containers of processes that have ended. If no usable
// engine was found, the error wraps [ErrUnavailable].
func Connect() (*Engine, error) { return connect() }

var connect = sync.OnceValues(func() (*Engine, error) {
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	tclog.SetDefault(tclog.NewNoopLogger()) // the default logger writes to standard error, between results
	if err := prepare(ctx); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	p, err := testcontainers.NewDockerProvider(testcontainers.WithLogger(tclog.NewNoopLogger()))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	e := newEngine(p)
	if err := checkLocal(e.client.DaemonHost()); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	info, err := e.client.Info(ctx, client.InfoOptions{})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if e.info = info.Info; e.info.OSType != "linux" {
		return nil, fmt.Errorf("%w: it runs containers of %s: want linux", ErrUnavailable, e.info.OSType)
	}
	if e.owner, err = newOwner(); err != nil {
		return nil, fmt.Errorf("%w: the lock that marks its containers cannot be created: %w", ErrUnavailable, err)
	}
	if err := e.owner.removeLeftovers(ctx, e.client); err != nil {
		return nil, fmt.Errorf("the containers of a process that has ended cannot be removed: %w", err)
	}
	return e, nil
})

// A sharedClient is a client that several starts use at once. Its Close does nothing. testcontainers
// closes the client after most calls, and a closed client closes its idle connections. net/http counts
// a connection as idle before the caller has the answer, if the answer has no body: the caller then
// gets "CloseIdleConnections called" for a container that has started.
type sharedClient struct{ client.APIClient }

func (sharedClient) Close() error { return nil }

func newEngine(p *testcontainers.DockerProvider) *Engine {
	p.SetClient(sharedClient{p.Client()})
	return &Engine{provider: p, client: p.Client()}
}

// reaperImage is the image of the reaper of testcontainers-go v0.44.0, which removes
// the containers of processes that have ended.
const reaperImage = "testcontainers/ryuk:0.14.0"

// prepare returns an error if the engine at DOCKER_HOST cannot be used: testcontainers would silently
// choose another engine. prepare also disables testcontainers' reaper unless the engine has the reaper's
// image, because testcontainers would try to pull the image before each run. prepare must run before the
// first use of testcontainers, which reads the environment only once.
func prepare(ctx context.Context) error {
	cli, err := client.New(client.FromEnv)
	if err != nil {
		return err
	}
	defer cli.Close()
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	if os.Getenv("DOCKER_HOST") != "" {
		if err := checkLocal(cli.DaemonHost()); err != nil {
			return err
		}
		if _, err := cli.Ping(ctx, client.PingOptions{}); err != nil {
			return err
		}
	}
	const variable = "TESTCONTAINERS_RYUK_DISABLED"
	if os.Getenv(variable) == "" {
		if _, err := cli.ImageInspect(ctx, reaperImage); err != nil {
			return os.Setenv(variable, "true")
		}
	}
	return nil
}

// checkLocal returns an error if the engine is on another machine. Such an engine would publish ports on
// its own 127.0.0.1, and would look for the models' folders on its own disk.
func checkLocal(host string) error {
	u, err := url.Parse(host)
	if err != nil {
		return err
	}
	if u.Scheme == "unix" || u.Scheme == "npipe" || u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback() {
		return nil
	}
	return fmt.Errorf("%s is on another machine: want an engine on this one: run the benchmark there, or start the server by hand and set LLMBENCH_URL", host)
}

// Direct reports whether this machine can reach a container's own address. Streams should be measured on
// that address, because the proxy behind a published port merges small writes
// (https://github.com/moby/moby/tree/master/cmd/docker-proxy).
func (e *Engine) Direct() bool {
	rootless := slices.ContainsFunc(e.info.SecurityOptions, func(o string) bool { return strings.Contains(o, "name=rootless") })
	return runtime.GOOS == "linux" && strings.HasPrefix(e.client.DaemonHost(), "unix:") && !rootless &&
		!strings.Contains(e.info.OperatingSystem, "Docker Desktop")
}

// HasRuntime reports whether the engine has the named container runtime, such as nvidia.
func (e *Engine) HasRuntime(name string) bool {
	_, has := e.info.Runtimes[name]
	return has
}

// Platform returns the processor architecture of the engine as a value of GOARCH.
func (e *Engine) Platform() (goarch string) {
	switch e.info.Architecture {
	case "x86_64":
		return "amd64"
	case "aarch64":
		return "arm64"
	}
	return e.info.Architecture
}
