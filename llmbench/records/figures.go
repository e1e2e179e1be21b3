package records

import (
	"iter"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Figures returns the figures of the run as [sample.Summarize] computes them. They equal the
// figures in the benchmark file of the same sample to the last bit. Records do not hold
// client-err-%, the units that the server states, and units of scenarios.
func (r *Run) Figures() sample.Summary {
	r.once.Do(func() { r.known = r.figures(r.All(), r.Elapsed()) })
	return r.known
}

// PassFigures returns the figures of one pass. Passes count from 0.
func (r *Run) PassFigures(pass int) sample.Summary {
	if pass == 0 && r.Passes() == 1 {
		return r.Figures()
	}
	i := 0
	for elapsed := range r.elapsed() {
		if i == pass {
			return r.figures(r.Pass(pass), elapsed)
		}
		i++
	}
	return r.figures(r.Pass(pass), 0)
}

func (r *Run) figures(requests iter.Seq[*Request], elapsed time.Duration) sample.Summary {
	steady := make(chan []sample.Steady, 1)
	go func() { steady <- sample.SteadyStates(timed(requests)) }() // takes as long as the rest
	s := sample.SummarizeSeq(samples(requests), elapsed, r.Head.Limits())
	// Samples with all gaps and lags would take too much memory.
	var itl, lag Dist
	for q := range requests {
		if q.OK() {
			itl.AddGaps(q)
			lag.add(&q.lags, q.lags.sum())
		}
	}
	itl.report(s, "itl-ns")
	lag.report(s, "read-lag-ns")
	s.TakeSteady(<-steady)
	return s
}

// Steady returns the steady part of a pass. Passes count from 0.
func (r *Run) Steady(pass int) sample.Steady {
	for _, s := range sample.SteadyStates(timed(r.Pass(pass))) {
		return s
	}
	return sample.Steady{Pass: pass, Why: "no request"}
}

// report adds the statistics of d to a summary. The unit is a name without its statistic.
func (d *Dist) report(s sample.Summary, unit string) {
	if d.N == 0 {
		return
	}
	s.Metrics["mean-"+unit] = max(1, d.Mean())
	for i, v := range d.Quantiles(0.50, 0.90, 0.99) {
		if p := []sample.Statistic{sample.P50, sample.P90, sample.P99}[i]; p.Enough(d.N) {
			s.Metrics[string(p)+"-"+unit] = max(1, v)
		}
	}
}

// samples returns requests as samples without gaps and lags.
func samples(requests iter.Seq[*Request]) iter.Seq[*sample.Sample] {
	return func(yield func(*sample.Sample) bool) {
		for q := range requests {
			if s := q.sample(); !yield(&s) {
				return
			}
		}
	}
}

// timed returns requests as samples with gaps. It reuses the memory of the sample.
func timed(requests iter.Seq[*Request]) iter.Seq[*sample.Sample] {
	return func(yield func(*sample.Sample) bool) {
		var s sample.Sample
		for q := range requests {
			gaps := s.Gaps[:0]
			s = q.sample()
			s.Gaps = slices.AppendSeq(gaps, q.Gaps())
			if !yield(&s) {
				return
			}
		}
	}
}
