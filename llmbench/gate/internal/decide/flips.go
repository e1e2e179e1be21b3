package decide

import (
	"math/rand/v2"
	"sync"
)

// maxFlips is the maximum number of ways in which the signs of differences are flipped.
const maxFlips = 1 << 12

// A flipSet is a set of ways in which old and new can be exchanged in each of n rounds. Way
// 0 exchanges nothing.
type flipSet struct {
	n      int
	ways   int
	blocks [][]byte // for each block of eight rounds, the rounds that each way exchanges
}

// flips returns all 2^n ways, or a sample of maxFlips ways if there are more. The sample is
// always the same for the same n.
func flips(n int) *flipSet {
	if f, ok := flipSets.Load(n); ok {
		return f.(*flipSet)
	}
	f := &flipSet{n: n, ways: maxFlips, blocks: make([][]byte, (n+7)/8)}
	all := n < 31 && 1<<n <= maxFlips
	if all {
		f.ways = 1 << n
	}
	r := rand.New(rand.NewPCG(uint64(n), 0))
	for i := range f.blocks {
		rounds := min(8, n-8*i)
		f.blocks[i] = make([]byte, f.ways)
		for way := 1; way < f.ways; way++ {
			if all {
				f.blocks[i][way] = byte(way >> (8 * i))
			} else {
				f.blocks[i][way] = byte(r.Uint32()) & byte(1<<rounds-1)
			}
		}
	}
	flipSets.Store(n, f)
	return f
}

// flipSets caches the results of flips, by n.
var flipSets sync.Map

// sums sets the elements of to, one for each way, to the sum of the values after the signs
// of the exchanged rounds are flipped.
func (f *flipSet) sums(values, to []float64) {
	clear(to)
	var table [256]float64
	for i, block := range f.blocks {
		part := values[8*i : min(8*i+8, f.n)]
		table[0] = 0
		for _, v := range part {
			table[0] += v
		}
		for b, v := range part { // the entries below 1<<b are set
			for j := range 1 << b {
				table[1<<b|j] = table[j] - 2*v
			}
		}
		for way, b := range block {
			to[way] += table[b]
		}
	}
}
