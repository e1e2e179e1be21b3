package mockserver

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// An Entry is the server's record of one request for a completion. Its instants
// count from [Server.Epoch] on the monotonic clock; in JSON they are integers in
// nanoseconds.
type Entry struct {
	// ID is the request's X-Request-Id header, empty if it had none.
	ID string `json:"id"`
	// Ordinal numbers the requests from 1 in the order in which the server
	// received them, including bad ones. Reset does not restart it.
	Ordinal uint64 `json:"ordinal"`
	// Path is the path of the request. Stream is whether it asks for a stream.
	Path   string `json:"path"`
	Stream bool   `json:"stream"`
	// Accepted is when the handler was called: the server had read the request's
	// header but not its body.
	Accepted time.Duration `json:"accepted_ns"`
	// Admitted is when the request got its slot, by the schedule. The deadlines of
	// its tokens count from then. It is -1 if the request never got a slot.
	Admitted time.Duration `json:"admitted_ns"`
	// Tokens has one instant for each token that was sent, taken immediately
	// before the write that carried it. Tokens of one write share an instant. If the
	// shape splits the write, the instant is when the second part was written. Writes that
	// failed are included.
	Tokens []time.Duration `json:"tokens_ns"`
	// End is the instant before the last write or, if the request ended without
	// one, the instant at which it ended.
	End time.Duration `json:"end_ns"`
	// SlowWrites are the writes of tokens that took 20 µs or longer. The bytes left the server
	// between the instant in Tokens and the end of the write, because the server can be
	// stopped before the kernel sends them.
	SlowWrites []SlowWrite `json:"slow_writes,omitempty"`
	// PromptTokens is the length of the prompt, OutputTokens the length of Tokens.
	PromptTokens int `json:"prompt_tokens"`
	OutputTokens int `json:"output_tokens"`
	// Status is the HTTP status that was sent, 0 if none was sent.
	Status int `json:"status"`
	// Fault is the fault that hit the request, empty for none.
	Fault fault.Kind `json:"fault"`
	// Swapped is the ordinal of the request whose answer this one had, with the fault swap; 0 if it
	// had its own.
	Swapped uint64 `json:"swapped,omitzero"`
	// Aborted is true if the answer was cut short because the client hung up or the
	// server stopped.
	Aborted bool `json:"aborted"`
}

// slowWrite is how long a write in SlowWrites took at least.
const slowWrite = 20 * time.Microsecond

// A SlowWrite is a write of tokens that took long.
type SlowWrite struct {
	Token int           `json:"token"` // index of the last token that was written
	Took  time.Duration `json:"took_ns"`
}

// A record is an Entry that is being written. It belongs to the request's handler
// until it is done. From then on nobody changes it, except for cut.
type record struct {
	Entry
	done atomic.Bool
	cut  atomic.Bool  // the last write failed after the record was done
	end  atomic.Int64 // how long the last write took, in nanoseconds; 0: not long, or not over yet
}

// slow records that the write of the last tokens took long.
func (r *record) slow(took time.Duration, last bool) {
	switch {
	case last:
		r.end.Store(int64(took))
	case !r.done.Load():
		r.SlowWrites = append(r.SlowWrites, SlowWrite{len(r.Tokens) - 1, took})
	}
}

// finish completes the record; further calls do nothing. It is called before the
// last bytes are written, so that a client which has read them finds the entry in
// the log.
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
	if took := time.Duration(r.end.Load()); took > 0 {
		e.SlowWrites = append(slices.Clip(e.SlowWrites), SlowWrite{len(e.Tokens) - 1, took})
	}
	return e
}

// A sendLog holds the records in the order of their ordinals.
type sendLog struct {
	mu      sync.Mutex
	last    uint64 // the last ordinal that was given
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

// entries returns copies of the records that are done.
func (l *sendLog) entries() []Entry {
	l.mu.Lock()
	records := slices.Clone(l.records)
	l.mu.Unlock()
	entries := make([]Entry, 0, len(records))
	for _, r := range records {
		if r.done.Load() {
			entries = append(entries, r.entry())
		}
	}
	return entries
}

// reset removes the records that are done.
func (l *sendLog) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records = slices.DeleteFunc(l.records, func(r *record) bool { return r.done.Load() })
}
