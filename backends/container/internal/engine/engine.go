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

// ErrUnavailable is wrapped by the error of [Connect] when there is no engine
// that can be used.
var ErrUnavailable = errors.New("no Docker engine")

// connectTimeout bounds the first talk with the engine, the removal of what
// dead runs left behind included.
const connectTimeout = time.Minute

// An Engine is the Docker engine of this machine. It is safe for concurrent
// use.
type Engine struct {
	provider *testcontainers.DockerProvider
	client   client.APIClient
	info     system.Info
	owner    *owner
}

// Connect returns the engine, always the same one: that of DOCKER_HOST or where
// testcontainers finds it. It first removes what dead runs left behind. Its
// error wraps [ErrUnavailable].
func Connect() (*Engine, error) { return connect() }

var connect = sync.OnceValues(func() (*Engine, error) {
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	tclog.SetDefault(tclog.NewNoopLogger()) // it would write to standard error, between results
	if err := prepare(ctx); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	p, err := testcontainers.NewDockerProvider(testcontainers.WithLogger(tclog.NewNoopLogger()))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	e := &Engine{provider: p, client: p.Client()}
	if err := here(e.client.DaemonHost()); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	info, err := e.client.Info(ctx, client.InfoOptions{})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if e.info = info.Info; e.info.OSType != "linux" {
		return nil, fmt.Errorf("%w: it runs containers of %s; want linux", ErrUnavailable, e.info.OSType)
	}
	if e.owner, err = newOwner(); err != nil {
		return nil, fmt.Errorf("%w: its containers could not be told from those of dead runs: %w", ErrUnavailable, err)
	}
	if err := e.owner.removeLeftovers(ctx, e.client); err != nil {
		return nil, fmt.Errorf("what a dead run left behind cannot be removed: %w", err)
	}
	return e, nil
})

// reaperImage is what testcontainers-go v0.44.0 runs to remove containers of
// processes that died.
const reaperImage = "testcontainers/ryuk:0.14.0"

// prepare says why the engine of DOCKER_HOST cannot be used, as testcontainers
// would then take another; and it tells testcontainers to do without its reaper,
// unless the engine is seen to have its image: it would try to pull it before
// each run. It reads that once, from the environment, when it is first used.
func prepare(ctx context.Context) error {
	cli, err := client.New(client.FromEnv)
	if err != nil {
		return err
	}
	defer cli.Close()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if os.Getenv("DOCKER_HOST") != "" {
		if err := here(cli.DaemonHost()); err != nil {
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

// here says why an engine is on another machine: ports would be opened there,
// and on 127.0.0.1 at that, and folders of models looked for.
func here(host string) error {
	u, err := url.Parse(host)
	if err != nil {
		return err
	}
	if u.Scheme == "unix" || u.Scheme == "npipe" || u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback() {
		return nil
	}
	return fmt.Errorf("%s is on another machine; want one on this: run the benchmark there, or start the server by hand and set LLMBENCH_URL", host)
}

// Direct reports whether a container's own address can be reached from here.
// Streams are to be measured on that where it can: the proxy behind a published
// port bunches small writes (https://github.com/moby/moby/tree/master/cmd/docker-proxy).
func (e *Engine) Direct() bool {
	rootless := slices.ContainsFunc(e.info.SecurityOptions, func(o string) bool { return strings.Contains(o, "name=rootless") })
	return runtime.GOOS == "linux" && strings.HasPrefix(e.client.DaemonHost(), "unix:") && !rootless &&
		!strings.Contains(e.info.OperatingSystem, "Docker Desktop")
}

// HasRuntime reports whether the engine has a runtime of that name, such as
// nvidia.
func (e *Engine) HasRuntime(name string) bool {
	_, has := e.info.Runtimes[name]
	return has
}

// Platform is the engine's processor, in Go's terms.
func (e *Engine) Platform() (goarch string) {
	switch e.info.Architecture {
	case "x86_64":
		return "amd64"
	case "aarch64":
		return "arm64"
	}
	return e.info.Architecture
}
