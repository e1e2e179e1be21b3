package benchdata

import (
	"cmp"
	"container/heap"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// A sampler selects n requests from a file while the file is read: the first n, or n random
// ones. It holds at most n requests in memory.
//
// To shuffle, the sampler gives every record a random key and sorts by the keys. So only the
// records with the n lowest keys so far need to be tokenized and kept.
type sampler struct {
	n       int
	seed    uint64
	shuffle *rand.Rand // nil means that the first n are selected
	kept    keyedRequests
	records uint64 // number of records so far
}

// newSampler returns a sampler that selects n requests, at random if shuffle is true.
func newSampler(n int, seed uint64, shuffle bool) *sampler {
	s := &sampler{n: n, seed: seed}
	if shuffle {
		s.shuffle = rand.New(rand.NewPCG(seed, 0))
	}
	return s
}

// key returns the key of the next record, and whether the record can be selected.
func (s *sampler) key() (uint64, bool) {
	key := s.records
	s.records++
	if s.shuffle != nil {
		key = s.shuffle.Uint64()
	}
	return key, len(s.kept) < s.n || key < s.kept[0].key
}

// put adds a request. If there are then more than n, put drops the request with the highest
// key.
func (s *sampler) put(key uint64, r llmbench.Request) {
	heap.Push(&s.kept, keyedRequest{key, r})
	if len(s.kept) > s.n {
		heap.Pop(&s.kept)
	}
}

// done reports whether no later record can be selected.
func (s *sampler) done() bool { return s.shuffle == nil && len(s.kept) == s.n }

// add reads as many records as needed and adds the usable requests to s. The function request
// makes a request from a record and reports whether the request is usable. tok is the tokenizer
// that this function uses. add returns the first error of records or tok.
func add[T any](s *sampler, records iter.Seq2[T, error], tok llmbench.Tokenizer, request func(T) (llmbench.Request, bool)) error {
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

// requests returns the selected requests. If there are fewer than n and repeat is true, it adds
// repeated requests: random ones if the requests are shuffled, otherwise all in order, from the
// first.
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

// keyedRequests is a heap of requests with the highest key at the top.
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
