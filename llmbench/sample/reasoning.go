package sample

// summarized is used by HidesReasoning. If a delta of reasoning has on average summarized times as many
// tokens as a delta of the rest of the answer, or more, the deltas are taken for a summary of the
// reasoning.
const summarized = 4

// HidesReasoning reports whether OutputTokens contains reasoning tokens that the server did not stream. The
// time between the first and the last delta is then shorter than the time in which the server generated
// OutputTokens.
//
// The number of deltas decides, because a delta has at least one token. The reasoning is hidden if it has
// no deltas. It is also hidden if its deltas have many more tokens each than the other deltas: the server
// then streams a summary, or sends all of the reasoning at once. The reasoning is not hidden if there are
// more deltas of the rest of the answer than the rest can have tokens. In that case reasoning is part of
// the text, or OutputTokens does not count it.
func (s *Sample) HidesReasoning() bool {
	reasoning, rest := s.ReasoningTokens, s.OutputTokens-s.ReasoningTokens
	if reasoning == 0 || rest < 0 || s.TokenSource != FromUsage || s.Outputs > rest+reasoning/2 {
		return false
	}
	return summarized*float64(s.Deltas-s.Outputs)*float64(rest) < float64(s.Outputs)*float64(reasoning)
}
