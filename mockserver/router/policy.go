package router

import "cmp"

// A Policy chooses replicas. It is not safe for concurrent use.
type Policy interface {
	// Choose returns the index of the replica for a request. prefix has the names of the blocks at the
	// beginning of the prompt, in order. If two prompts have the same first n names, they are equal up to the
	// end of block n. open has the number of unfinished requests of each replica. It has at least one
	// element, and Choose must not keep it.
	Choose(prefix []uint64, open []int) int
}

// Policies returns a new policy of each kind, by name.
func Policies() map[string]Policy {
	return map[string]Policy{"round-robin": &RoundRobin{}, "least-queue": &LeastQueue{}, "prefix-hash": &PrefixHash{}}
}

// RoundRobin chooses the replicas in turn.
type RoundRobin struct{ next int }

// Choose implements [Policy].
func (r *RoundRobin) Choose(_ []uint64, open []int) int {
	i := r.next % len(open)
	r.next = i + 1
	return i
}

// LeastQueue chooses the replica with the fewest unfinished requests. If several have the fewest, it
// chooses the first one after the previously chosen replica.
type LeastQueue struct{ next int }

// Choose implements [Policy].
func (l *LeastQueue) Choose(_ []uint64, open []int) int {
	best := l.next % len(open)
	for k := range open {
		if i := (l.next + k) % len(open); open[i] < open[best] {
			best = i
		}
	}
	l.next = best + 1
	return best
}

// PrefixHash always chooses the same replica for prompts with the same beginning, which this replica then
// has in its prefix cache. It does not look at the number of requests. If a replica is added or removed at
// the end of the list, only its own prefixes move (rendezvous hashing, https://en.wikipedia.org/wiki/Rendezvous_hashing).
type PrefixHash struct {
	// Blocks is how many blocks of a prompt decide; 0 means four. A shorter prompt decides with the blocks
	// that it has.
	Blocks int
}

// defaultBlocks is the default of PrefixHash.Blocks.
const defaultBlocks = 4

// Choose implements [Policy].
func (p *PrefixHash) Choose(prefix []uint64, open []int) int {
	name := uint64(0)
	if n := min(cmp.Or(p.Blocks, defaultBlocks), len(prefix)); n > 0 {
		name = prefix[n-1]
	}
	best, most := 0, uint64(0)
	for i := range open {
		if weight := mix(name + mix(uint64(i)+1)); weight >= most {
			best, most = i, weight
		}
	}
	return best
}

// mix is a function of 64 bits in which each bit of the result depends on each bit of x: the output
// function of SplitMix64 (https://prng.di.unimi.it/splitmix64.c).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
