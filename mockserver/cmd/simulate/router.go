package main

import (
	"fmt"

	"github.com/seed-2b9cec6d/llmbench/mockserver/router"
)

// newRouter returns the router with the given name.
func newRouter(name string) (router.Policy, error) {
	switch name {
	case "round-robin":
		return &router.RoundRobin{}, nil
	case "least-outstanding":
		return &router.LeastQueue{}, nil
	case "prefix":
		return &prefixAware{seen: map[uint64]int{}}, nil
	case "prefix-hash":
		return &router.PrefixHash{}, nil
	}
	return nil, fmt.Errorf("router: %q: want round-robin, least-outstanding, prefix or prefix-hash", name)
}

// prefixAware chooses the replica that most recently got the longest prefix of the prompt, and so probably has
// it in its cache. It passes over replicas that have more than twice as many requests as the least busy
// replica, plus slack. If no replica is left, it chooses the least busy one. It does not know what a replica
// has dropped from its cache.
type prefixAware struct {
	seen  map[uint64]int // maps the name of a block to the replica that most recently got the block
	least router.LeastQueue
}

// slack is the number of requests that a replica may have beyond twice the number of the least busy replica.
const slack = 8

// Choose implements [router.Policy].
func (r *prefixAware) Choose(prefix []uint64, open []int) int {
	least := r.least.Choose(prefix, open)
	best := least
	for _, name := range prefix {
		i, ok := r.seen[name]
		if !ok {
			break
		}
		if open[i] <= 2*open[least]+slack {
			best = i
		}
	}
	for _, name := range prefix {
		r.seen[name] = best
	}
	return best
}
