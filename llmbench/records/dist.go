package records

import (
	"iter"
	"math"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Dist is a distribution of many durations. Its means and quantiles are exact. The zero value is an empty
// Dist. A Dist shares memory with the requests that were added to it. It is not safe for concurrent use.
type Dist struct {
	N    int
	sum  int64
	runs []*gaps // durations that AddGaps added
	one  []int64 // durations that Add added

	counted *sample.Distribution // all durations; nil if they changed and must be counted again
}

// usual holds quantiles that are computed together with the first one, because a report usually needs them
// all.
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

// AddITLs adds the gaps of q that [sample.Sample.ITLs] returns.
func (d *Dist) AddITLs(q *Request) {
	seen := q.seenDelta()
	if seen == 0 {
		d.AddGaps(q)
		return
	}
	i := 0
	for gap := range q.Gaps() {
		if i++; i > seen {
			d.Add(gap)
		}
	}
}

// AddTokenGaps adds the gaps between the tokens of q, as [sample.Sample.TokenGaps] defines them.
func (d *Dist) AddTokenGaps(q *Request) {
	s := sample.Sample{Deltas: int(q.Deltas), Gaps: slices.Collect(q.Gaps()), DeltaTokens: q.DeltaTokens, Blank: int(q.Blank)}
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

// Std returns the population standard deviation in nanoseconds, like numpy.std.
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

// parts returns all durations, some thousands at a time. It may reuse the memory of a part for the next
// part.
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

// count returns d.counted. If it is nil, count first creates it from all durations.
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

// again passes all durations to d.counted in one more round.
func (d *Dist) again() {
	for values := range d.parts() {
		for _, v := range values {
			d.counted.Again(time.Duration(v))
		}
	}
}

// Ranks returns the durations at the given indices of the sorted durations, in nanoseconds. Indices count
// from 0 and must be less than N.
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

// Sketch returns quantiles in nanoseconds for use in a plot. If there are many durations, the quantiles are
// only accurate to 0.2 %, but take much less time than with Quantiles.
func (d *Dist) Sketch(qs ...float64) []float64 {
	out := make([]float64, len(qs))
	for i, q := range qs {
		out[i] = d.count().Sketch(q)
	}
	return out
}
