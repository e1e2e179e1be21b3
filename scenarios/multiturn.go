package scenarios

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// multiTurn measures conversations. Each turn sends everything that was said before, including the server's
// replies, so prompts grow and a prefix cache can help. p50-ttft-turnN-ns is the TTFT of turn N. A turn
// that fails ends its session, and the session's remaining turns count as failed.
//
// The number of turns, the lengths and the times to think are those in the options. If they are distributions, each
// pass has the same numbers. A time to think is part of the schedule, and of no latency.
func multiTurn(b *testing.B, s server) {
	name, s, t, err := s.conversation()
	if err != nil {
		b.Fatal(err)
	}
	b.Run(fmt.Sprintf("workload=%s/stream=true", name), func(b *testing.B) {
		session, err := t.short()
		if err != nil {
			b.Fatal(err)
		}
		s.once(b, session)
		s.perUsers(b, pick(s, []int{1, 8, 32}, []int{1, 8}), func(b *testing.B, users int) {
			l := llmbench.Load{Concurrency: users, MeasuresCache: true}
			s.run(b, s.fresh(b, l, s.requests(s.fewest(max(3, 2*users), users, 1)), 1, t.sessions))
		})
	})
}

// fitsMultiTurn returns an error unless a data set is random words without a common prefix.
func fitsMultiTurn(dataset string) error {
	if rest, _, err := benchdata.Separate(dataset, "lengths"); err == nil && rest != "random" {
		return fmt.Errorf("dataset %q: want random, with no other parameters than input, output and lengths", dataset)
	}
	return nil
}

// A conversation is the shape of a session.
type conversation struct {
	turns           *benchdata.Distribution
	think           pause
	opening, others drawFunc // of the first turns, and of what the users say in the later turns
	seed            uint64   // of turns and think
}

// conversation returns the shape of the sessions in the options, its name, and s with its configuration lines.
func (s server) conversation() (name string, with server, t conversation, err error) {
	o := s.options
	if t.turns, err = benchdata.ParseCount(cmp.Or(o.Turns, "5")); err != nil {
		return "", s, t, err
	}
	usual := pick(s, "1s", "0s")
	if t.think, err = parsePause(cmp.Or(o.Think, usual)); err != nil {
		return "", s, t, err
	}
	t.seed = o.Seed
	config := map[string]string{}
	if think := t.think.String(); think != usual {
		config["think"] = think
	}
	later := s
	later.template, later.options.Seed = 0, o.Seed+1<<32
	first, in, out := pick(s, 1024, 256), pick(s, 128, 64), pick(s, 256, 32)
	_, with, t.opening = s.prompted(first, out)
	_, _, t.others = later.prompted(in, out)
	turns, one := t.turns.Constant()
	if !one {
		config["turns"] = t.turns.String()
	}
	switch plain := o.Dataset == "" || o.Dataset == "random"; {
	case plain && one:
		name = fmt.Sprintf("turns-%dx%d-%dx%d", turns, cmp.Or(o.Input, first), cmp.Or(o.Input, in), cmp.Or(o.Output, out))
	case plain:
		name = fmt.Sprintf("turns-%d-%dx%d", cmp.Or(o.Input, first), cmp.Or(o.Input, in), cmp.Or(o.Output, out))
	case one:
		name = fmt.Sprintf("turns-%d", turns)
	default:
		name = "turns"
	}
	return name, with.withConfig(config), t, nil
}

// short returns a session of two turns without a time to think.
func (t conversation) short() (llmbench.Request, error) {
	all, err := t.opening(1, t.seed)
	if err != nil {
		return llmbench.Request{}, err
	}
	next, err := t.others(1, t.seed+1<<32)
	if err != nil {
		return llmbench.Request{}, err
	}
	all[0].Then = []llmbench.Turn{{Prompt: next[0].Prompt, MaxTokens: next[0].MaxTokens, FixedOutput: true}}
	return all[0], nil
}

// sessions returns n conversations of random words. The turns and the times to think of a session depend on the seed and on
// the place of the session, and not on n.
func (t conversation) sessions(n int, seed uint64) ([]llmbench.Request, error) {
	all, err := t.opening(n, seed)
	if err != nil {
		return nil, err
	}
	drawn := make([]*rand.Rand, n) // a session's own draws, so that they do not depend on n
	counts, sum := make([]int, n), 0
	for i := range counts {
		drawn[i] = rand.New(rand.NewPCG(t.seed, 0x7475726e73+uint64(i)))
		counts[i] = int(t.turns.Draw(drawn[i])) - 1
		sum += counts[i]
	}
	if sum == 0 {
		return all, nil
	}
	others, err := t.others(sum, seed+1<<32)
	if err != nil {
		return nil, err
	}
	for i, count := range counts {
		for _, r := range others[:count] {
			turn := llmbench.Turn{Prompt: r.Prompt, MaxTokens: r.MaxTokens, FixedOutput: true}
			all[i].Then = append(all[i].Then, t.think.before(turn, t.think.times.Draw(drawn[i])))
		}
		others = others[count:]
	}
	return all, nil
}
