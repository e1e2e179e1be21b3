// Package container launches the servers that package backends describes in a
// Docker engine on this machine.
//
// A start goes through the stages of [backends.Deadlines]. The error of a stage includes the last lines of
// the server's log and, for known failures, advice. When the test or benchmark ends, the container is
// removed. If a process was killed, the next process that uses this package removes its containers.
//
// A server's port is published on 127.0.0.1 only. On Linux, requests go directly to the container's own
// address, because Docker's proxy behind a published port merges small writes. The configuration lines of
// the results contain everything that results must have in common to be comparable: image and digest,
// version, model, GPUs and settings.
//
// A server gets GPUs only if its GPUs field asks for them. The start fails if the engine cannot provide
// them.
package container

import (
	"fmt"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// A Backend launches a server in a container of its own. It implements
// [backends.Backend].
type Backend struct {
	Server backends.Server
}

// New returns a Backend for server. New is usually passed to [backends.FromConfig].
func New(server backends.Server) backends.Backend { return Backend{server} }

// Start calls the function [Start] with the backend's server.
func (b Backend) Start(tb testing.TB) llmbench.Target {
	tb.Helper()
	return Start(tb, b.Server)
}

// Start launches server in a container and returns it as a target when it has answered a completion, or
// ends tb with an error. The container is removed when tb ends. If the container has exited by itself
// before then, tb fails.
//
// If several processes (shards) measure together, shard 0 launches the server and tells the other shards
// the server's address. Each process takes the API key from its own environment. Start fails if a shard
// runs on another machine, which could not reach the container.
func Start(tb testing.TB, server backends.Server) llmbench.Target {
	tb.Helper()
	harness.Watch(tb)
	spec, err := server.Spec()
	if err != nil {
		tb.Fatalf("backends: %v", err)
	}
	var i *instance // nil except in shard 0
	told, err := harness.Lead("the start of "+spec.Backend, func() (reached, error) {
		if err := harness.CheckOneMachine(); err != nil {
			return reached{}, fmt.Errorf("%s: only this machine can reach its container, and these shards are %w; start the server, and set LLMBENCH_URL in all shards", spec.Backend, err)
		}
		var err error
		if i, err = start(harness.Context(tb), spec, tb.Logf); err != nil {
			return reached{}, err
		}
		t := i.target
		return reached{URL: t.URL, Model: t.Model, Config: t.Config, HasKey: spec.APIKey != ""}, nil
	})
	if i != nil {
		tb.Cleanup(func() {
			if err := i.stop(); err != nil {
				tb.Errorf("backends: %s", redact.Known().Hide(err.Error()))
			}
		})
	}
	if err == nil && told.HasKey != (spec.APIKey != "") {
		err = fmt.Errorf("%s: LLMBENCH_API_KEY is set in this process or in shard 0, and not in both: want the same key in all shards", spec.Backend)
	}
	if err != nil {
		tb.Fatalf("backends: %s", redact.Known().Hide(err.Error()))
	}
	if i != nil {
		return i.target
	}
	t := targetOf(spec)
	t.URL, t.Model, t.Config = told.URL, told.Model, told.Config
	return t
}

// A reached is what shard 0 tells the other shards about a server that it has launched. It contains no
// secret.
type reached struct {
	URL, Model string
	Config     map[string]string
	HasKey     bool // whether requests carry an API key
}
