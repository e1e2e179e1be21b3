package benchdata

import (
	"cmp"
	"container/heap"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// A sampler picks n of a file's requests while the file is read, and holds no
// more than those: the first n, or n at random.
//
// Shuffling is giving every record a random key and sorting by it. Only those
// with the n lowest keys so far have to be kept, or counted.
type sampler struct {
	n       int
	seed    uint64
	shuffle *rand.Rand // nil: the first n
	kept    keyedRequests
	place   uint64
}

func newSampler(n int, seed uint64, shuffle bool) *sampler {
	s := &sampler{n: n, seed: seed}
	if shuffle {
		s.shuffle = rand.New(rand.NewPCG(seed, 0))
	}
	return s
}

// key returns the next record's key, and whether it may be picked.
func (s *sampler) key() (uint64, bool) {
	key := s.place
	s.place++
	if s.shuffle != nil {
		key = s.shuffle.Uint64()
	}
	return key, len(s.kept) < s.n || key < s.kept[0].key
}

// put picks a request, for now.
func (s *sampler) put(key uint64, r llmbench.Request) {
	heap.Push(&s.kept, keyedRequest{key, r})
	if len(s.kept) > s.n {
		heap.Pop(&s.kept)
	}
}

// done reports whether no later record can be picked.
func (s *sampler) done() bool { return s.shuffle == nil && len(s.kept) == s.n }

// pick picks of the requests that request makes of records, but for those that it
// says cannot be used, and whose tokens tok counts. It returns the first error of
// either.
func pick[T any](s *sampler, records iter.Seq2[T, error], tok llmbench.Tokenizer, request func(T) (llmbench.Request, bool)) error {
	for record, err := range records {
		if err != nil {
			return err
		}
		key, wanted := s.key()
		if !wanted {
			continue
		}
		if r, usable := request(record); usable {
			s.put(key, r)
			if s.done() {
				break
			}
		}
	}
	return tokenizerError(tok)
}

// requests returns those that were picked. When they are fewer than n, and may
// be repeated, shuffled ones are drawn again with replacement, others come
// again in their order.
func (s *sampler) requests(repeat bool) []llmbench.Request {
	slices.SortFunc(s.kept, func(a, b keyedRequest) int { return cmp.Compare(a.key, b.key) })
	requests := make([]llmbench.Request, 0, len(s.kept))
	for _, k := range s.kept {
		requests = append(requests, k.Request)
	}
	again := rand.New(rand.NewPCG(s.seed, 1))
	for i := 0; repeat && len(requests) < s.n; i++ {
		if s.shuffle != nil {
			i = again.IntN(len(s.kept))
		}
		requests = append(requests, requests[i])
	}
	return requests
}

// keyedRequests is a heap of requests with the highest key on top.
type keyedRequests []keyedRequest

type keyedRequest struct {
	key uint64
	llmbench.Request
}

func (k keyedRequests) Len() int           { return len(k) }
func (k keyedRequests) Less(i, j int) bool { return k[i].key > k[j].key }
func (k keyedRequests) Swap(i, j int)      { k[i], k[j] = k[j], k[i] }
func (k *keyedRequests) Push(x any)        { *k = append(*k, x.(keyedRequest)) }
func (k *keyedRequests) Pop() any {
	last := len(*k) - 1
	x := (*k)[last]
	*k = (*k)[:last]
	return x
}
