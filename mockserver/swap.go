package mockserver

import (
	"slices"
	"sync"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/wire"
)

// swaps holds the requests with the fault swap that have no output yet. Each of them can exchange answers
// with a later request. No request is delayed for an exchange.
type swaps struct {
	mu      sync.Mutex
	waiting []*exchange // in the order of arrival
}

// offer exchanges the answer of x with the answer of the first request in waiting whose answer has the same
// number of tokens. If there is no such request, x is added to waiting. After an exchange, the log entry of
// each of the two requests has the other's ordinal.
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

// settle removes x from the waiting requests. It must be called when the output of x begins and when x ends:
// after that the answer must not change.
func (s *swaps) settle(x *exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.waiting, x); i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
}
