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

// Requests returns how many of the first n requests of a pass belong to the part. The argument workers is the number of
// all workers. If it is 0, the number of requests in flight is not limited, and each request counts as a worker.
func (p Part) Requests(n, workers int) int {
	if workers == 0 {
		workers = p.count()
	}
	return n/workers*p.Workers(workers) + p.Workers(n%workers)
}

// Request returns the index of the part's k-th request, in order. Both count from 0. The argument workers is the one of
// Requests, and the part must have at least one of the workers.
func (p Part) Request(k, workers int) int {
	if workers == 0 {
		workers = p.count()
	}
	own := p.Workers(workers)
	return k/own*workers + p.Worker(k%own)
}

// Owner returns the index of the part to which a request belongs. The argument workers is the same as of Requests.
func (p Part) Owner(request, workers int) int {
	if workers > 0 {
		request %= workers
	}
	return request % p.count()
}
