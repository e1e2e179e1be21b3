package backends

import (
	"sync"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/about"
	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
)

// silent holds the servers that left a question about themselves without an answer. Later benchmarks do not ask them.
var silent sync.Map // URL to true

// describe asks the server t what it is, and adds the answers to its configuration. If several processes measure together, one
// of them asks. The error says that the connection to another process is lost: a server that answers nothing is no error.
func (u URL) describe(tb testing.TB, t *llmbench.Target, source metrics.Source) error {
	if _, known := silent.Load(t.URL); known {
		return nil
	}
	facts, err := harness.Lead("what the server says about itself", func() (about.Facts, error) {
		return about.Ask(harness.Context(tb), *t, source), nil
	})
	if err != nil {
		return err
	}
	if facts.Silent != "" {
		silent.Store(t.URL, true)
		harness.Note(tb, "the results may lack lines about the server, which did not say what it is: "+t.Redact(facts.Silent))
	}
	facts.AddTo(t.Config)
	t.Context = facts.Refuses
	return nil
}
