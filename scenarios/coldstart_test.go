package scenarios

import (
	"cmp"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// BenchmarkColdStart is how long a server takes from the start of its container
// until it can be asked, and until its first token: one op is one start. Its
// figures are means over the ops.
func BenchmarkColdStart(b *testing.B) {
	cfg, all := asked(b)
	for _, backend := range all {
		name := "backend=" + llmbench.NameValue(backend.Name) + "/" + modelName(cfg, cmp.Or(cfg.Model, "mock"))
		b.Run(name+"/stream=true/concurrency=1", func(b *testing.B) {
			var ready, first float64
			for b.Loop() {
				c, contained := backends.Cold(b, backend.Backend)
				if !contained {
					llmbench.Skip(b, backend.Name+" does not run in a container")
				}
				if err := llmbench.Announce(b, c.Target); err != nil {
					b.Fatal(err)
				}
				ready += float64(c.Ready)
				first += float64(c.FirstToken)
			}
			b.ReportMetric(0, "ns/op") // the time of the removal is in it
			b.ReportMetric(ready/float64(b.N), "start-to-ready-ns")
			b.ReportMetric(first/float64(b.N), "start-to-first-token-ns")
		})
	}
}
