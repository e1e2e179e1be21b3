package mockserver

import (
	"fmt"
	"math/rand/v2"
)

// A Fault spoils every n-th request, or a share of them. Requests are counted
// from 1 in the order in which the server was entered: see [Entry.Ordinal].
// Which requests are hit depends on nothing else, so a run can be repeated.
type Fault struct {
	// Kind is what goes wrong.
	Kind FaultKind `json:"kind"`
	// Every is n: ordinals n, 2n, 3n and so on are hit. It must be at least 1,
	// or 0 with a Share.
	Every int `json:"every,omitzero"`
	// Share is the probability, above 0 and up to 1, with which a request is hit;
	// 0 leaves it to Every. The draw depends on Seed, the fault's place in the
	// list and the ordinal alone.
	Share float64 `json:"share,omitzero"`
	Seed  uint64  `json:"seed,omitzero"`
	// At is the index of the token that is struck, from 0: tokens 0 to At-1 are
	// sent as ever, and at the instant token At is due the fault takes its
	// place. If the output is not that long, its last token is struck.
	At int `json:"at,omitzero"`
	// Size is the length in bytes of the line of FaultLongLine; 0 means 64 MiB.
	Size int64 `json:"size,omitzero"`
}

// A FaultKind is what goes wrong with a request.
type FaultKind string

// The kinds of fault; [FaultNames] says what each does.
const (
	FaultHTTP400     FaultKind = "http-400"
	FaultHTTP401     FaultKind = "http-401"
	FaultHTTP404     FaultKind = "http-404"
	FaultHTTP413     FaultKind = "http-413"
	FaultHTTP422     FaultKind = "http-422"
	FaultHTTP429     FaultKind = "http-429"
	FaultHTTP500     FaultKind = "http-500"
	FaultHTTP503     FaultKind = "http-503"
	FaultHTML502     FaultKind = "html-502"
	FaultHTML200     FaultKind = "html-200"
	FaultWrongType   FaultKind = "wrong-type"
	FaultJSON        FaultKind = "json"
	FaultGzip        FaultKind = "gzip"
	FaultSlowHeader  FaultKind = "slow-header"
	FaultEmpty       FaultKind = "empty"
	FaultErrorEvent  FaultKind = "error-event"
	FaultNamedError  FaultKind = "named-error"
	FaultErrorString FaultKind = "error-string"
	FaultMalformed   FaultKind = "malformed"
	FaultLongLine    FaultKind = "long-line"
	FaultTruncate    FaultKind = "truncate"
	FaultFIN         FaultKind = "fin"
	FaultReset       FaultKind = "reset"
	FaultStall       FaultKind = "stall"
	FaultEndless     FaultKind = "endless"
	FaultNoDone      FaultKind = "no-done"
	FaultFormat      FaultKind = "format"
)

// A Name is one that a Config or the command line knows, and what it does.
type Name struct{ Name, Doc string }

// A faultFact is what the code has to know of a kind of fault.
type faultFact struct {
	kind   FaultKind
	at     bool // strikes a token
	cuts   bool // nothing of the output follows the token it strikes
	stream bool // does nothing to a request that is not streamed
	doc    string
}

