package decide

import (
	"math/bits"
	"sync"
)

// maxFlips is the maximum number of ways in which the signs of differences are flipped.
const maxFlips = 1 << maxFree

// maxFree is the number of rounds that can be exchanged independently of each other.
const maxFree = 12

// A flipSet is a set of ways in which old and new can be exchanged in n rounds. Each way exchanges some of
// the rounds; way 0 exchanges none.
//
// The ways form a group: exchanging in one way and then in another one is a third way of the set. That
// makes the test exact. If new is worse by exactly the margin, all ways are equally likely to have led to
// the samples. Each of them would be compared with the same set, so the share of ways whose p-value is at
// most p is at most p (Hemerik and Goeman, "Exact Testing with Random Permutations", 2018,
// https://doi.org/10.1007/s11749-017-0571-1).
type flipSet struct {
	n      int
	ways   int
	blocks [][]byte // for each block of eight rounds and each way, the rounds of the block that the way exchanges, as bits
}

// flips returns all 2^n ways, or maxFlips ways if there are more. In the second case, way w exchanges round
// i if an odd number of bits are set in both w and masks[i]. The masks are the powers of x modulo a
// primitive polynomial, so that any maxFree consecutive rounds are exchanged in all possible ways.
func flips(n int) *flipSet {
	if f, ok := flipSets.Load(n); ok {
		return f.(*flipSet)
	}
	f := &flipSet{n: n, ways: 1 << min(n, maxFree), blocks: make([][]byte, (n+7)/8)}
	const primitive = 1<<12 | 1<<6 | 1<<4 | 1<<1 | 1
	mask := 1
	for i := range n {
		if i%8 == 0 {
			f.blocks[i/8] = make([]byte, f.ways)
		}
		for way := range f.ways {
			f.blocks[i/8][way] |= byte(bits.OnesCount(uint(way&mask))&1) << (i % 8)
		}
		if mask <<= 1; mask >= maxFlips {
			mask ^= primitive
		}
	}
	flipSets.Store(n, f)
	return f
}

// flipSets caches the results of flips, by n.
var flipSets sync.Map

// keep returns those ways of f that exchange none of the rounds first, first+1 and so on.
func (f *flipSet) keep(first int) *flipSet {
	key := [2]int{f.n, first}
	if kept, ok := keptSets.Load(key); ok {
		return kept.(*flipSet)
	}
	kept := &flipSet{n: f.n, blocks: make([][]byte, len(f.blocks))}
	for way := range f.ways {
		exchanged := false
		for i := first; i < f.n; i++ {
			exchanged = exchanged || f.blocks[i/8][way]>>(i%8)&1 == 1
		}
		if exchanged {
			continue
		}
		kept.ways++
		for i, block := range f.blocks {
			kept.blocks[i] = append(kept.blocks[i], block[way])
		}
	}
	keptSets.Store(key, kept)
	return kept
}

// keptSets caches the results of keep, by f.n and first.
var keptSets sync.Map

// sums computes, for each way, the sum of the values after the signs in the exchanged rounds are flipped.
// It stores the sums in to.
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
