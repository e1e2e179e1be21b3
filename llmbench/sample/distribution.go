package sample

import (
	"math"
	"math/bits"
	"slices"
	"time"
)

// A Distribution finds exact quantiles of any number of durations, in bounded memory. It keeps the
// durations themselves while there are few. When there are many, it only counts how many durations share
// their leading bits. To find a quantile it must then see all durations again:
//
//	for d.Wants(0.5, 0.99) {
//		for v := range durations {
//			d.Again(v)
//		}
//	}
//
// This takes at most two rounds if all durations are below two seconds. The zero value is an empty
// Distribution. A Distribution is not safe for concurrent use.
type Distribution struct {
	n      int
	sum    int64
	least  int64
	values []int64 // all durations, while they are few
	counts pages   // when values would be too many: the number of durations in each bucket; see bucketOf
	parts  []*part // details of some buckets, and of parts of these buckets
	open   []*part // the elements of parts to which Again adds
}

const (
	// few is the largest number of durations that are kept as they are.
	few = 1 << 14
	// split is the maximum number of divisions into which a part with too many durations is divided.
	split = 1 << 16
)

// A part has details of the durations from lo to hi, excluding hi.
type part struct {
	lo, hi int64
	first  int     // number of durations in the Distribution that are below lo
	values []int64 // all durations of the part, sorted; nil if there are too many
	counts pages   // if values is nil, the number of durations in each division of 1<<shift nanoseconds
	shift  int
}

// Add adds a duration. It must not be called after Wants.
func (d *Distribution) Add(v time.Duration) {
	if d.n == 0 {
		d.least = int64(v)
	}
	d.n++
	d.sum += int64(v)
	d.least = min(d.least, int64(v))
	if d.counts != nil {
		d.counts.add(bucketOf(int64(v)))
		return
	}
	d.values = append(d.values, int64(v))
	if len(d.values) > few {
		d.counts = newPages(buckets)
		for _, v := range d.values {
			d.counts.add(bucketOf(v))
		}
		d.values = nil
	}
}

// N returns the number of durations.
func (d *Distribution) N() int { return d.n }

// Mean returns the mean in nanoseconds, or 0 without durations.
func (d *Distribution) Mean() float64 {
	if d.n == 0 {
		return 0
	}
	return float64(d.sum) / float64(d.n)
}

// Wants reports whether the caller must pass all durations to Again before the quantiles qs are known.
func (d *Distribution) Wants(qs ...float64) bool {
	var ranks []int
	for _, q := range qs {
		ranks = append(ranks, d.ranks(q)...)
	}
	return d.WantsRanks(ranks...)
}

// ranks returns the indices of the two sorted durations between which the q-quantile lies.
func (d *Distribution) ranks(q float64) []int {
	i := int(q * float64(d.n-1))
	return []int{i, min(i+1, d.n-1)}
}

// WantsRanks is like Wants, for the durations at the given indices of the sorted durations. An index counts
// from 0 and must be less than N.
func (d *Distribution) WantsRanks(ranks ...int) bool {
	for _, p := range d.open {
		slices.Sort(p.values)
	}
	d.open = nil
	slices.Sort(d.values)
	for _, r := range ranks {
		if _, missing := d.find(r); missing != nil && !slices.ContainsFunc(d.open, missing.same) {
			missing.divide()
			d.open = append(d.open, missing)
		}
	}
	d.parts = append(d.parts, d.open...)
	return len(d.open) > 0
}

// Again adds a duration that was added before, in a further round over all durations.
func (d *Distribution) Again(v time.Duration) {
	for _, p := range d.open {
		if v := int64(v); v >= p.lo && v < p.hi {
			if p.counts != nil {
				p.counts.add(int((v - p.lo) >> p.shift))
			} else {
				p.values = append(p.values, v)
			}
		}
	}
}

// At returns the duration at an index of the sorted durations, in nanoseconds. WantsRanks must have
// returned false for the index.
func (d *Distribution) At(rank int) float64 {
	v, missing := d.find(rank)
	if missing != nil {
		panic("sample: a rank that is not known")
	}
	return float64(v)
}

