package shard

// A Part says which part of a measurement a process has. The zero Part is the whole measurement.
//
// The workers of a closed loop are numbered. So are the places of an open loop with a limited number of
// requests in flight; a place counts as a worker here. Shard i of n has the workers k with k mod n = i.
// Request r of a pass belongs to worker r mod w, where w is the number of workers. Each shard's share of
// the requests is therefore the same as its share of the workers.
type Part struct {
	Index int // number of the shard, from 0
	Count int // number of all shards; 0 and 1 mean a process alone
}

// Alone reports whether there is no other part.
func (p Part) Alone() bool { return p.Count <= 1 }

// count returns the number of parts, at least 1.
func (p Part) count() int { return max(1, p.Count) }

// Workers returns how many of all workers belong to the part.
func (p Part) Workers(all int) int { return max(0, all-p.Index+p.count()-1) / p.count() }

// Worker returns the number, among all workers, of the part's k-th worker. Both count from 0.
func (p Part) Worker(k int) int { return p.Index + k*p.count() }

// Stride returns the difference between the numbers of two successive workers of the part.
func (p Part) Stride() int { return p.count() }

// Requests returns the indices of the part's requests in a pass of n requests, in order. The argument
// workers is the number of all workers. If it is 0, the number of requests in flight is not limited, and
// each request counts as a worker.
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
