package fault

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"strings"
)

// A Fault makes every n-th request, or a random share of the requests, go wrong. The server
// numbers requests from 1 in the order in which it receives them; the number is the
// request's ordinal.
type Fault struct {
	// Kind is what goes wrong.
	Kind Kind `json:"kind"`
	// Every is n: the fault hits ordinals n, 2n, 3n and so on. It is at least 1, or
	// 0 if Share is set.
	Every int `json:"every,omitzero"`
	// Share is the probability, above 0 and up to 1, that the fault hits a request;
	// 0 means that Every decides. The random draw depends only on Seed, on the fault's
	// index in its list and on the ordinal.
	Share float64 `json:"share,omitzero"`
	Seed  uint64  `json:"seed,omitzero"`
	// Above models a bug that only large batches have: the fault hits a request only if more than Above
	// requests are in flight when it arrives. The request itself counts.
	Above int `json:"above,omitzero"`
	// At is the index, from 0, of the token at which the fault occurs. The tokens before
	// it are sent as usual. The fault occurs when token At is due. If the output has At
	// tokens or fewer, the fault occurs at the last token.
	At int `json:"at,omitzero"`
	// Size is the length, in bytes, of the line that a LongLine sends: at most 1 GiB; 0 means 64 MiB.
	Size int64 `json:"size,omitzero"`
}

// defaultLine is the default of [Fault].Size and maxLine is its largest value, in bytes.
const (
	defaultLine = 64 << 20
	maxLine     = 1 << 30
)

// LineSize returns Size with its default applied.
func (f Fault) LineSize() int64 { return cmp.Or(f.Size, defaultLine) }

// Validate returns nil if the fault is valid. Otherwise the error begins with the JSON name
// of the first invalid field and gives the field's value and what is allowed.
func (f Fault) Validate() error {
	if f.Kind.traits() == nil {
		return fmt.Errorf("kind: %q: want one of %s", f.Kind, strings.Join(kinds(), ", "))
	}
	if !(f.Share >= 0 && f.Share <= 1) { // NaN is neither
		return fmt.Errorf("share: %v: want 0 to 1", f.Share)
	}
	switch {
	case f.Share > 0 && f.Every != 0:
		return fmt.Errorf("every: %d and share: %v are both set: want only one", f.Every, f.Share)
	case f.Share == 0 && f.Every < 1:
		return fmt.Errorf("every: %d: want 1 or more; or set share instead", f.Every)
	case f.At < 0:
		return fmt.Errorf("at: %d: want 0 or more", f.At)
	case f.Above < 0:
		return fmt.Errorf("above: %d: want 0 or more requests in flight", f.Above)
	case f.Size < 0 || f.Size > maxLine:
		return fmt.Errorf("size: %d: want 0 (64 MiB) to %d", f.Size, maxLine)
	}
	return nil
}

// For returns the fault that hits a request: the first in the list that does, or the zero Fault if
// none does. ordinal is the request's number, and inFlight is the number of requests in flight,
// including this one. Some faults affect only streams. If such a fault is the first that hits a
// request without a stream, For returns the zero Fault and does not look at the faults after it.
func For(faults []Fault, ordinal uint64, stream bool, inFlight int) Fault {
	for i, f := range faults {
		if inFlight <= f.Above || !f.hits(i, ordinal) {
			continue
		}
		if f.Kind.traits().streamOnly && !stream {
			return Fault{}
		}
		return f
	}
	return Fault{}
}

// hits reports whether the fault hits the request with this ordinal, regardless of Above. index
// is the fault's index in its list.
func (f Fault) hits(index int, ordinal uint64) bool {
	if f.Share > 0 {
		// The index is part of the seed, so that two faults with the same share and
		// seed hit different requests.
		return rand.New(rand.NewPCG(f.Seed, ordinal<<16|uint64(index)&0xffff)).Float64() < f.Share
	}
	return ordinal%uint64(f.Every) == 0
}

// Amount returns the difference, 1 to 9, between the number in a Wrong answer and the right number.
// It depends only on Seed and on the ordinal.
func (f Fault) Amount(ordinal uint64) int {
	return 1 + rand.New(rand.NewPCG(^f.Seed, ordinal)).IntN(9)
}

// Token returns the index of the token at which the fault occurs in an output of
// n tokens, or -1 if the fault is not tied to a token.
func (f Fault) Token(n int) int {
	switch t := f.Kind.traits(); {
	case t == nil:
		return -1
	case t.atToken:
		return min(f.At, max(n-1, 0))
	case t.cuts:
		return 0
	}
	return -1
}

// Cuts reports whether the fault ends the output: no token follows it.
func (f Fault) Cuts() bool {
	t := f.Kind.traits()
	return t != nil && t.cuts
}

// Holds reports whether the request keeps its slot until its client hangs up.
func (f Fault) Holds() bool { return f.Kind == Stall || f.Kind == Endless }
