package sample

import (
	"iter"
	"math"
	"slices"
	"time"
)

// A Summary is what the samples of one or more passes say together.
type Summary struct {
	Requests int             // all of them
	Outcomes map[Outcome]int // how many requests ended how
	Sources  map[TokenSource]int
	Clocks   map[Clock]int // of the instants of successful requests
	// Connected counts the requests that had to open a connection, Resent
	// those that were sent more than once.
	Connected, Resent int
	Elapsed           time.Duration
	// Metrics holds a value for each unit of [Units] that can be told from
	// the samples; none is NaN or infinite. Times are in nanoseconds.
	Metrics map[string]float64
	// Steady is the steady part of each pass, or why there is none.
	Steady []Steady
}

// Add adds figures that are not of the samples to s.Metrics, except NaN and infinite
// ones.
func (s *Summary) Add(figures map[string]float64) {
	for unit, v := range figures {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			s.Metrics[unit] = v
		}
	}
}

// Failed is the number of requests that did not end well, and were not left as
// planned.
func (s Summary) Failed() int { return s.Requests - s.Outcomes[OK] - s.Outcomes[Left] }

// Summarize computes every unit over samples that took elapsed in all: the sum,
// over passes, of the time from the first t0 to the end of the last response.
// It is a pure function of its arguments. A figure that the samples cannot tell
// is left out: a percentile of too few, the TTFT of answers that were not
// streamed, tokens when one answer's are unknown, anything per second of no time
// at all.
func Summarize(samples []Sample, elapsed time.Duration, slo SLO) Summary {
	all := func(yield func(*Sample) bool) {
		for i := range samples {
			if !yield(&samples[i]) {
				return
			}
		}
	}
	s := SummarizeSeq(all, elapsed, slo)
	s.TakeSteady(SteadyStates(all))
	return s
}

// SummarizeSeq is [Summarize] of samples that need not be in memory together: it
// keeps none of them, and knows no steady state.
func SummarizeSeq(samples iter.Seq[*Sample], elapsed time.Duration, slo SLO) Summary {
	s := Summary{
		Outcomes: map[Outcome]int{},
		Sources:  map[TokenSource]int{},
		Clocks:   map[Clock]int{},
		Elapsed:  elapsed,
		Metrics:  map[string]float64{},
	}
	durations := make([][]time.Duration, len(latencies))
	var n, prompt, asked, output, good, users, perUser, promptChars, outputChars float64
	promptKnown, outputKnown, askedKnown := true, true, true // of every successful request
	var cached float64
	var reasoned, turned bool
	var turns [maxTurns][]time.Duration // the TTFT of each
	var lags []time.Duration
	for r := range samples {
		s.Requests++
		s.Outcomes[r.Outcome]++
		if r.Connect > 0 {
			s.Connected++
		}
		if r.Resent > 0 {
			s.Resent++
		}
		if r.Scheduled {
			lags = append(lags, r.Late())
		}
		if r.Outcome != OK {
			continue
		}
		n++
		for i, l := range latencies {
			durations[i] = l.append(durations[i], r)
		}
		s.Sources[r.TokenSource]++
		s.Clocks[r.Clock]++
		promptKnown = promptKnown && r.PromptTokens > 0
		outputKnown = outputKnown && r.OutputTokens > 0
		prompt += float64(r.PromptTokens)
		askedKnown = askedKnown && r.AskedTokens > 0
		asked += float64(r.AskedTokens)
		cached += float64(r.CachedTokens)
		reasoned = reasoned || r.Outputs < r.Deltas
		turned = turned || r.Turn > 0
		if d, has := r.TTFT(); has && r.Turn < maxTurns {
			turns[r.Turn] = append(turns[r.Turn], d)
		}
		output += float64(r.OutputTokens)
		promptChars += float64(r.PromptChars)
		outputChars += float64(r.OutputChars)
		if slo.Met(r) {
			good++
		}
		if d, has := r.E2E(); has && d > 0 {
			perUser += float64(r.OutputTokens) / d.Seconds()
			users++
		}
	}
	set := func(unit string, v float64, known bool) {
		if known && !math.IsNaN(v) && !math.IsInf(v, 0) {
			s.Metrics[unit] = v
		}
	}
	seconds := elapsed.Seconds()
	timed := n > 0 && seconds > 0
	set("output-tok/s", output/seconds, timed && outputKnown)
	set("prompt-tok/s", prompt/seconds, timed && promptKnown)
	set("total-tok/s", (prompt+output)/seconds, timed && promptKnown && outputKnown)
	set("prompt-chars/s", promptChars/seconds, timed && promptChars > 0)
	set("output-chars/s", outputChars/seconds, timed && outputChars > 0)
	set("req/s", n/seconds, timed)
	set("good-req/s", good/seconds, timed && slo != SLO{})
	set("user-tok/s", perUser/users, users > 0 && outputKnown)
	set("in-tok/req", prompt/n, n > 0 && promptKnown)
	set("asked-in-tok/req", asked/n, n > 0 && askedKnown && asked != prompt)
	set("out-tok/req", output/n, n > 0 && outputKnown)
	set("cached-%", 100*cached/prompt, cached > 0 && promptKnown)
	set("left-%", 100*float64(s.Outcomes[Left])/float64(s.Requests), s.Outcomes[Left] > 0)
	set("fail-%", 100*float64(s.Failed())/float64(s.Requests), s.Requests > 0)
	for i, l := range latencies {
		if l.name == ttfo && !reasoned { // it is the TTFT
			continue
		}
		all := durations[i]
		slices.Sort(all)
		for _, st := range statistics {
			v, known := statistic(all, st)
			set(unitName(st, l.name), v, known)
		}
	}
	for turn, all := range turns {
		slices.Sort(all)
		v, known := statistic(all, P50)
		set(turnUnit(turn), v, known && turned)
	}
	slices.Sort(lags)
	lag, known := statistic(lags, P99)
	set("p99-lag-ns", lag, known)
	return s
}

// statistic returns a statistic of sorted in nanoseconds; false when there are too
// few values for it. A result below the clock's resolution is 1 ns, since benchstat puts
// zeros of a time in a table of their own.
func statistic(sorted []time.Duration, s Statistic) (float64, bool) {
	n := len(sorted)
	if !s.Enough(n) {
		return 0, false
	}
	if percent := s.Percent(); percent > 0 {
		return max(1, Quantile(sorted, float64(percent)/100)), true
	}
	var sum float64
	for _, d := range sorted {
		sum += float64(d)
	}
	return max(1, sum/float64(n)), true
}

// Quantile returns the q-quantile, q in [0,1], of sorted, which is not empty, in
// nanoseconds. It interpolates linearly: type 7 of Hyndman and Fan, "Sample Quantiles in Statistical
// Packages" (The American Statistician 50, 1996), the default of R and numpy.
func Quantile(sorted []time.Duration, q float64) float64 {
	h := q * float64(len(sorted)-1)
	i := int(h)
	if i+1 >= len(sorted) {
		return float64(sorted[len(sorted)-1])
	}
	lo, hi := float64(sorted[i]), float64(sorted[i+1])
	return lo + (h-float64(i))*(hi-lo)
}
