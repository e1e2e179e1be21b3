package container

import (
	"testing"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// A ColdStart is the time that a server took to start.
type ColdStart = backends.ColdStart

// Cold launches server in a fresh container, and removes the container when the server has sent its first
// token. An error ends tb.
func Cold(tb testing.TB, server backends.Server) ColdStart {
	tb.Helper()
	harness.Watch(tb)
	var i *instance
	spec, err := server.Spec()
	if err == nil {
		i, err = start(harness.Context(tb), spec, tb.Logf)
	}
	if err == nil {
		err = i.stop()
	}
	if err != nil {
		tb.Fatalf("backends: %s", redact.Known().Hide(err.Error()))
	}
	if i.firstToken == 0 {
		tb.Fatalf("backends: %s: the first answer had no token", i.spec.Backend)
	}
	return ColdStart{Ready: i.ready, FirstToken: i.firstToken, Target: i.target}
}
