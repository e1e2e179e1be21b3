package main

import (
	"fmt"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
)

// A router chooses the replica for a job. open has the number of unfinished requests at each replica.
type router interface {
	choose(j engine.Job, open []int) int
}

// newRouter returns the router with the given name.
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

// leastOutstanding chooses the replica with the fewest unfinished requests. If several have the fewest, it
// chooses the first one after the previously chosen replica.
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

// prefixAware chooses the replica that most recently got the longest prefix of the prompt, and so probably has
// it in its cache. It passes over replicas that have more than twice as many requests as the least busy
// replica, plus slack. If no replica is left, it chooses the least busy one. It does not know what a replica
// has dropped from its cache.
type prefixAware struct {
	seen  map[uint64]int // maps the name of a block to the replica that most recently got the block
	least leastOutstanding
}

// slack is the number of requests that a replica may have beyond twice the number of the least busy replica.
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
