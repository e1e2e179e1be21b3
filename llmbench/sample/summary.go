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
	Requests  int                 // number of requests
	Outcomes  map[Outcome]int     // number of requests by outcome
	Sources   map[TokenSource]int // number of successful requests by token source
	Clocks    map[Clock]int       // number of successful requests by clock
	Connected int                 // number of requests that had to open a connection
	Resent    int                 // number of requests that were sent more than once
	Elapsed   time.Duration       // sum over passes
	// Metrics has the value of each unit that the samples determine. Times are in
	// nanoseconds. No value is NaN or infinite.
	Metrics map[string]float64
	// Contradictions says which figures are missing because the server's numbers contradict each
	// other, a sentence for each.
	Contradictions []string
	// DeltaTokens is the number of deltas, after the first of each request, by how many tokens
	// they had. It has only requests with [Sample].DeltaTokens, and is nil without them.
	DeltaTokens map[int]int
	// Steady has the steady part of each pass, or the reason why there is none.
	Steady []Steady
}

// Add adds figures to s.Metrics, except NaN and infinite ones.
func (s *Summary) Add(figures map[string]float64) {
	for unit, v := range figures {
		s.set(unit, v, true)
	}
}

// set sets the value of a unit, if it is known and finite.
func (s *Summary) set(unit string, v float64, known bool) {
	if known && !math.IsNaN(v) && !math.IsInf(v, 0) {
		s.Metrics[unit] = v
	}
}

// Failed returns the number of failed requests: those whose outcome is neither [OK] nor
// [Left].
func (s Summary) Failed() int { return s.Requests - s.Outcomes[OK] - s.Outcomes[Left] }

// All ranges over samples that are in memory.
func All(samples ...Sample) iter.Seq[*Sample] {
	return func(yield func(*Sample) bool) {
		for i := range samples {
			if !yield(&samples[i]) {
				return
			}
		}
	}
}

// Summarize computes the units of samples. The elapsed time is the sum over passes of
// [Elapsed]. Summarize ranges over samples several times, and keeps none of them. Their order
// changes no figure.
//
// A unit that the samples do not determine is left out: a percentile of too few values, the
// TTFT of answers that were not streamed, a token figure if one answer's tokens are
// unknown, and a rate if no time elapsed.
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
		s.count(r)
		t.add(r)
		p.extend(r)
	}
	// The requests are read again until all quantiles are known, and once for the steady parts.
	wants := t.wants()
	for steady := p.divide(); wants || steady; steady = false {
		for r := range samples {
			if wants {
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
	s.set("left-%", 100*float64(s.Outcomes[Left])/float64(s.Requests), s.Outcomes[Left] > 0)
	s.set("fail-%", 100*float64(s.Failed())/float64(s.Requests), s.Requests > 0)
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

// wants reports whether d must see all durations again before the statistics are known.
func wants(d *Distribution, all ...Statistic) bool {
	var ranks []int
	for _, st := range all {
		if percent := st.Percent(); percent > 0 && st.Enough(d.N()) {
			ranks = append(ranks, d.ranks(float64(percent)/100)...)
		}
		if k, known := BoundRank(d.N(), 0.99); known && st == P99Bound {
			ranks = append(ranks, k-1)
		}
	}
	return d.WantsRanks(ranks...)
}

// statistic returns a statistic in nanoseconds, and false if there are too few values. A result
// below the clock's resolution becomes 1 ns: benchstat puts a time of zero in another table.
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

// Quantile returns the q-quantile of sorted, in nanoseconds. The range of q is [0,1], and
// sorted must not be empty. Quantile interpolates linearly: it is type 7 of Hyndman and
// Fan, "Sample Quantiles in Statistical Packages" (The American Statistician 50, 1996), the
// default of R and numpy.
func Quantile(sorted []time.Duration, q float64) float64 {
	h := q * float64(len(sorted)-1)
	i := int(h)
	if i+1 >= len(sorted) {
		return float64(sorted[len(sorted)-1])
	}
	lo, hi := float64(sorted[i]), float64(sorted[i+1])
	return lo + (h-float64(i))*(hi-lo)
}

// DescribeDeltas says how many tokens deltas have, if they have several: their mean and, where the
// server states the tokens of each delta, how many deltas have how many tokens. It returns "" if
// the deltas have one token each.
func (s *Summary) DescribeDeltas() string {
	mean, several := s.Metrics["tok/delta"]
	if !several {
		return ""
	}
	text := fmt.Sprintf("deltas after the first have %.4g tokens on average, and the ITL is that of deltas", mean)
	if s.DeltaTokens == nil {
		return text + "; how many each has, and the ITL of tokens, is unknown, because the server states tokens only of whole answers (with vLLM and SGLang, stream_options.continuous_usage_stats in LLMBENCH_BODY asks for those of each delta)"
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

// mostSizes is the number of sizes of deltas that are described one by one.
const mostSizes = 16
