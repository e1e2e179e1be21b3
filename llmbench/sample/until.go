package sample

import (
	"iter"
	"time"
)

// Within returns the share of the answer that came before Until, in [0,1]: the share of the output tokens of a stream,
// and the share of the E2E latency of another request. It is 1 if the pass has no such instant. Only this share of a
// request counts in rates, because the load decreases from Until on: the requests that were in flight end, and no
// others take their places.
func (s *Sample) Within() float64 {
	switch {
	case s.Until == 0 || s.End <= s.Until:
		return 1
	case s.Due >= s.Until:
		return 0
	}
	before, all := 0.0, 0.0
	for at, tokens := range s.tokens() {
		if all += tokens; at < s.Until {
			before += tokens
		}
	}
	if all == 0 { // no stream, or one whose tokens came before the delta that counts as the first
		return float64(s.Until-s.Due) / float64(s.End-s.Due)
	}
	return before / all
}

// tokens returns an iterator over the deltas from [Sample.Seen] on: the instant of each, and its weight, which is the
// number of its tokens if the server reported the tokens of each delta, and otherwise 1.
func (s *Sample) tokens() iter.Seq2[time.Duration, float64] {
	return func(yield func(time.Duration, float64) bool) {
		at := s.Seen()
		for i := s.SeenDelta(); i < s.Deltas; i++ {
			tokens := 1.0
			if len(s.DeltaTokens) == s.Deltas {
				tokens = float64(s.DeltaTokens[i])
			}
			if !yield(at, tokens) {
				return
			}
			if i < len(s.Gaps) {
				at += s.Gaps[i]
			}
		}
	}
}

// An after sums up what came after [Sample.Until]. No rate counts it.
type after struct{ n, good, prompt, output, promptChars, outputChars, inputs sum }

// add adds the part of a successful request that came after Until.
func (a *after) add(r *Sample, good bool) {
	within := r.Within()
	if within == 1 {
		return
	}
	late := 1 - within
	a.n.add(late)
	if good {
		a.good.add(late)
	}
	a.prompt.add(late * float64(r.PromptTokens))
	a.output.add(late * float64(r.OutputTokens))
	a.promptChars.add(late * float64(r.PromptChars))
	a.outputChars.add(late * float64(r.OutputChars))
	a.inputs.add(late * float64(r.Inputs))
}
