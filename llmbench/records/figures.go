package records

import (
	"iter"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Figures returns the run's units as [sample.Summarize] computes them: the same
// figures, to the last bit, as in the benchmark file of the same sample, but for
// those of the server itself and client-err-%, which are no part of the records.
func (r *Run) Figures() sample.Summary {
	r.once.Do(func() { r.known = r.figures(r.All(), r.Elapsed()) })
	return r.known
}

// PassFigures are those of one pass alone, from 0.
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
	go func() { steady <- sample.SteadyStates(timed(requests)) }() // it takes as long as the rest
	s := sample.SummarizeSeq(samples(requests), elapsed, r.Head.Limits())
	// Gaps and lags are too many to be samples' again.
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

// Steady is the steady part of a pass, from 0.
func (r *Run) Steady(pass int) sample.Steady {
	for _, s := range sample.SteadyStates(timed(r.Pass(pass))) {
		return s
	}
	return sample.Steady{Pass: pass, Why: "no request"}
}

// report adds the statistics of d to a summary, under unit.
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

// samples yields requests as samples without gaps and lags.
func samples(requests iter.Seq[*Request]) iter.Seq[*sample.Sample] {
	return func(yield func(*sample.Sample) bool) {
		for q := range requests {
			if s := q.sample(); !yield(&s) {
				return
			}
		}
	}
}

// timed yields requests as samples with their gaps, each in the same memory.
func timed(requests iter.Seq[*Request]) iter.Seq[*sample.Sample] {
	return func(yield func(*sample.Sample) bool) {
		var s sample.Sample
		for q := range requests {
			gaps := s.Gaps[:0]
			s = q.sample()
			s.Pass, s.Gaps = int(q.Pass), slices.AppendSeq(gaps, q.Gaps())
			if !yield(&s) {
				return
			}
		}
	}
}
