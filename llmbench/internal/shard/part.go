package shard

// A Part says which part of a measurement a process has. The zero Part is the whole of it.
//
// Each worker of a closed loop, and each place of an open loop whose requests in flight are
// bounded, has a number. Shard i of n has the numbers k with k mod n = i. Request r of a pass
// belongs to worker r mod w, where w is the number of workers, so that each shard's share of the
// requests is its share of the workers.
type Part struct {
	Index int // of the shard, from 0
	Count int // of all shards; 0 and 1 mean a process alone
}

// Alone reports whether there is no other part.
func (p Part) Alone() bool { return p.Count <= 1 }

// count returns the number of parts, at least 1.
func (p Part) count() int { return max(1, p.Count) }

// Workers returns how many of all workers the part has.
func (p Part) Workers(all int) int { return max(0, all-p.Index+p.count()-1) / p.count() }

// Worker returns the number among all workers of the part's k-th one, from 0.
func (p Part) Worker(k int) int { return p.Index + k*p.count() }

// Stride returns the difference between the numbers of two successive workers of the part.
func (p Part) Stride() int { return p.count() }

// Requests returns the indices of the part's requests, in order, of a pass of n requests. Workers
// is the number of all workers, or 0 if it is not bounded: then each request counts as a worker.
func (p Part) Requests(n, workers int) []int {
	var own []int
	for r := range n {
		worker := r
		if workers > 0 {
			worker = r % workers
		}
		if worker%p.count() == p.Index {
			own = append(own, r)
		}
	}
	return own
}
