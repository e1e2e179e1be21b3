package records

import (
	"iter"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Figures returns the metrics of the run, computed by [sample.Summarize]. They are equal to the last bit to
// the metrics of the same sample in the benchmark file. They do not include client-err-%, units that the
// server reports, and units of scenarios, because records do not contain these.
func (r *Run) Figures() sample.Summary {
	r.once.Do(func() { r.known = r.figures(r.All(), r.Elapsed()) })
	return r.known
}

// PassFigures returns the metrics of one pass. Passes count from 0.
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
	return sample.Summarize(r.samples(requests), elapsed, r.Head.Limits())
}

// Steady returns the steady part of a pass. Passes count from 0.
func (r *Run) Steady(pass int) sample.Steady {
	for _, s := range sample.SteadyStates(r.samples(r.Pass(pass))) {
		return s
	}
	return sample.Steady{Pass: pass, Why: "no request"}
}

// samples returns requests as samples that include gaps and lags. Each iteration reuses the memory of the
// sample.
func (r *Run) samples(requests iter.Seq[*Request]) iter.Seq[*sample.Sample] {
	return func(yield func(*sample.Sample) bool) {
		var s sample.Sample
		for q := range requests {
			gaps, lags := s.Gaps[:0], s.Lags[:0]
			s = r.Head.sample(q, gaps)
			s.Lags = slices.AppendSeq(lags, q.lags.all())
			if !yield(&s) {
				return
			}
		}
	}
}

// Within returns the share of a request's answer that counts in rates, as [sample.Sample.Within] does.
func (h *Head) Within(q *Request) float64 {
	if h.Duration == 0 {
		return 1
	}
	s := h.sample(q, nil)
	return s.Within()
}

// sample returns a request as a sample with its gaps, which are appended to gaps.
func (h *Head) sample(q *Request, gaps []time.Duration) sample.Sample {
	s := q.sample()
	s.From, s.Until, s.DeltaTokens = h.WarmupFor, h.until(), q.DeltaTokens
	s.Gaps = slices.AppendSeq(gaps, q.Gaps())
	return s
}
