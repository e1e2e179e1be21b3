package sample

import (
	"iter"
	"time"
)

// IsWarmup reports whether the request began in the warm-up that is part of its pass: its t0 is before From. Such a request
// counts in rates, by [Sample.Within], and in no latency, share or number of requests.
func (s *Sample) IsWarmup() bool { return s.Due < s.From }

// Counts reports whether the request counts for latencies, shares and numbers of requests: it did not begin in a warm-up that is part of
// its pass, and is not a later turn of a session whose t0 is from Until on, when the load decreases.
func (s *Sample) Counts() bool {
	return !s.IsWarmup() && (s.Until == 0 || s.Turn == 0 || s.Due < s.Until)
}

// Measured returns the samples that count; see [Sample.Counts].
func Measured(samples iter.Seq[*Sample]) iter.Seq[*Sample] {
	return func(yield func(*Sample) bool) {
		for s := range samples {
			if s.Counts() && !yield(s) {
				return
			}
		}
	}
}

// During returns the samples as if their passes had been measured from the instant from until before the instant to, as a
// stage of a load is. Samples of requests that were not in flight in that time are left out. The others are copies.
func During(samples iter.Seq[*Sample], from, to time.Duration) iter.Seq[*Sample] {
	return func(yield func(*Sample) bool) {
		for s := range samples {
			if s.Due >= to || s.End <= from && s.Due < from {
				continue
			}
			one := *s
			if one.From, one.Until = from, to; !yield(&one) {
				return
			}
		}
	}
}

// Within returns the share of the answer that came from From until before Until, in [0,1]: the share of the output tokens of
// a stream, and the share of the E2E latency of another request. It is 1 if the pass has no such instants. Only this share
// of a request counts in rates. Before From the load had not yet reached its state, and from Until on it decreases: the
// requests that were in flight end, and no others take their places.
func (s *Sample) Within() float64 {
	switch {
	case s.Due >= s.From && (s.Until == 0 || s.End <= s.Until):
		return 1
	case s.clamp(s.Due) == s.clamp(s.End):
		return 0
	}
	within, all := 0.0, 0.0
	for at, tokens := range s.tokens() {
		if all += tokens; at >= s.From && (s.Until == 0 || at < s.Until) {
			within += tokens
		}
	}
	if all == 0 { // no stream, or one whose tokens came before the delta that counts as the first
		return float64(s.clamp(s.End)-s.clamp(s.Due)) / float64(s.End-s.Due)
	}
	return within / all
}

// clamp returns the instant from From to Until that is nearest to at.
func (s *Sample) clamp(at time.Duration) time.Duration {
	if s.Until > 0 {
		at = min(at, s.Until)
	}
	return max(at, s.From)
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

// An outside sums up what rates do not count of the measured requests, because it came after [Sample.Until], less what they
// count of the requests of a warm-up, because it came from [Sample.From] on.
type outside struct{ n, good, prompt, output, promptChars, outputChars, inputs sum }

// add adds a successful request.
func (o *outside) add(r *Sample, good bool) {
	share := -r.Within()
	if r.Counts() {
		share++
	}
	if share == 0 {
		return
	}
	o.n.add(share)
	if good {
		o.good.add(share)
	}
	o.prompt.add(share * float64(r.PromptTokens))
	o.output.add(share * float64(r.OutputTokens))
	o.promptChars.add(share * float64(r.PromptChars))
	o.outputChars.add(share * float64(r.OutputChars))
	o.inputs.add(share * float64(r.Inputs))
}
