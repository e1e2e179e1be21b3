package scenarios

import (
	"fmt"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// BenchmarkMultiTurn is users who talk: each turn sends all that was said before,
// the server's own replies too, so that prompts grow and a prefix cache can help.
// p50-ttft-turnN-ns is the TTFT of turn N. A turn that fails ends its session, whose
// other turns are failures too.
func BenchmarkMultiTurn(b *testing.B) {
	flow(b, func(b *testing.B, s server, full bool) {
		const turns = 5
		first, in, out := pick(full, 1024, 256), pick(full, 128, 64), pick(full, 256, 32)
		think := pick(full, time.Second, 0)
		name := fmt.Sprintf("workload=turns-%dx%d-%dx%d/stream=true", turns, first, in, out)
		b.Run(name, func(b *testing.B) {
			draw := func(n int, seed uint64) ([]llmbench.Request, error) {
				return s.sessions(n, turns, first, in, out, think, seed)
			}
			asked, err := s.sessions(1, 2, first, in, out, 0, s.cfg.Serve.Seed)
			if err != nil {
				b.Fatal(err)
			}
			s.once(b, asked[0])
			for _, c := range pick(full, []int{1, 8, 32}, []int{1, 8}) {
				b.Run(fmt.Sprintf("concurrency=%d", c), func(b *testing.B) {
					s.run(b, s.fresh(b, llmbench.Load{Concurrency: c, Units: []string{"cached-%"}}, max(3, 2*c), 1, draw))
				})
			}
		})
	})
}

// sessions are n conversations of random words: a first prompt of first tokens,
// and in tokens from the user in each turn after it.
func (s server) sessions(n, turns, first, in, out int, think time.Duration, seed uint64) ([]llmbench.Request, error) {
	all, err := s.prompts(first, out, seed).Requests(n)
	if err != nil {
		return nil, err
	}
	p := s.prompts(in, out, seed+1<<32)
	p.Template = 0
	further, err := p.Requests(n * (turns - 1))
	if err != nil {
		return nil, err
	}
	for i := range all {
		for _, r := range further[i*(turns-1):][:turns-1] {
			all[i].Then = append(all[i].Then, llmbench.Turn{Prompt: r.Prompt, MaxTokens: out, FixedOutput: true, Think: think})
		}
	}
	return all, nil
}