// Quantile returns the q-quantile in nanoseconds, as the function [Quantile] does. Wants must have
// returned false for q. The Distribution must not be empty.
func (d *Distribution) Quantile(q float64) float64 {
	h := q * float64(d.n-1)
	i := int(h)
	if i+1 >= d.n {
		return d.At(d.n - 1)
	}
	lo, hi := d.At(i), d.At(i+1)
	return lo + (h-float64(i))*(hi-lo)
}

// Sketch returns the q-quantile for use in a plot. If there are many durations, it is only accurate to
// 0.2 %. It does not need Again.
func (d *Distribution) Sketch(q float64) float64 {
	if d.counts == nil {
		d.Wants()
		return d.Quantile(q)
	}
	b, within, n := d.counts.position(int(q * float64(d.n-1)))
	from, to := float64(lowest(b)), float64(lowest(b+1))
	return from + (to-from)*float64(within)/float64(n)
}

// find returns the duration at a rank. If the duration is not known, it returns the part whose details are
// needed to find it.
func (d *Distribution) find(rank int) (v int64, missing *part) {
	if d.counts == nil {
		return d.values[rank], nil
	}
	b, within, n := d.counts.position(rank)
	p := &part{lo: lowest(b), hi: lowest(b + 1), first: rank - within}
	if b == 0 {
		p.lo = min(p.lo, d.least)
	}
	for p.hi-p.lo > 1 {
		i := slices.IndexFunc(d.parts, p.same)
		if i < 0 {
			if n <= few {
				p.values = make([]int64, 0, n)
			}
			return 0, p
		}
		known := d.parts[i]
		if known.counts == nil {
			return known.values[rank-known.first], nil
		}
		var b int
		b, within, n = known.counts.position(rank - known.first)
		lo := known.lo + int64(b)<<known.shift
		p = &part{lo: lo, hi: min(lo+1<<known.shift, known.hi), first: rank - within}
	}
	return p.lo, nil
}

// same reports whether p and q have the same bounds.
func (p *part) same(q *part) bool { return p.lo == q.lo && p.hi == q.hi }

// divide prepares p for Again: it creates the counts if p has too many durations to keep.
func (p *part) divide() {
	if p.values != nil {
		return
	}
	for (p.hi-p.lo-1)>>p.shift >= split {
		p.shift++
	}
	p.counts = newPages(int((p.hi-p.lo-1)>>p.shift) + 1)
}

// pages has a number of durations for each bucket or division, in pages of pageSize numbers. A page without
// durations is nil. The durations of a load are mostly in few pages.
type pages [][]int

const pageSize = 1 << 10

// newPages returns pages for n numbers, which are 0.
func newPages(n int) pages { return make(pages, (n+pageSize-1)/pageSize) }

// add adds 1 to the number with index i.
func (p pages) add(i int) {
	page := &p[i/pageSize]
	if *page == nil {
		*page = make([]int, pageSize)
	}
	(*page)[i%pageSize]++
}

// position returns the index of the bucket or division that contains a rank, the rank within it, and the
// number of durations in it.
func (p pages) position(rank int) (i, within, n int) {
	for k, page := range p {
		for j, n := range page {
			if rank < n {
				return k*pageSize + j, rank, n
			}
			rank -= n
		}
	}
	panic("sample: a rank beyond the last duration")
}

// buckets is the number of buckets that [bucketOf] distinguishes.
const buckets = 1 << 16

// bucketOf returns the bucket of v. The order of the buckets is the order of their values. Two values are
// in the same bucket if they have the same number of bits and the same ten leading bits. The first bucket
// also has all values below 0, which may occur because two clocks disagree.
func bucketOf(v int64) int {
	v = max(0, v)
	n := bits.Len64(uint64(v))
	if n <= 10 {
		return int(v)
	}
	shift := n - 10
	return shift<<10 + int(v>>shift)
}

// lowest returns the smallest value that is in bucket b or in a later bucket.
func lowest(b int) int64 {
	if b < 1<<10 {
		return int64(b)
	}
	shift, lead := b>>10, max(b&(1<<10-1), 1<<9)
	if shift >= 54 {
		return math.MaxInt64
	}
	return int64(lead) << shift
}
