package sample

import (
	"iter"
	"slices"
	"time"
)

// Accepted returns the tokens that decode steps yielded, all output tokens but the first, and
// the number of these steps. It returns false if the answer states neither steps nor drafts. Where
// it states drafts only, each step yielded one token and the accepted ones.
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

// TokenGaps returns the gaps between successive tokens: each gap between deltas, divided by the
// tokens of the later delta, once for each of these tokens. The gap before a delta without a token
// counts to the next. There are none without DeltaTokens.
func (s *Sample) TokenGaps() iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		var since time.Duration
		for i, gap := range s.Gaps {
			if i+1 >= len(s.DeltaTokens) {
				return
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

// speculation sums up what is known of the tokens of deltas and of decode steps.
type speculation struct {
	tokens, deltas    float64     // after the first delta of each request
	counts            map[int]int // deltas after the first by their tokens, where these are stated
	accepted, steps   float64     // as answers state them
	drafted, ofDrafts float64     // drafted tokens, and the accepted ones among them
}

// add adds a successful request.
func (p *speculation) add(r *Sample) {
	if tokens, steps, ok := r.Accepted(); ok {
		p.accepted += float64(tokens)
		p.steps += float64(steps)
	}
	p.drafted += float64(r.Server.DraftTokens)
	p.ofDrafts += float64(r.Server.AcceptedTokens)
	if r.Deltas < 2 || r.OutputTokens < 2 || r.TokenSource == FromDeltas || r.HidesReasoning() {
		return
	}
	p.deltas += float64(r.Deltas - 1)
	if len(r.DeltaTokens) == 0 {
		p.tokens += float64(r.OutputTokens - 1)
		return
	}
	if p.counts == nil {
		p.counts = map[int]int{}
	}
	for _, n := range r.DeltaTokens[1:] {
		p.tokens += float64(n)
		p.counts[int(n)]++
	}
}

// StateDeltaTokens returns counts, the tokens that a server stated with each of n deltas, in the
// form of [Sample].DeltaTokens. It returns nil if the server did not state them with nine of ten
// deltas or more. The result is a new slice.
func StateDeltaTokens(counts []int32, n int) []int32 {
	none, several := 0, false
	for _, c := range counts {
		if c == 0 {
			none++
		}
		several = several || c > 1
	}
	if len(counts) != n || !several || none > n/10 {
		return nil
	}
	return slices.Clone(counts)
}
