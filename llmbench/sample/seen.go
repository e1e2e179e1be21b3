package sample

import "time"

// Seen returns the instant of the first delta with something to see: a character that is neither white space
// nor invisible, such as a zero-width space. If no delta has one, Seen returns First.
//
// Latencies of the first token end here, because some gateways send blank deltas long before the model
// has generated a token, to keep the connection open. A model whose first token is a line feed has a TTFT that
// is one token longer than the time to that token.
func (s *Sample) Seen() time.Duration {
	at := s.First
	for _, gap := range s.Gaps[:s.gapsBefore()] {
		at += gap
	}
	return at
}

// SeenDelta returns the index of the delta that [Sample.Seen] means. The TTFT ends with this delta, and the TPOT and the
// ITL begin with it: all of them, here and in records, ask this method.
func (s *Sample) SeenDelta() int { return s.Blank }

// ITLs returns the times between successive deltas, from the delta that [Sample.Seen] means.
func (s *Sample) ITLs() []time.Duration { return s.Gaps[s.gapsBefore():] }

// gapsBefore returns the number of gaps before [Sample.Seen].
func (s *Sample) gapsBefore() int { return min(s.SeenDelta(), len(s.Gaps)) }

// blankPace limits the gap after a blank delta that counts as a token: to blankPace times the mean gap between the
// deltas from [Sample.Seen] on.
const blankPace = 4

// Heartbeats returns the number of blank deltas before [Sample.Seen] that cannot be tokens, because they came much
// more slowly than the tokens after them.
func (s *Sample) Heartbeats() int {
	n := min(s.Blank, len(s.Gaps))
	if n == 0 {
		return 0
	}
	pace := (s.Last - s.Seen()) / time.Duration(max(1, s.Deltas-s.SeenDelta()-1))
	for n > 0 && s.Gaps[n-1] <= blankPace*pace {
		n--
	}
	return n
}

// tokensBefore returns the number of tokens of the deltas before [Sample.Seen]. If the server does not report the
// number, such a delta counts as a token under two conditions: it is not one of the [Sample.Heartbeats], and the output
// has more tokens than the other deltas need.
func (s *Sample) tokensBefore() (n int) {
	before := s.SeenDelta()
	if before == 0 {
		return 0
	}
	if len(s.DeltaTokens) == s.Deltas {
		for _, tokens := range s.DeltaTokens[:before] {
			n += int(tokens)
		}
		return n
	}
	return min(before-s.Heartbeats(), max(0, s.OutputTokens-(s.Deltas-before)))
}
