package distortion

import (
	"container/heap"
	"time"
)

// A closedLoop describes the workers of a closed loop in one pass.
type closedLoop struct {
	workers int
	stagger time.Duration   // the k-th worker, from 0, should begin at k times stagger
	took    []time.Duration // duration of each post, in the order in which workers took them: from its first send to its last end
}

// elapsed returns how long the pass would have taken if each worker had begun on time, and had sent each
// post as soon as its last one ended. The duration of each post stays the same.
func (c closedLoop) elapsed() (longest time.Duration) {
	free := make(instants, min(c.workers, len(c.took))) // when each worker is free; in order, and so a heap
	for k := range free {
		free[k] = time.Duration(k) * max(0, c.stagger)
	}
	for _, took := range c.took {
		free[0] += max(0, took)
		longest = max(longest, free[0])
		heap.Fix(&free, 0)
	}
	return longest
}

// instants is a heap whose first element is the earliest.
type instants []time.Duration

func (h instants) Len() int           { return len(h) }
func (h instants) Less(i, j int) bool { return h[i] < h[j] }
func (h instants) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *instants) Push(any)          { panic("distortion: the number of workers is fixed") }
func (h *instants) Pop() any          { panic("distortion: the number of workers is fixed") }
