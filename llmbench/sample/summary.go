package sample

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// A Summary is the result of one or more passes.
type Summary struct {
	Requests  int                 // number of requests, without the requests of a warm-up that is part of the pass
	Outcomes  map[Outcome]int     // number of requests by outcome
	Sources   map[TokenSource]int // number of successful requests by token source
	Clocks    map[Clock]int       // number of successful requests by clock
	Connected int                 // number of requests that had to open a connection
	Resent    int                 // number of requests that were sent more than once
	Elapsed   time.Duration       // sum over the passes
	// Metrics has the value of each unit that can be computed from the samples. Times are in nanoseconds.
	// No value is NaN or infinite.
	Metrics map[string]float64
	// Contradictions says, in one sentence each, which metrics are missing because the server's numbers
	// contradict each other.
	Contradictions []string
	// Unbounded has the adj- units that are missing because their percentile is the latency of a failed request.
	Unbounded []string
	// DeltaTokens has the number of deltas for each number of tokens in a delta. It does not count the
	// first delta of a request, nor requests without [Sample].DeltaTokens. It is nil if there are no such
	// deltas.
	DeltaTokens map[int]int
	// Steady has the steady part of each pass, or the reason why the pass has none.
	Steady []Steady
}

// Add adds metrics to s.Metrics, except NaN and infinite ones.
func (s *Summary) Add(figures map[string]float64) {
	for unit, v := range figures {
		s.set(unit, v, true)
	}
}

// set sets the value of a unit if known is true and the value is finite.
func (s *Summary) set(unit string, v float64, known bool) {
	if known && !math.IsNaN(v) && !math.IsInf(v, 0) {
		s.Metrics[unit] = v
	}
}

// Failed returns the number of failed requests, including shed ones: the requests whose outcome is neither
// [OK] nor [Left].
func (s Summary) Failed() int { return s.Requests - s.Outcomes[OK] - s.Outcomes[Left] }

// All returns an iterator over samples that are in memory.
func All(samples ...Sample) iter.Seq[*Sample] {
	return func(yield func(*Sample) bool) {
		for i := range samples {
			if !yield(&samples[i]) {
				return
			}
		}
	}
}

// Summarize computes the units from samples. The argument elapsed is the sum of [Elapsed] over the passes.
// Summarize ranges over samples several times, and keeps none of them. The order of the samples does not
// change the results.
//
// Summarize omits a unit that it cannot compute from the samples: a percentile of too few values, the TTFT
// of answers that were not streamed, a token count if the tokens of an answer are unknown, and a rate if no
// time elapsed.
func Summarize(samples iter.Seq[*Sample], elapsed time.Duration, slo SLO) Summary {
	s := Summary{
		Outcomes: map[Outcome]int{},
		Sources:  map[TokenSource]int{},
		Clocks:   map[Clock]int{},
		Elapsed:  elapsed,
		Metrics:  map[string]float64{},
	}
	t := newTotals(slo)
	var p passes
	for r := range samples {
		p.extend(r)
		if !r.Counts() {
			t.carry(r)
			continue
		}
		s.count(r)
		t.add(r)
	}
	// This loop reads the requests again: as often as the quantiles need, and once for the steady parts.
	wants := t.wants()
	for steady := p.divide(); wants || steady; steady = false {
		for r := range samples {
			if wants && r.Counts() {
				t.again(r)
			}
			if steady {
				p.add(r)
			}
		}
		wants = wants && t.wants()
	}
	t.setRates(&s)
	t.setMeans(&s)
	t.setLatencies(&s)
	s.set(LeftShare, 100*float64(s.Outcomes[Left])/float64(s.Requests), s.Outcomes[Left] > 0)
	s.set(ShedShare, 100*float64(s.Outcomes[Shed])/float64(s.Requests), s.Outcomes[Shed] > 0)
	s.set(ResentShare, 100*float64(s.Resent)/float64(s.Requests), s.Resent > 0)
	s.set(FailShare, 100*float64(s.Failed()-s.Outcomes[Shed])/float64(s.Requests), s.Requests > 0)
	s.takeSteady(p.settle())
	return s
}

