package records

import (
	"iter"
	"math"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Dist is a distribution of many durations. Its means and quantiles are exact. Its zero
// value is empty. A Dist shares the memory of the requests that were added to it. It is not
// safe for concurrent use.
type Dist struct {
	N    int
	sum  int64
	runs []*gaps // of requests
	one  []int64 // added one by one

	counted *sample.Distribution // of all; nil if it must be counted
}

// usual are quantiles that are looked up together with the first one.
var usual = []float64{0.5, 0.9, 0.95, 0.99}

// Add adds a duration.
func (d *Dist) Add(v time.Duration) {
	d.one = append(d.one, int64(v))
	d.N++
	d.sum += int64(v)
	d.counted = nil
}

// AddGaps adds the gaps of q.
func (d *Dist) AddGaps(q *Request) { d.add(&q.gaps, int64(q.Last-q.First)) } // Read has checked the sum

// AddTokenGaps adds the gaps between tokens, as [sample.Sample.TokenGaps] has them.
func (d *Dist) AddTokenGaps(q *Request) {
	s := sample.Sample{Gaps: slices.Collect(q.Gaps()), DeltaTokens: q.DeltaTokens}
	for v := range s.TokenGaps() {
		d.Add(v)
	}
}

func (d *Dist) add(g *gaps, sum int64) {
	n := g.len()
	if n == 0 {
		return
	}
	d.runs = append(d.runs, g)
	d.N += n
	d.sum += sum
	d.counted = nil
}

// Mean returns the mean in nanoseconds, or 0 without durations.
func (d *Dist) Mean() float64 {
	if d.N == 0 {
		return 0
	}
	return float64(d.sum) / float64(d.N)
}

// Std returns the standard deviation of the population in nanoseconds, as numpy.std does.
func (d *Dist) Std() float64 {
	if d.N == 0 {
		return 0
	}
	mean, ss := d.Mean(), 0.0
	for values := range d.parts() {
		for _, v := range values {
			ss += (float64(v) - mean) * (float64(v) - mean)
		}
	}
	return math.Sqrt(ss / float64(d.N))
}

// parts returns all durations, some thousands at a time, in memory that it reuses.
func (d *Dist) parts() iter.Seq[[]int64] {
	return func(yield func([]int64) bool) {
		if len(d.one) > 0 && !yield(d.one) {
			return
		}
		part := make([]int64, 0, 1<<13)
		for _, g := range d.runs {
			if len(g.long) > 0 && !yield(g.long) {
				return
			}
			for _, v := range g.short {
				part = append(part, int64(v))
			}
			if len(part) > 1<<12 {
				if !yield(part) {
					return
				}
				part = part[:0]
			}
		}
		if len(part) > 0 {
			yield(part)
		}
	}
}

// count counts the durations.
func (d *Dist) count() *sample.Distribution {
	if d.counted == nil {
		d.counted = &sample.Distribution{}
		for values := range d.parts() {
			for _, v := range values {
				d.counted.Add(time.Duration(v))
			}
		}
	}
	return d.counted
}

// again passes all durations to d.counted once more.
func (d *Dist) again() {
	for values := range d.parts() {
		for _, v := range values {
			d.counted.Again(time.Duration(v))
		}
	}
}

// Ranks returns the durations at indices of the sorted durations, in nanoseconds. Indices
// count from 0 and are less than N.
func (d *Dist) Ranks(ranks ...int) []float64 {
	for c := d.count(); c.WantsRanks(ranks...); {
		d.again()
	}
	out := make([]float64, len(ranks))
	for i, r := range ranks {
		out[i] = d.counted.At(r)
	}
	return out
}

// Quantiles returns quantiles in nanoseconds, as [sample.Quantile] does. The range of each q is
// [0,1], and the Dist must not be empty.
func (d *Dist) Quantiles(qs ...float64) []float64 {
	for c := d.count(); c.Wants(slices.Concat(usual, qs)...); {
		d.again()
	}
	out := make([]float64, len(qs))
	for i, q := range qs {
		out[i] = d.counted.Quantile(q)
	}
	return out
}

// Sketch returns quantiles for pictures: those of many durations are accurate to 0.2 %, and
// cost much less than Quantiles.
func (d *Dist) Sketch(qs ...float64) []float64 {
	out := make([]float64, len(qs))
	for i, q := range qs {
		out[i] = d.count().Sketch(q)
	}
	return out
}
