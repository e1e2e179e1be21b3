package backends

import (
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// A ColdStart is how long a server took to start: from the start of its
// container, whose image was there, on the client's monotonic clock. The model's
// files may have been in the memory of the machine.
type ColdStart struct {
	Ready      time.Duration // until the server listed its model
	FirstToken time.Duration // until the first token of a completion, asked for at once
	// Target is what the server was; it is gone.
	Target llmbench.Target
}

// Cold starts the server of a backend in a fresh container, and removes it when
// it has sent its first token; what goes wrong ends tb. It is not ok if the
// backend does not run in a container.
func Cold(tb testing.TB, b Backend) (c ColdStart, ok bool) {
	tb.Helper()
	llmbench.Watch(tb)
	in, ok := b.(contained)
	if !ok {
		return ColdStart{}, false
	}
	s, err := in.spec()
	if err != nil {
		tb.Fatalf("backends: %v", err)
	}
	r, err := run(llmbench.Context(tb), s, tb.Logf)
	if err == nil {
		err = r.stop()
	}
	if err != nil {
		tb.Fatalf("backends: %v", err)
	}
	if r.first == 0 {
		tb.Fatalf("backends: %s: its first answer had no token", s.backend)
	}
	return ColdStart{Ready: r.ready, FirstToken: r.first, Target: r.target}, true
}
