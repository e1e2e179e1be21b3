package mockserver

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// An Entry is the server's own record of one request to a completions endpoint.
// Its instants count from [Server.Epoch] on the monotonic clock, in JSON as
// integer nanoseconds.
type Entry struct {
	// ID is the request's X-Request-Id header, empty if it had none.
	ID string `json:"id"`
	// Ordinal counts the requests from 1 in the order in which the server was
	// entered, bad ones too. It goes on through Reset.
	Ordinal uint64 `json:"ordinal"`
	// Path is the endpoint, and Stream whether a stream was asked for.
	Path   string `json:"path"`
	Stream bool   `json:"stream"`
	// Accepted is when the handler was entered: the request's header had been
	// read, its body had not.
	Accepted time.Duration `json:"accepted_ns"`
	// Admitted is since when the request had a slot, by the schedule: what its
	// deadlines count from. It is -1 if it never had one.
	Admitted time.Duration `json:"admitted_ns"`
	// Tokens has one instant for each token that was sent, taken immediately
	// before the Write that carried it; tokens of one Write share theirs. Where a
	// Shape splits the Write, that is the second part. A Write that failed is
	// included.
	Tokens []time.Duration `json:"tokens_ns"`
	// End is the instant before the last Write; of a request that ended
	// otherwise, the instant at which it did.
	End time.Duration `json:"end_ns"`
	// PromptTokens is the length of the prompt, OutputTokens that of Tokens.
	PromptTokens int `json:"prompt_tokens"`
	OutputTokens int `json:"output_tokens"`
	// Status is the HTTP status that was sent, 0 if none was.
	Status int `json:"status"`
	// Fault is the fault that was injected, empty for none.
	Fault fault.Kind `json:"fault"`
	// Aborted tells that the client, or the server's end, cut the answer short.
	Aborted bool `json:"aborted"`
}

// A record is an Entry in the making. It belongs to the request's handler until
// it is done, and to the log, which only reads it, from then on.
type record struct {
	Entry
	done atomic.Bool
	cut  atomic.Bool // the last Write failed, which turned out after done
}

// finish completes the record, once; it must come before the last bytes are
// written, so that who has read them finds it in the log.
func (r *record) finish(end time.Duration) {
	if r.done.Load() {
		return
	}
	r.End = end
	r.OutputTokens = len(r.Tokens)
	r.done.Store(true)
}

// abort completes the record of an answer that was cut short.
func (r *record) abort(end time.Duration) {
	if r.done.Load() {
		r.cut.Store(true)
		return
	}
	r.Aborted = true
	r.finish(end)
}

// entry returns a copy of a record that is done.
func (r *record) entry() Entry {
	e := r.Entry
	e.Tokens = append([]time.Duration{}, e.Tokens...) // never nil, for JSON
	e.Aborted = e.Aborted || r.cut.Load()
	return e
}

// A sendLog keeps the records in the order of their ordinals.
type sendLog struct {
	mu      sync.Mutex
	last    uint64 // ordinal
	records []*record
}

// open begins a record and gives it the next ordinal.
func (l *sendLog) open(e Entry) *record {
	r := &record{Entry: e}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	r.Ordinal = l.last
	l.records = append(l.records, r)
	return r
}

// Log returns a copy of the entries of all requests that have ended since the
// last Reset, sorted by ordinal. An entry is there before the client can see the
// end of its answer; one that ended because the client went away may come a
// moment later. The log grows by about 8 bytes a token until Reset.
func (s *Server) Log() []Entry {
	s.log.mu.Lock()
	records := slices.Clone(s.log.records)
	s.log.mu.Unlock()
	entries := make([]Entry, 0, len(records))
	for _, r := range records {
		if r.done.Load() {
			entries = append(entries, r.entry())
		}
	}
	return entries
}

// Reset forgets the requests that have ended. Those still being answered will be
// in the log when they end. Ordinals go on.
func (s *Server) Reset() {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	s.log.records = slices.DeleteFunc(s.log.records, func(r *record) bool { return r.done.Load() })
}
