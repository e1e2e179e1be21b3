package mockserver

import "fmt"

// A Fault spoils every n-th request. Requests are counted from 1 in the order in
// which the server was entered: see [Entry.Ordinal].
type Fault struct {
	// Kind is what goes wrong.
	Kind FaultKind `json:"kind"`
	// Every is n: ordinals n, 2n, 3n and so on are hit. It must be at least 1.
	Every int `json:"every"`
	// At is the index of the token that is struck, from 0: tokens 0 to At-1 are
	// sent as ever, and at the instant token At is due the fault takes its
	// place. If the output is not that long, its last token is struck.
	At int `json:"at,omitzero"`
}

// A FaultKind is what goes wrong with a request.
type FaultKind string

// The kinds of fault. Those marked with * have no At. A request that is not
// streamed sends no token before its end, so there At is only a matter of time;
// what its body is then stands after the semicolon.
const (
	FaultHTTP500    FaultKind = "http-500"    // * status 500 and an error object at once, without a slot
	FaultReset      FaultKind = "reset"       // the connection is reset (TCP RST); the same
	FaultTruncate   FaultKind = "truncate"    // the body ends cleanly, with no finish reason, usage or [DONE]; half the object
	FaultErrorEvent FaultKind = "error-event" // an error object as an event, then [DONE], all with status 200; the error object
	FaultEmpty      FaultKind = "empty"       // * status 200 and no body, when the first token is due; the same
	FaultStall      FaultKind = "stall"       // nothing more, and the slot kept, until the client or the server closes; nothing at all
	FaultNoDone     FaultKind = "no-done"     // * a whole stream, but no [DONE]; no fault
	FaultMalformed  FaultKind = "malformed"   // an event that is not JSON before token At's, then on as ever; half the object
)

// faultKinds lists the kinds for error messages.
const faultKinds = "http-500, reset, truncate, error-event, empty, stall, no-done or malformed"

func (f Fault) validate() error {
	switch f.Kind {
	case FaultHTTP500, FaultReset, FaultTruncate, FaultErrorEvent, FaultEmpty, FaultStall, FaultNoDone, FaultMalformed:
	default:
		return fmt.Errorf("kind: %q, want %s", f.Kind, faultKinds)
	}
	if f.Every < 1 {
		return fmt.Errorf("every: %d, want 1 or more", f.Every)
	}
	if f.At < 0 {
		return fmt.Errorf("at: %d, want 0 or more", f.At)
	}
	return nil
}

// faultFor returns the fault that hits the request with that ordinal, or one
// without a kind.
func faultFor(faults []Fault, ordinal uint64, stream bool) Fault {
	for _, f := range faults {
		if ordinal%uint64(f.Every) != 0 {
			continue
		}
		if f.Kind == FaultNoDone && !stream {
			return Fault{}
		}
		return f
	}
	return Fault{}
}

// strike returns the index of the token struck in an output of n tokens.
func (f Fault) strike(n int) int {
	if f.Kind == FaultEmpty {
		return 0
	}
	return min(f.At, max(n-1, 0))
}

// cuts reports whether nothing of the output follows the struck token.
func (f Fault) cuts() bool {
	switch f.Kind {
	case FaultReset, FaultTruncate, FaultErrorEvent, FaultEmpty, FaultStall:
		return true
	}
	return false
}
