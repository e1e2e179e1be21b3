package scenarios

import (
	"fmt"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// BenchmarkConcurrency sweeps the number of users: throughput rises with it
// until the server is full, and from there only latency does.
func BenchmarkConcurrency(b *testing.B) {
	each(b, func(b *testing.B, s server) {
		for _, concurrency := range []int{1, 8, 16, 64} {
			b.Run(fmt.Sprintf("workload=random-512x128/stream=true/concurrency=%d", concurrency), func(b *testing.B) {
				l := s.random(b, llmbench.Load{Concurrency: concurrency}, min(8*concurrency, 256), concurrency, 512, 128)
				s.run(b, l)
			})
		}
	})
}
