package backends

import (
	"errors"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// A ColdStart is the time that a server took to start. Both durations count from the start of its container or
// of its first program, on the client's monotonic clock. An image was already on the machine, and the files of
// programs and models may have been in the machine's page cache.
type ColdStart struct {
	// Ready is the time until the server could be asked: until a server in a container listed its model, or
	// until a [Process] listened on its port and answered at its Health path, if it has one.
	Ready      time.Duration
	FirstToken time.Duration // until the first token of a completion that was requested at once
	// Target describes the server, which has been stopped.
	Target llmbench.Target
}

// Cold starts the programs as Start does, and stops them when the server has sent its first token. An error ends tb.
func (p Process) Cold(tb testing.TB) ColdStart {
	tb.Helper()
	harness.Watch(tb)
	if err := p.check(); err != nil {
		tb.Fatalf("backends: %v", err)
	}
	s := newStarted(p, tb)
	s.cold = true
	err := s.start(harness.Context(tb))
	if err == nil && s.firstToken == 0 {
		err = errors.New(p.name() + ": the first answer had no token")
	}
	if err := errors.Join(err, s.stop()); err != nil {
		tb.Fatalf("backends: %s", redact.Known().Hide(err.Error()))
	}
	return ColdStart{Ready: s.ready, FirstToken: s.firstToken, Target: s.target}
}
