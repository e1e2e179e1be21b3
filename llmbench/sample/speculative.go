package sample

import (
	"iter"
	"time"
)

// Accepted returns the number of tokens that the decode steps of a request yielded, and the number of these
// steps. The tokens are all output tokens except the first. If the answer reports drafts but no steps, the
// steps are computed: each step yields one token besides the accepted ones. Accepted returns false if the
// answer reports neither steps nor drafts.
func (s *Sample) Accepted() (tokens, steps int, ok bool) {
	t := &s.Server
	switch {
	case t.DecodeSteps > 0 && s.OutputTokens > 1:
		return s.OutputTokens - 1, t.DecodeSteps, true
	case t.DraftTokens > 0 && t.OutputTokens-1 > t.AcceptedTokens:
		return t.OutputTokens - 1, t.OutputTokens - 1 - t.AcceptedTokens, true
	}
	return 0, 0, false
}

// TokenGaps returns the gaps between successive tokens. A gap before a delta of n tokens yields n gaps of
// one n-th. If a delta has no token, the gap before it is added to the next gap. If DeltaTokens is nil,
// there are no gaps. The gaps begin at the delta that [Sample.Seen] means.
func (s *Sample) TokenGaps() iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		var since time.Duration
		for i, gap := range s.Gaps {
			if i+1 >= len(s.DeltaTokens) {
				return
			}
			if i < s.SeenDelta() {
				continue
			}
			since += gap
			n := time.Duration(s.DeltaTokens[i+1])
			for range n {
				if !yield(since / n) {
					return
				}
			}
			if n > 0 {
				since = 0
			}
		}
	}
}

// speculation has sums over the tokens of deltas and of decode steps.
type speculation struct {
	tokens, deltas    float64     // both without the deltas of each request up to the one that Sample.Seen means
	counts            map[int]int // deltas after the first, by tokens, if the server reports the tokens
	accepted, steps   float64     // sums of the results of [Sample.Accepted]
	drafted, ofDrafts float64     // drafted tokens, and how many of them were accepted
}

// add adds a successful request.
func (p *speculation) add(r *Sample) {
	if tokens, steps, ok := r.Accepted(); ok {
		p.accepted += float64(tokens)
		p.steps += float64(steps)
	}
	p.drafted += float64(r.Server.DraftTokens)
	p.ofDrafts += float64(r.Server.AcceptedTokens)
	seen, before := r.SeenDelta(), r.tokensBefore()
	if r.Deltas-seen < 2 || r.OutputTokens-before < 2 || r.TokenSource == FromDeltas || r.HidesReasoning() {
		return
	}
	p.deltas += float64(r.Deltas - seen - 1)
	if len(r.DeltaTokens) == 0 {
		p.tokens += float64(r.OutputTokens - before - 1)
		return
	}
	if p.counts == nil {
		p.counts = map[int]int{}
	}
	for _, n := range r.DeltaTokens[seen+1:] {
		p.tokens += float64(n)
		p.counts[int(n)]++
	}
}
