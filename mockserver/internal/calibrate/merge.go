package calibrate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/profiles"
)

// A Sample holds the measurements of one process for one load, from one or more passes.
type Sample struct {
	// Server is the part of the benchmark's name that describes the server, such as "backend=vllm/model=yi-6b".
	Server string
	// Point is the load point. Its workload is the remaining part of the benchmark's name.
	Point profiles.Point
	// Outputs has the length in tokens of every output. It is empty if the lengths are unknown.
	Outputs []float64
}

// Merge returns the workloads and the load points of the samples, sorted by workload and concurrency. Several
// samples of a load become one point, with the median of each metric. If they were several points, a fit could
// be tested on a load to which it was fitted. It is an error if the samples are of two servers.
func Merge(all []Sample) ([]profiles.Workload, []profiles.Point, error) {
	type key struct {
		workload    string
		concurrency int
	}
	groups := map[key][]profiles.Point{}
	outputs := map[key][]float64{}
	for _, s := range all {
		if s.Server != all[0].Server {
			return nil, nil, fmt.Errorf("samples of %q and of %q: want one server: choose with -match", all[0].Server, s.Server)
		}
		at := key{s.Point.Workload, s.Point.Concurrency}
		groups[at] = append(groups[at], s.Point)
		outputs[at] = append(outputs[at], s.Outputs...)
	}
	var points []profiles.Point
	for _, at := range slices.SortedFunc(maps.Keys(groups), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.workload, b.workload), a.concurrency-b.concurrency)
	}) {
		p := middle(groups[at])
		p.Lengths = curveOf(outputs[at])
		points = append(points, p)
	}
	var workloads []profiles.Workload
	for _, p := range points {
		k := len(workloads) - 1
		if k < 0 || workloads[k].Name != p.Workload {
			workloads = append(workloads, profiles.Workload{Name: p.Workload, Client: "closed", Constant: true})
			k++
		}
		workloads[k].Constant = workloads[k].Constant && p.Lengths == nil
	}
	return workloads, points, nil
}

// middle returns a point with the median of each metric that all points in same have.
func middle(same []profiles.Point) profiles.Point {
	over := func(f func(profiles.Point) float64) float64 {
		var v []float64
		for _, p := range same {
			v = append(v, f(p))
		}
		slices.Sort(v)
		return quantile(v, .5)
	}
	p := same[0]
	p.Values = map[string]float64{}
	for u := range same[0].Values {
		if !slices.ContainsFunc(same, func(p profiles.Point) bool { _, ok := p.Values[u]; return !ok }) {
			p.Values[u] = over(func(p profiles.Point) float64 { return p.Values[u] })
		}
	}
	p.Prompt = over(func(p profiles.Point) float64 { return p.Prompt })
	p.Output = over(func(p profiles.Point) float64 { return p.Output })
	for _, q := range same {
		p.Requests = max(p.Requests, q.Requests)
	}
	return p
}

// curveOf returns the distribution of lengths, or nil if all lengths are equal.
func curveOf(lengths []float64) engine.Lengths {
	slices.Sort(lengths)
	if len(lengths) == 0 || lengths[0] == lengths[len(lengths)-1] {
		return nil
	}
	var l engine.Lengths
	for _, share := range curveShares {
		l = append(l, [2]float64{share, quantile(lengths, share)})
	}
	return l
}
