package records

import (
	"iter"
	"math"
	"math/bits"
	"slices"
	"time"
)

// A Dist is a distribution of many durations. Its means and quantiles are exact. Its zero
// value is empty. A Dist shares the memory of the requests that were added to it. It is not
// safe for concurrent use.
type Dist struct {
	N    int
	sum  int64
	runs []*gaps // of requests
	one  []int64 // added one by one

	sorted []int64 // all, when there are few enough
	// When there are more: the number of durations in each bucket, and the sorted durations
	// of the buckets that were needed so far.
	counts  []int
	buckets map[int][]int64
}

// few is the largest number of durations that is sorted. Of more durations, quantiles are
// found by counting.
const few = 1 << 16

// usual are quantiles that are looked up together with the first one.
var usual = []float64{0.5, 0.9, 0.95, 0.99}

// Add adds a duration.
func (d *Dist) Add(v time.Duration) {
	d.one = append(d.one, int64(v))
	d.N++
	d.sum += int64(v)
	d.forget()
}

// AddGaps adds the gaps of q.
func (d *Dist) AddGaps(q *Request) { d.add(&q.gaps, int64(q.Last-q.First)) } // Read has checked the sum

func (d *Dist) add(g *gaps, sum int64) {
	n := g.len()
	if n == 0 {
		return
	}
	d.runs = append(d.runs, g)
	d.N += n
	d.sum += sum
	d.forget()
}

func (d *Dist) forget() { d.sorted, d.counts, d.buckets = nil, nil, nil }

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

// Ranks returns the durations at indices of the sorted durations, in nanoseconds. Indices
// count from 0 and are less than N.
func (d *Dist) Ranks(ranks ...int) []float64 {
	out := make([]float64, len(ranks))
	if d.N <= few {
		if d.sorted == nil && d.N > 0 {
			d.sorted = make([]int64, 0, d.N)
			for values := range d.parts() {
				d.sorted = append(d.sorted, values...)
			}
			slices.Sort(d.sorted)
		}
		for i, r := range ranks {
			out[i] = float64(d.sorted[r])
		}
		return out
	}
	// Count by the high bits, then sort the buckets that contain a rank.
	d.count()
	if d.buckets == nil {
		d.buckets = map[int][]int64{}
		for _, q := range usual {
			ranks = append(ranks, int(q*float64(d.N-1)), int(q*float64(d.N-1))+1)
		}
	}
	d.fetch(ranks)
	for i := range out {
		b, within := d.bucket(ranks[i])
		out[i] = float64(d.buckets[b][within])
	}
	return out
}

// count counts the durations in each bucket.
func (d *Dist) count() {
	if d.counts != nil {
		return
	}
	d.counts = make([]int, 1<<16)
	for values := range d.parts() {
		for _, v := range values {
			d.counts[high(v)]++
		}
	}
}

// bucket returns the bucket that contains a rank, and the index within the bucket.
func (d *Dist) bucket(rank int) (b, within int) {
	for b, n := range d.counts {
		if rank < n {
			return b, rank
		}
		rank -= n
	}
	panic("records: a rank beyond the last duration")
}

// fetch sorts the buckets of all ranks, unless they are there already.
func (d *Dist) fetch(ranks []int) {
	wanted := make([]bool, len(d.counts))
	any := false
	for _, r := range ranks {
		if b, _ := d.bucket(r); d.buckets[b] == nil && !wanted[b] {
			wanted[b], any = true, true
			d.buckets[b] = make([]int64, 0, d.counts[b])
		}
	}
	if !any {
		return
	}
	for values := range d.parts() {
		for _, v := range values {
			if b := high(v); wanted[b] {
				d.buckets[b] = append(d.buckets[b], v)
			}
		}
	}
	for b, w := range wanted {
		if w {
			slices.Sort(d.buckets[b])
		}
	}
}

// high returns the bucket of v, of 65536. Buckets are in the order of values; a bucket has the
// values with the same ten leading bits and the same number of bits. The first bucket also has
// all values below 0, which the error of two clocks may cause.
func high(v int64) int {
	v = max(0, v)
	n := bits.Len64(uint64(v))
	if n <= 10 {
		return int(v)
	}
	shift := n - 10
	return shift<<10 + int(v>>shift)
}

// Quantiles returns quantiles in nanoseconds, as [sample.Quantile] does. The range of each q is
// [0,1], and the Dist must not be empty.
func (d *Dist) Quantiles(qs ...float64) []float64 {
	var ranks []int
	for _, q := range qs {
		i := int(q * float64(d.N-1))
		ranks = append(ranks, i, min(i+1, d.N-1))
	}
	at := d.Ranks(ranks...)
	out := make([]float64, len(qs))
	for i, q := range qs {
		h := q * float64(d.N-1)
		lo, hi := at[2*i], at[2*i+1]
		out[i] = lo + (h-math.Floor(h))*(hi-lo)
	}
	return out
}

// Sketch returns quantiles for pictures: those of many durations are accurate to 0.2 %, and
// cost much less than Quantiles.
func (d *Dist) Sketch(qs ...float64) []float64 {
	if d.N <= few {
		return d.Quantiles(qs...)
	}
	d.count()
	out := make([]float64, len(qs))
	for i, q := range qs {
		b, within := d.bucket(int(q * float64(d.N-1)))
		from, to := float64(lowest(b)), float64(lowest(b+1))
		out[i] = from + (to-from)*float64(within)/float64(d.counts[b])
	}
	return out
}

// lowest returns the smallest value whose bucket is b or a later one.
func lowest(b int) int64 {
	if b < 1<<10 {
		return int64(b)
	}
	shift, lead := b>>10, max(b&(1<<10-1), 1<<9)
	return int64(lead) << shift
}
