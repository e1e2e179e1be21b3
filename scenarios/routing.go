package scenarios

import (
	"fmt"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// routing measures a router with several servers behind it. The prompts of a group begin alike, and the
// groups come in random order, which is the same in each pass. A router that sends a group to one server
// finds more in the prefix caches (cached-%, p50-ttft-hit-ns), but may load servers unevenly, which the
// tail shows (p99-ttft-ns). Before each pass the caches have to be empty: passes have different words.
func routing(b *testing.B, s server) {
	p := pick(s, benchdata.SharedPrefix{PerGroup: 32, System: 2048, Question: 128, Output: 128},
		benchdata.SharedPrefix{PerGroup: 8, System: 512, Question: 64, Output: 16})
	groups := pick(s, 32, 16, 13) // 13 are the fewest that have a 99th percentile
	p, s, err := s.prefixed(p)
	if err != nil {
		b.Fatal(err)
	}
	n := s.requests(groups * p.PerGroup)
	p.Seed = s.options.Seed
	b.Run(fmt.Sprintf("workload=prefixes-%dx%d-%dx%d/stream=true", (n+p.PerGroup-1)/p.PerGroup, p.PerGroup, p.System, p.Question), func(b *testing.B) {
		s.perUsers(b, pick(s, []int{16, 64}, []int{8}), func(b *testing.B, users int) {
			l := llmbench.Load{Concurrency: users, Units: sample.Named(sample.P99TTFT, sample.P99E2E)}
			s.run(b, s.prefixLoad(b, l, n, func(seed uint64) benchdata.SharedPrefix {
				p := p
				p.Salt = s.salt ^ seed // which changes the words and not the order
				return p
			}))
		})
	})
}
