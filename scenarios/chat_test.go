package scenarios

import (
	"fmt"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// BenchmarkChat is the comparison of chat servers by a single user and by four:
// prompts of 512 tokens, answers of 200.
func BenchmarkChat(b *testing.B) {
	each(b, func(b *testing.B, s server) {
		for _, load := range []struct {
			stream      bool
			concurrency int
		}{{true, 1}, {false, 4}, {true, 4}} {
			b.Run(fmt.Sprintf("workload=random-512x200/stream=%t/concurrency=%d", load.stream, load.concurrency), func(b *testing.B) {
				l := s.random(b, llmbench.Load{Concurrency: load.concurrency, NoStream: !load.stream},
					8*load.concurrency, 2*load.concurrency, 512, 200)
				s.run(b, l)
			})
		}
	})
}
