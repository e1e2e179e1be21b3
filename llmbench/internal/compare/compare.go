// Package compare says in words how servers compare at equal loads: which is faster and by how much, how sure
// that is, and which load to measure next. Reports and the table at the end of a run use the same words.
//
// A difference counts as real if a test of ranks shows it for all loads and metrics of the answer together, with
// 95 % confidence (see E. L. Lehmann, "Nonparametrics", 1975, section 1.2). The test supposes that each run is a
// fresh start of the server. The answer is "preliminary" as long as there are too few runs for the test.
package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// A Comparison is the result of [Of].
type Comparison struct {
	Order []int    // the systems that Says names, the best first, as indexes
	Says  []string // a paragraph about the best two systems, and then one for each other system
	// Adds says that one of the best two systems is a gateway to the other one. The first paragraph then says what the
	// gateway adds, and not which of the two is faster.
	Adds bool
	// Short is the first paragraph in a few words.
	Short Short
}

// maxNamed is the largest number of systems that are compared with the best one.
const maxNamed = 5

// Of compares systems at equal loads. The key of the load is concurrency, streams, rate, qps, or "" if there is
// none. A load that keeps the SLO has at least the given share of its requests within the SLO. The result is nil
// if no two systems have a load in common, and none of them is a gateway to another one.
//
// In a closed loop the system with the greater throughput is faster. In an open loop the throughput is only the
// rate of arrivals, so the system with the smaller latency is faster.
func Of(key string, all []System, share float64) *Comparison {
	sign := 1.0
	if Open(key) {
		sign = -1
	}
	said := make([]string, len(all)) // what each system adds
	for i := range all {
		said[i] = adds(key, &all[i])
	}
	adding := func(i, j int) bool { return (said[i] == "") != (said[j] == "") && all[i].Work == all[j].Work }
	var candidates []int
	for i := range all {
		for j := range all {
			if all[j].Name != all[i].Name && (adding(i, j) || len(speeds(key, &all[i], &all[j]).strata) > 0) {
				candidates = append(candidates, i)
				break
			}
		}
	}
	if len(candidates) < 2 {
		return nil
	}
	streams := func(i int) int { // with them begins what is said
		if slices.ContainsFunc(all[i].Points, func(p Point) bool { return len(p.TTFT) > 0 }) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(candidates, func(i, j int) int { return cmp.Compare(streams(i), streams(j)) })
	best := candidates[0]
	for _, i := range candidates[1:] {
		if p := speeds(key, &all[i], &all[best]); len(p.strata) > 0 && sign*math.Log(p.mean()) > 0 {
			best = i
		}
	}
	type other struct {
		index int
		*pair
	}
	var others []other
	for _, i := range candidates {
		if p := speeds(key, &all[best], &all[i]); i != best && (adding(best, i) || len(p.strata) > 0) {
			others = append(others, other{i, p})
		}
	}
	if len(others) == 0 {
		return nil
	}
	slices.SortStableFunc(others, func(a, b other) int { return cmp.Compare(sign*a.mean(), sign*b.mean()) })
	c := &Comparison{Order: []int{best}}
	for i, o := range others {
		if i == maxNamed {
			c.Says = append(c.Says, fmt.Sprintf("%d further systems were not faster.", len(others)-i))
			break
		}
		c.Order = append(c.Order, o.index)
		if adding(best, o.index) { // the question is what the one adds to the other, not which of the two is faster
			c.Says = append(c.Says, said[best]+said[o.index])
			if gateway := &all[o.index]; i == 0 {
				if said[best] != "" {
					gateway = &all[best]
				}
				c.Adds, c.Short = true, shortAdds(key, gateway)
			}
			continue
		}
		first := firstTokens(key, &all[best], &all[o.index])
		slo := ""
		if i == 0 {
			var named []System
			for _, j := range candidates {
				named = append(named, all[j])
			}
			slo = Limit(key, named, share)
		}
		comparisons := len(others) * (len(others) + 1) / 2 // the best one is known only after all pairs
		c.Says = append(c.Says, o.paragraph(first, slo, comparisons))
		if i == 0 {
			var same []*System
			for _, j := range candidates {
				if all[j].Work == all[best].Work {
					same = append(same, &all[j])
				}
			}
			c.Short = o.short(o.family(first, comparisons), same)
		}
	}
	for _, i := range candidates { // gateways with other work, such as answers that are not streamed
		if said[i] != "" && all[i].Work != all[best].Work {
			c.Says = append(c.Says, said[i])
		}
	}
	return c
}
