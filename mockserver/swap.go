package mockserver

import (
	"slices"
	"sync"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/wire"
)

// swaps are the requests that the fault swap has hit and that have no output yet. Each waits for another
// one to exchange answers with; nothing is delayed for that.
type swaps struct {
	mu      sync.Mutex
	waiting []*exchange // in the order of their arrival
}

// offer exchanges the answer of x with the answer of the first request that waits and has an answer of the
// same number of tokens. If there is none x waits. The logs of both name the other.
func (s *swaps) offer(x *exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, y := range s.waiting {
		if wire.Swap(&x.req, &y.req) {
			x.rec.Swapped, y.rec.Swapped = y.rec.Ordinal, x.rec.Ordinal
			s.waiting = slices.Delete(s.waiting, i, i+1)
			return
		}
	}
	s.waiting = append(s.waiting, x)
}

// settle says that the output of x begins or that x ends, so that its answer is exchanged no more.
func (s *swaps) settle(x *exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.waiting, x); i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
}
