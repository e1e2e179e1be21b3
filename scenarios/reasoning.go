package scenarios

import (
	"fmt"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// reasoning measures a model that reasons before it answers. TTFT is the time to the first token of the
// reasoning, and p50-ttfo-ns is the time until the user sees a token. The model decides where an answer
// ends. Answers that are cut within the reasoning have no TTFO; their number is logged.
func reasoning(b *testing.B, s server) {
	in, out := s.lengths(pick(s, 512, 128), pick(s, 4096, 64))
	b.Run(fmt.Sprintf("workload=random-%dx%d/stream=true", in, out), func(b *testing.B) {
		draw := func(n int, seed uint64) ([]llmbench.Request, error) {
			requests, err := s.prompts(in, out, seed).Requests(n)
			for i := range requests {
				requests[i].FixedOutput = false
			}
			return requests, err
		}
		first, err := draw(1, s.options.Seed)
		if err != nil {
			b.Fatal(err)
		}
		if answer := s.once(b, first[0]); answer.Outputs == answer.Deltas {
			harness.Skip(b, fmt.Sprintf("the server sent no reasoning: its answer begins %q", s.target.Excerpt(answer.Answer.Text, 60)))
		}
		s.perUsers(b, pick(s, []int{1, 8, 32}, []int{1, 8}), func(b *testing.B, users int) {
			l := llmbench.Load{Concurrency: users, Units: sample.Named(sample.MeanTTFT, sample.MeanTTFO)}
			cut, all := 0, 0
			for answer := range s.run(b, s.fresh(b, l, s.requests(s.fewest(max(8, 2*users), users, 2)), users, draw)).All() {
				all++
				if answer.Outcome == sample.OK && answer.Outputs == 0 {
					cut++
				}
			}
			if cut > 0 {
				b.Logf("%d of %d answers were cut within their reasoning: they have no TTFO", cut, all)
			}
		})
	})
}