// count counts a request.
func (s *Summary) count(r *Sample) {
	s.Requests++
	s.Outcomes[r.Outcome]++
	if r.Connect > 0 {
		s.Connected++
	}
	if r.Resent > 0 {
		s.Resent++
	}
	if r.Outcome == OK {
		s.Sources[r.TokenSource]++
		s.Clocks[r.Clock]++
	}
}

// wants reports whether d must see all durations again before the given statistics are known.
func wants(d *Distribution, all ...Statistic) bool { return d.WantsRanks(ranksOf(d, all...)...) }

// ranksOf returns the indices of the durations that the given statistics need.
func ranksOf(d *Distribution, all ...Statistic) (ranks []int) {
	for _, st := range all {
		if percent := st.Percent(); percent > 0 && st.Enough(d.N()) {
			ranks = append(ranks, d.ranks(float64(percent)/100)...)
		}
		if k, known := BoundRank(d.N(), 0.99); known && st == P99Bound {
			ranks = append(ranks, k-1)
		}
	}
	return ranks
}

// statistic returns a statistic in nanoseconds. It returns false if there are too few values. A result
// below the clock's resolution becomes 1 ns, because benchstat puts a time of zero in another table.
func statistic(d *Distribution, st Statistic) (float64, bool) {
	if !st.Enough(d.N()) {
		return 0, false
	}
	if st == P99Bound {
		k, _ := BoundRank(d.N(), 0.99)
		return max(1, d.At(k-1)), true
	}
	if percent := st.Percent(); percent > 0 {
		return max(1, d.Quantile(float64(percent)/100)), true
	}
	return max(1, d.Mean()), true
}

// Quantile returns the q-quantile of sorted, in nanoseconds. The range of q is [0,1], and sorted must not
// be empty. Quantile interpolates linearly. This method is type 7 of Hyndman and Fan, "Sample Quantiles in
// Statistical Packages" (The American Statistician 50, 1996), and the default of R and numpy.
func Quantile(sorted []time.Duration, q float64) float64 {
	h := q * float64(len(sorted)-1)
	i := int(h)
	if i+1 >= len(sorted) {
		return float64(sorted[len(sorted)-1])
	}
	lo, hi := float64(sorted[i]), float64(sorted[i+1])
	return lo + (h-float64(i))*(hi-lo)
}

// DescribeDeltas describes how many tokens the deltas have, if they have several. The text has the mean
// number of tokens in a delta. If the server reports the tokens of each delta, the text also has the share
// of deltas for each number of tokens. DescribeDeltas returns "" if each delta has one token.
func (s *Summary) DescribeDeltas() string {
	mean, several := s.Metrics[DeltaLength]
	if !several {
		return ""
	}
	text := fmt.Sprintf("deltas after the first have %.4g tokens on average, and the ITL is the time between deltas", mean)
	if s.DeltaTokens == nil {
		return text + "; the number of tokens in each delta and the ITL of tokens are unknown, because the server reports tokens only for whole answers"
	}
	all := 0
	for _, n := range s.DeltaTokens {
		all += n
	}
	text += "; tokens of a delta:"
	sizes := slices.Sorted(maps.Keys(s.DeltaTokens))
	for i, size := range sizes {
		if i == mostSizes && len(sizes) > mostSizes+1 {
			rest := 0
			for _, size := range sizes[i:] {
				rest += s.DeltaTokens[size]
			}
			return text + fmt.Sprintf(" %d to %d %.1f%%", size, sizes[len(sizes)-1], 100*float64(rest)/float64(all))
		}
		text += fmt.Sprintf(" %d %.1f%%,", size, 100*float64(s.DeltaTokens[size])/float64(all))
	}
	return strings.TrimSuffix(text, ",")
}

// mostSizes is the number of delta sizes that DescribeDeltas lists one by one.
const mostSizes = 16