// What is said after a semicolon is what a request that is not streamed sees.
// Such a request sends no token before its end, so there At is a matter of time
// only.
var faultFacts = []faultFact{
	{FaultHTTP400, false, false, false, "status 400, at once and without a slot, as when the prompt is longer than the context"},
	{FaultHTTP401, false, false, false, "status 401, at once"},
	{FaultHTTP404, false, false, false, "status 404, at once, as for a model the server has not"},
	{FaultHTTP413, false, false, false, "status 413, at once"},
	{FaultHTTP422, false, false, false, "status 422, at once, as when the body fails validation"},
	{FaultHTTP429, false, false, false, "status 429 with Retry-After: 1, at once"},
	{FaultHTTP500, false, false, false, "status 500, at once"},
	{FaultHTTP503, false, false, false, "status 503, at once, as when the queue is full"},
	{FaultHTML502, false, false, false, "a proxy's HTML page with status 502, at once"},
	{FaultHTML200, false, false, false, "a proxy's HTML page with status 200, at once"},
	{FaultWrongType, false, false, false, "a whole answer that says it is text/html"},
	{FaultJSON, false, false, true, "stream is ignored: one JSON object when the last token is due"},
	{FaultGzip, false, false, false, "a whole answer with Content-Encoding: gzip, whatever was asked"},
	{FaultSlowHeader, false, false, false, "the header comes a byte every 2 ms from admission on, then all that is due; closes the connection"},
	{FaultEmpty, false, true, false, "status 200 and no body, when the first token is due"},
	{FaultErrorEvent, true, true, false, "the dialect's error object as an event, and its end marker; the error object with status 200"},
	{FaultNamedError, true, true, false, "the same under event: error, and no end marker; the error object with status 200"},
	{FaultErrorString, true, true, false, `{"error":"..."} as an event, and no end marker; the same with status 200`},
	{FaultMalformed, true, false, false, "an event that is not JSON before token At's, then on as ever; half the object"},
	{FaultLongLine, true, false, false, "an event with a line of Size bytes before token At's, then on as ever; an object with a string of that size"},
	{FaultTruncate, true, true, false, "the body ends cleanly, with no finish reason, usage or end marker; half the object"},
	{FaultFIN, true, true, false, "the connection is closed (TCP FIN) without the end of the body; the same after half the object"},
	{FaultReset, true, true, false, "the connection is reset (TCP RST)"},
	{FaultStall, true, true, false, "nothing more, and the slot kept, until the client or the server closes"},
	{FaultEndless, false, false, true, "tokens without end past max_tokens, and the slot kept, until the client or the server closes"},
	{FaultNoDone, false, false, true, "a whole stream without its [DONE]; the same as the shape done-never"},
	{FaultFormat, false, false, false, "the JSON of a tool call or a schema ends before its last token, as if it were whole; nothing where none was asked for"},
}

// FaultNames lists the kinds of fault.
func FaultNames() []Name {
	names := make([]Name, len(faultFacts))
	for i, f := range faultFacts {
		names[i] = Name{string(f.kind), f.doc}
	}
	return names
}

// fact returns what is known of the fault's kind, nil for none.
func (f Fault) fact() *faultFact {
	for i := range faultFacts {
		if faultFacts[i].kind == f.Kind {
			return &faultFacts[i]
		}
	}
	return nil
}

func (f Fault) validate() error {
	if f.fact() == nil {
		return fmt.Errorf("kind: %q, want %s", f.Kind, oneOf(FaultNames()))
	}
	if !(f.Share >= 0 && f.Share <= 1) { // not NaN either
		return fmt.Errorf("share: %v, want 0 to 1", f.Share)
	}
	switch {
	case f.Share > 0 && f.Every != 0:
		return fmt.Errorf("every: %d with a share of %v, want one of the two", f.Every, f.Share)
	case f.Share == 0 && f.Every < 1:
		return fmt.Errorf("every: %d, want 1 or more, or a share", f.Every)
	case f.At < 0:
		return fmt.Errorf("at: %d, want 0 or more", f.At)
	case f.Size < 0 || f.Size > mostLine:
		return fmt.Errorf("size: %d, want 0 (64 MiB) to %d", f.Size, mostLine)
	}
	return nil
}

// hits reports whether the fault, the i-th of its list, hits a request.
func (f Fault) hits(i int, ordinal uint64) bool {
	if f.Share > 0 {
		// The stream is the ordinal's and the fault's own: two faults of one share
		// and seed do not hit the same requests.
		return rand.New(rand.NewPCG(f.Seed, ordinal<<16|uint64(i)&0xffff)).Float64() < f.Share
	}
	return ordinal%uint64(f.Every) == 0
}

// faultFor returns the fault that hits the request with that ordinal, or one
// without a kind.
func faultFor(faults []Fault, ordinal uint64, stream bool) Fault {
	for i, f := range faults {
		if !f.hits(i, ordinal) {
			continue
		}
		if f.fact().stream && !stream {
			return Fault{}
		}
		return f
	}
	return Fault{}
}

// strike returns the index of the token struck in an output of n tokens, -1 for
// none.
func (f Fault) strike(n int) int {
	switch fact := f.fact(); {
	case fact == nil:
		return -1
	case fact.at:
		return min(f.At, max(n-1, 0))
	case fact.cuts:
		return 0
	}
	return -1
}

// cuts reports whether nothing of the output follows the struck token.
func (f Fault) cuts() bool {
	fact := f.fact()
	return fact != nil && fact.cuts
}

// holds reports whether the request keeps its slot until it leaves.
func (f Fault) holds() bool { return f.Kind == FaultStall || f.Kind == FaultEndless }
