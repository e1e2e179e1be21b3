package scenarios

import (
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// A Start is one start of a server, timed on the client's monotonic clock.
type Start struct {
	Ready      time.Duration   // from the start until the server could be asked
	FirstToken time.Duration   // from the start until the first token of a completion
	Target     llmbench.Target // what was started, for the configuration lines
}

// ColdStart measures how long a server takes to start: one op calls start once.
// Reported are the means over the ops, as start-to-ready-ns and
// start-to-first-token-ns. start starts the server from nothing, removes it, and
// ends b if something goes wrong. The time of the removal does not count.
func ColdStart(b *testing.B, start func(b *testing.B) Start) {
	b.Run("stream=true/concurrency=1", func(b *testing.B) {
		llmbench.Watch(b)
		var ready, first time.Duration
		for b.Loop() {
			s := start(b)
			if err := llmbench.Announce(b, s.Target); err != nil {
				b.Fatal(err)
			}
			ready += s.Ready
			first += s.FirstToken
		}
		b.ReportMetric(0, "ns/op") // which would include the removal
		b.ReportMetric(float64(ready)/float64(b.N), "start-to-ready-ns")
		b.ReportMetric(float64(first)/float64(b.N), "start-to-first-token-ns")
	})
}
