package container

import (
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// A ColdStart is the time that a server took to start. Both durations count from the start of the
// container, on the client's monotonic clock. The image was already on the machine, and the model's files
// may have been in the machine's page cache.
type ColdStart struct {
	Ready      time.Duration // until the server listed its model
	FirstToken time.Duration // until the first token of a completion that was requested at once
	// Target describes the server, which has been removed.
	Target llmbench.Target
}

// Cold launches server in a fresh container, and removes the container when the server has sent its first
// token. An error ends tb.
func Cold(tb testing.TB, server backends.Server) ColdStart {
	tb.Helper()
	llmbench.Watch(tb)
	i := launchFor(tb, server)
	if err := i.stop(); err != nil {
		tb.Fatalf("backends: %v", err)
	}
	if i.firstToken == 0 {
		tb.Fatalf("backends: %s: the first answer had no token", i.spec.Backend)
	}
	return ColdStart{Ready: i.ready, FirstToken: i.firstToken, Target: i.target}
}
