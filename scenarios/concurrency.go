package scenarios

import (
	"fmt"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// concurrency measures a few numbers of users: throughput rises with the number
// until the server is full; beyond that only latency rises.
func concurrency(b *testing.B, s server) {
	for _, users := range s.concurrencies(1, 8, 16, 64) {
		b.Run(fmt.Sprintf("workload=random-512x128/stream=true/concurrency=%d", users), func(b *testing.B) {
			n := s.requests(max(users, min(8*users, 256)))
			s.run(b, s.random(b, llmbench.Load{Concurrency: users}, n, users, 512, 128))
		})
	}
}
