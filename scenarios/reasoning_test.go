package scenarios

import (
	"fmt"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// BenchmarkReasoning is a model that thinks before it answers: its TTFT is that of
// the first thought, and p50-ttfo-ns is when its user sees something. Its answers
// end where the model ends them, so that an answer cut before its first visible
// token has no TTFO, and is counted in the log.
func BenchmarkReasoning(b *testing.B) {
	flow(b, func(b *testing.B, s server, full bool) {
		in, out := pick(full, 512, 128), pick(full, 4096, 64)
		concurrencies := pick(full, []int{1, 8, 32}, []int{1, 8})
		s = s.changed(b, func(c *mockserver.Config) { c.Shape.Reasoning = "reasoning_content" })
		b.Run(fmt.Sprintf("workload=random-%dx%d/stream=true", in, out), func(b *testing.B) {
			draw := func(n int, seed uint64) ([]llmbench.Request, error) {
				requests, err := s.prompts(in, out, seed).Requests(n)
				for i := range requests {
					requests[i].FixedOutput = false
				}
				return requests, err
			}
			asked, err := draw(1, s.cfg.Serve.Seed)
			if err != nil {
				b.Fatal(err)
			}
			if answer := s.once(b, asked[0]); answer.Outputs == answer.Deltas {
				llmbench.Skip(b, fmt.Sprintf("the server sent no reasoning: its answer begins %.60q", answer.Answer.Text))
			}
			for _, c := range concurrencies {
				b.Run(fmt.Sprintf("concurrency=%d", c), func(b *testing.B) {
					l := llmbench.Load{Concurrency: c, Units: []string{"mean-ttft-ns", "mean-ttfo-ns"}}
					samples := s.run(b, s.fresh(b, l, max(8, 2*c), c, draw))
					silent := 0
					for i := range samples {
						if samples[i].Outcome == sample.OK && samples[i].Outputs == 0 {
							silent++
						}
					}
					if silent > 0 {
						b.Logf("%d of %d answers were cut in their reasoning: they have no TTFO", silent, len(samples))
					}
				})
			}
		})
	})
}
