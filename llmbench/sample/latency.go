package sample

import (
	"fmt"
	"slices"
	"time"
)

// A latency is a quantity for which each request has one or several durations. The statistics of these
// durations, such as p50, are units.
type latency struct {
	name   string
	short  string // what it is, if the latency is adjusted
	means  string
	family Family
	core   []Statistic // statistics that are always reported; the others are reported only with all units
	// One of these functions is not nil. It returns the duration of s, if there is one, or the durations of
	// s. It is called for successful requests only.
	one     func(s *Sample) (time.Duration, bool)
	several func(s *Sample) []time.Duration
}

// TTFT returns the time to first token: from t0 to [Sample.Seen]. It returns false if the answer was not
// streamed or has no text.
func (s *Sample) TTFT() (time.Duration, bool) { return s.Seen() - s.Due, s.Deltas > 0 }

// TTFO returns the time to first output: from t0 to the first delta with more than reasoning, which is the
// first part of the answer that a user sees
// (https://github.com/ai-dynamo/aiperf/blob/main/docs/metrics-reference.md). It returns false if the answer
// was not streamed or has only reasoning.
func (s *Sample) TTFO() (time.Duration, bool) { return s.FirstOutput - s.Due, s.Outputs > 0 }

// E2E returns the E2E latency: from t0 to the last delta, or to the end of the body if the
// answer was not streamed. It returns false for a stream without text.
func (s *Sample) E2E() (time.Duration, bool) {
	if !s.Streamed {
		return s.End - s.Due, true
	}
	return s.Last - s.Due, s.Deltas > 0
}

// TPOT returns the time per output token after the first: (last delta - first delta) / (output tokens - 1).
// The first delta is the one that [Sample.Seen] means; tokens before it do not count. TPOT returns false if
// there are fewer than two tokens or two deltas, or if the server counted tokens that it did not stream.
func (s *Sample) TPOT() (time.Duration, bool) {
	tokens := s.OutputTokens - s.tokensBefore()
	if s.Deltas-s.SeenDelta() < 2 || tokens < 2 || s.HidesReasoning() {
		return 0, false
	}
	return (s.Last - s.Seen()) / time.Duration(tokens-1), true
}

// service changes a latency that counts from t0 so that it counts from the send. The result is only for requests
// of an open loop: in a closed loop, t0 is the send.
func service(duration func(s *Sample) (time.Duration, bool)) func(s *Sample) (time.Duration, bool) {
	return func(s *Sample) (time.Duration, bool) {
		d, ok := duration(s)
		return d - (s.Start - s.Due), ok && s.Scheduled
	}
}

// ttfo is the name of the time to first output. It equals the TTFT if no answer has reasoning.
const ttfo = "ttfo"

var latencies = []latency{
	{"ttft", "the TTFT", "the time to first token: from t0 to the first delta of generated text (content, reasoning or tool-call arguments) with something to see. White space and invisible characters alone do not count, unless the answer has nothing else", FamilyTTFT, []Statistic{P50, P99}, (*Sample).TTFT, nil},
	{ttfo, "", "the time to first output: from t0 to the first delta with more than reasoning, with something to see. Omitted if no answer has reasoning", FamilyTTFT, []Statistic{P50}, (*Sample).TTFO, nil},
	{"tpot", "the TPOT", "the time per output token: (last delta - first delta) / (output tokens - 1), from the delta where the TTFT ends, without hidden reasoning tokens", FamilyTPOT, []Statistic{Mean}, (*Sample).TPOT, nil},
	{"itl", "", "the gaps between successive deltas, from the delta where the TTFT ends, pooled over requests; a delta may hold several tokens. Omitted if it would be 0, because deltas came together", FamilyITL, []Statistic{P99}, nil,
		func(s *Sample) []time.Duration { return s.ITLs() }},
	{"token-itl", "", "the gaps between successive tokens, pooled over requests: the gap before a delta of n tokens counts as n gaps of one n-th. Only if the server reports n, and some n is more than 1", FamilyITL, []Statistic{P99}, nil,
		func(s *Sample) []time.Duration { return slices.Collect(s.TokenGaps()) }},
	{"e2e", "the E2E latency", "the E2E latency: from t0 to the last delta, or to the end of the body of an answer that is not streamed", FamilyE2E, []Statistic{P50}, (*Sample).E2E, nil},
	{"service-ttft", "", "the time from the send to the delta where the TTFT ends, in an open loop", FamilyTTFT, nil, service((*Sample).TTFT), nil},
	{"service-e2e", "", "the time from the send to the last delta, in an open loop", FamilyE2E, nil, service((*Sample).E2E), nil},
	{"read-lag", "", "the time from the kernel's receive timestamp of a delta to the client's read, pooled over requests", FamilyOther, []Statistic{P99}, nil,
		func(s *Sample) []time.Duration { return s.Lags }},
}

// statistics returns the statistics of a latency, in the order of reports. If requests have several
// durations, there is no P99Bound: durations of one request are not independent of each other, so the bound
// would be too optimistic.
func (l latency) statistics() []Statistic {
	if l.several != nil {
		return []Statistic{Mean, P50, P90, P99}
	}
	return []Statistic{Mean, P50, P90, P99, P99Bound}
}

// gates are the changes of latencies that benchgate tolerates, by unit. They cover the median wait and the
// mean pace. Tails have no gate, because they need many more samples. In 20 comparisons of equal versions
// on the mock, the medians of six to eight samples of output-tok/s, p50-ttft-ns and mean-tpot-ns differed
// by at most 0.17, 0.76 and 0.26 %.
var gates = map[string]string{P50TTFT: "5%", MeanTPOT: "2%"}

// latencyUnits returns the units of all latencies.
func latencyUnits() (all []Unit) {
	for _, l := range latencies {
		for _, s := range l.statistics() {
			name := unitName(s, l.name)
			core := slices.Contains(l.core, s) || s == P99Bound && slices.Contains(l.core, P99)
			all = append(all, Unit{
				Name: name, Better: "lower", Core: core, Means: s.phrase() + l.means + ".",
				Gate: gates[name], Family: l.family, Statistic: s,
			})
		}
	}
	return all
}

// phrase returns the beginning of a sentence that defines a statistic.
func (s Statistic) phrase() string {
	switch s {
	case Mean:
		return "Mean of "
	case P50:
		return "Median of "
	case P99Bound:
		return "Upper 95 % confidence bound of the 99th percentile of "
	}
	return fmt.Sprintf("%dth percentile of ", s.Percent())
}

// maxTurns is the number of turns of a session that have a unit for their TTFT.
const maxTurns = 8

// turnUnits returns the units for the TTFT of each turn.
func turnUnits() (all []Unit) {
	for turn := range maxTurns {
		all = append(all, Unit{
			Name: turnUnit(turn), Better: "lower", Core: true, Means: fmt.Sprintf("Median TTFT of turn %d of each session.", turn+1),
			Family: FamilyTTFT, Statistic: P50,
		})
	}
	return all
}

// turnUnit returns the name of the unit for the TTFT of a turn. Names count turns from 1, samples from 0.
func turnUnit(turn int) string { return fmt.Sprintf("p50-ttft-turn%d-ns", turn+1) }

func unitName(s Statistic, latency string) string {
	if s == P99Bound {
		return "p99-" + latency + "-bound-ns"
	}
	return string(s) + "-" + latency + "-ns"
}
