package main

import (
	"fmt"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
)

// A router chooses the replica for a job. open has the number of requests at each
// replica that have not ended.
type router interface {
	choose(j engine.Job, open []int) int
}

// newRouter returns the router with that name.
func newRouter(name string) (router, error) {
	switch name {
	case "round-robin":
		return &roundRobin{}, nil
	case "least-outstanding":
		return &leastOutstanding{}, nil
	case "prefix":
		return &prefixAware{seen: map[uint64]int{}}, nil
	}
	return nil, fmt.Errorf("router: %q, want round-robin, least-outstanding or prefix", name)
}

// roundRobin chooses the replicas in turn.
type roundRobin struct{ last int }

func (r *roundRobin) choose(_ engine.Job, open []int) int {
	r.last++
	return (r.last - 1) % len(open)
}

// leastOutstanding chooses the replica with the fewest requests; of several the first
// after the replica that it chose before.
type leastOutstanding struct{ last int }

func (r *leastOutstanding) choose(_ engine.Job, open []int) int {
	best := (r.last + 1) % len(open)
	for k := range open {
		if i := (r.last + 1 + k) % len(open); open[i] < open[best] {
			best = i
		}
	}
	r.last = best
	return best
}

// prefixAware chooses the replica that was last sent the longest beginning of the
// prompt, unless that replica has more than twice as many requests, plus slack, as
// another. It does not learn what a replica drops from its cache.
type prefixAware struct {
	seen  map[uint64]int // name of a block to the replica that was last sent it
	least leastOutstanding
}

// slack is how many requests beyond twice the number of another replica are allowed.
const slack = 8

func (r *prefixAware) choose(j engine.Job, open []int) int {
	best := r.least.choose(j, open)
	for _, name := range j.Prefix {
		i, ok := r.seen[name]
		if !ok {
			break
		}
		if open[i] <= 2*open[r.least.last]+slack {
			best = i
		}
	}
	for _, name := range j.Prefix {
		r.seen[name] = best
	}
	return best
}
