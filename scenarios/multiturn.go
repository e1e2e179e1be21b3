package scenarios

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// multiTurn measures conversations. Each turn sends everything that was said before, including the server's
// replies, so prompts grow and a prefix cache can help. p50-ttft-turnN-ns is the TTFT of turn N. A turn
// that fails ends its session, and the session's remaining turns count as failed.
func multiTurn(b *testing.B, s server) {
	t := conversation{
		turns: 5,
		first: cmp.Or(s.options.Input, pick(s, 1024, 256)), in: cmp.Or(s.options.Input, pick(s, 128, 64)), out: cmp.Or(s.options.Output, pick(s, 256, 32)),
		think: pick(s, time.Second, 0),
	}
	name := fmt.Sprintf("workload=turns-%dx%d-%dx%d/stream=true", t.turns, t.first, t.in, t.out)
	b.Run(name, func(b *testing.B) {
		draw := func(n int, seed uint64) ([]llmbench.Request, error) { return s.sessions(n, t, seed) }
		short := t
		short.turns, short.think = 2, 0
		session, err := s.sessions(1, short, s.options.Seed)
		if err != nil {
			b.Fatal(err)
		}
		s.once(b, session[0])
		s.perUsers(b, pick(s, []int{1, 8, 32}, []int{1, 8}), func(b *testing.B, users int) {
			l := llmbench.Load{Concurrency: users, MeasuresCache: true}
			s.run(b, s.fresh(b, l, s.requests(s.fewest(max(3, 2*users), users, 1)), 1, draw))
		})
	})
}

// A conversation is the shape of a session. The first prompt has first tokens, and in each later turn the
// user adds in tokens. Each reply has out tokens. After each reply the user thinks for the time think.
type conversation struct {
	turns, first, in, out int
	think                 time.Duration
}

// sessions returns n conversations of random words.
func (s server) sessions(n int, t conversation, seed uint64) ([]llmbench.Request, error) {
	all, err := s.prompts(t.first, t.out, seed).Requests(n)
	if err != nil {
		return nil, err
	}
	p := s.prompts(t.in, t.out, seed+1<<32)
	p.Template = 0
	further, err := p.Requests(n * (t.turns - 1))
	if err != nil {
		return nil, err
	}
	for i := range all {
		for _, r := range further[i*(t.turns-1):][:t.turns-1] {
			all[i].Then = append(all[i].Then, llmbench.Turn{Prompt: r.Prompt, MaxTokens: t.out, FixedOutput: true, Think: t.think})
		}
	}
	return all, nil
}
