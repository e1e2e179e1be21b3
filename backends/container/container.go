// Package container launches the servers that package backends describes in a
// Docker engine on this machine.
//
// A start goes through the stages of [backends.Deadlines]. The error of a stage
// carries the last lines of the server's log and, if the failure is a known one,
// what to do about it. The end of the test or benchmark removes the container.
// Containers of processes that were killed are removed by the next process that
// uses this package.
//
// A server's port is published on 127.0.0.1 only. On Linux requests go to the
// container's own address, because Docker's proxy behind a published port bunches
// small writes. The configuration lines of the results name what makes them
// comparable: image and digest, version, model, GPUs and settings.
//
// A server gets GPUs only if its GPUs field asks for them. The start fails if the
// engine cannot grant them.
package container

import (
	"testing"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// A Backend launches a server in a container of its own. It implements
// [backends.Backend].
type Backend struct {
	Server backends.Server
}

// New returns a Backend for server. It is an argument of [backends.FromConfig].
func New(server backends.Server) backends.Backend { return Backend{server} }

// Start is [Start] of the backend's server.
func (b Backend) Start(tb testing.TB) llmbench.Target {
	tb.Helper()
	return Start(tb, b.Server)
}

// Start launches server in a container and returns it as a target when it has
// answered a completion, or ends tb with an error. The container is removed when
// tb ends. If the server has ended before that, tb fails.
func Start(tb testing.TB, server backends.Server) llmbench.Target {
	tb.Helper()
	llmbench.Watch(tb)
	i := launchFor(tb, server)
	tb.Cleanup(func() {
		if err := i.stop(); err != nil {
			tb.Errorf("backends: %v", err)
		}
	})
	return i.target
}

// launchFor launches server, or ends tb.
func launchFor(tb testing.TB, server backends.Server) *instance {
	tb.Helper()
	spec, err := server.Spec()
	if err != nil {
		tb.Fatalf("backends: %v", err)
	}
	i, err := start(llmbench.Context(tb), spec, tb.Logf)
	if err != nil {
		tb.Fatalf("backends: %v", err)
	}
	return i
}
