package judge

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// An Outlier is a shard (a process that sends a part of the requests) whose requests took longer than the
// requests of the other shards.
type Outlier struct {
	Shard    int
	Quantile float64       // quantile at which the difference is largest: 0.5, 0.9, 0.99, or 1 for the slowest requests
	Own      time.Duration // E2E latency of the shard at Quantile; for Quantile 1, the shortest of its slowest requests
	Others   time.Duration // E2E latency of all other shards at Quantile
}

// String describes an outlier. The text continues a sentence that begins with the name of the shard.
func (o Outlier) String() string {
	if o.Quantile == 1 {
		return fmt.Sprintf("its slowest requests took %v and more, and the slowest of the other shards %v", round(o.Own), round(o.Others))
	}
	return fmt.Sprintf("its p%g E2E latency is %v, and %v in the other shards", 100*o.Quantile, round(o.Own), round(o.Others))
}

// round rounds to about three digits.
func round(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for ; d/unit >= 1000; unit *= 10 {
	}
	return d.Round(unit)
}

const (
	// outlierRisk is the probability that any shard is called an outlier by chance, for all shards and
	// quantiles of a measurement together.
	outlierRisk = 1e-3
	// leastRatio is the minimum ratio of an outlier's latency to the latency of the other shards.
	leastRatio = 1.2
	// leastRequests is the minimum number of requests of a shard, and of the other shards together.
	leastRequests = 8
)

// Outliers returns the shards whose successful requests took longer than the requests of the other shards,
// by more than chance explains. The network or the machine of such a shard is slower, all the time or for a
// while. The argument shards is the number of shards. The plan gives requests to the shards in turn.
// Without an outlier, each of the slowest requests of all is therefore in any shard with the same
// probability, and their number in one shard has a hypergeometric distribution. A session counts once, by
// its slowest turn, because turns depend on each other.
func Outliers(samples iter.Seq[*sample.Sample], shards int) (all []Outlier) {
	type key struct{ pass, request int }
	type request struct {
		shard int
		e2e   time.Duration
	}
	slowest := map[key]request{}
	for s := range samples {
		e2e, known := s.E2E()
		if k := (key{s.Pass, s.Request}); s.Outcome == sample.OK && known && e2e >= slowest[k].e2e {
			slowest[k] = request{s.Shard, e2e}
		}
	}
	requests := make([]request, 0, len(slowest))
	of := make([]int, shards) // number of requests of each shard
	for _, r := range slowest {
		if r.shard >= 0 && r.shard < shards {
			requests = append(requests, r)
			of[r.shard]++
		}
	}
	slices.SortFunc(requests, func(a, b request) int { return cmp.Or(cmp.Compare(a.e2e, b.e2e), cmp.Compare(a.shard, b.shard)) })
	levels := []float64{0.5, 0.9, 0.99}
	risk := outlierRisk / float64(shards*(len(levels)+1))
	for shard, n := range of {
		if n < leastRequests || len(requests)-n < leastRequests {
			continue
		}
		var own, others []time.Duration
		for _, r := range requests {
			if r.shard == shard {
				own = append(own, r.e2e)
			} else {
				others = append(others, r.e2e)
			}
		}
		worst := Outlier{Shard: shard}
		last := others[len(others)-1]
		above, _ := slices.BinarySearch(own, time.Duration(leastRatio*float64(last)))
		if k := n - above; k > 0 && atLeast(k, k, n, len(requests)) <= risk {
			worst = Outlier{shard, 1, own[above], last}
		}
		for _, q := range levels {
			slow := requests[quantile(len(requests), q):]
			inShard := 0
			for _, r := range slow {
				if r.shard == shard {
					inShard++
				}
			}
			o := Outlier{shard, q, own[quantile(len(own), q)], others[quantile(len(others), q)]}
			ratio := float64(o.Own) / float64(max(o.Others, 1))
			if ratio >= leastRatio && ratio > float64(worst.Own)/float64(max(worst.Others, 1)) && atLeast(inShard, len(slow), n, len(requests)) <= risk {
				worst = o
			}
		}
		if worst.Own > 0 {
			all = append(all, worst)
		}
	}
	return all
}

// quantile returns the index of a quantile among n sorted values.
func quantile(n int, q float64) int { return min(int(q*float64(n)), n-1) }

// atLeast returns the probability that a random draw has at least k marked elements. The arguments drawn,
// marked and all are the numbers of drawn elements, of marked elements, and of all elements.
func atLeast(k, drawn, marked, all int) (p float64) {
	for ; k <= min(drawn, marked); k++ {
		p += math.Exp(choose(marked, k) + choose(all-marked, drawn-k) - choose(all, drawn))
	}
	return p
}

// choose returns the logarithm of the number of ways to choose k of n elements.
func choose(n, k int) float64 {
	if k < 0 || k > n {
		return math.Inf(-1)
	}
	log := func(x int) float64 { l, _ := math.Lgamma(float64(x + 1)); return l }
	return log(n) - log(k) - log(n-k)
}
