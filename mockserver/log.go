package mockserver

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// An Entry is the server's record of one request for a completion. Its times are
// measured from [Server.Epoch] on the monotonic clock; in JSON they are integers in
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
	// Received is when the kernel received the bytes with which the request's header ended. It is 0 if that is
	// unknown: with HTTP/2, and outside of Linux. Before Accepted, the server may have waited for a CPU.
	Received time.Duration `json:"received_ns,omitzero"`
	// Admitted is when the request got its slot, by the schedule. The deadlines of the
	// tokens are measured from Admitted. It is -1 if the request never got a slot.
	Admitted time.Duration `json:"admitted_ns"`
	// Tokens has one time for each token that was sent: the instant just before the write
	// that carried the token. Tokens of one write have the same time. If the shape splits
	// the write in two, the time is when the second part was written. Failed writes count.
	Tokens []time.Duration `json:"tokens_ns"`
	// End is the instant just before the last write. If the request ended without a write,
	// End is when it ended.
	End time.Duration `json:"end_ns"`
	// SlowWrites lists the writes of tokens that took 20 µs or longer. During such a write
	// the operating system may have suspended the server before the kernel sent the bytes.
	// So the bytes left the server at some instant between the time in Tokens and that time
	// plus SlowWrite.Took. With HTTP/2, the bytes may need two writes; the time in Tokens is then before
	// the first one, and Took ends after the second one.
	SlowWrites []SlowWrite `json:"slow_writes,omitempty"`
	// PromptTokens is the length of the prompt. OutputTokens is the length of Tokens.
	PromptTokens int `json:"prompt_tokens"`
	OutputTokens int `json:"output_tokens"`
	// CachedTokens is how many tokens of the prompt came from the prefix cache when the
	// request got its slot.
	CachedTokens int `json:"cached_tokens,omitzero"`
	// Waiting is how many other requests waited for a slot when the request arrived.
	Waiting int `json:"waiting,omitzero"`
	// Adapter is the LoRA adapter that the request named, empty for none.
	Adapter string `json:"adapter,omitzero"`
	// Status is the HTTP status that was sent, 0 if none was sent.
	Status int `json:"status"`
	// Fault is the kind of the request's fault, empty for none.
	Fault fault.Kind `json:"fault"`
	// Swapped is the ordinal of the request with which this one exchanged answers because of the fault
	// swap; 0 if the request got its own answer.
	Swapped uint64 `json:"swapped,omitzero"`
	// Aborted is true if the answer was cut short because the client hung up, the server
	// stopped, or another request made the server die.
	Aborted bool `json:"aborted"`
	// Dead is true if the request came after the server had died of the fault die.
	Dead bool `json:"dead,omitzero"`
}

// slowWrite is the least duration of a write in SlowWrites.
const slowWrite = 20 * time.Microsecond

// A SlowWrite is a write of tokens that took 20 µs or longer.
type SlowWrite struct {
	Token int           `json:"token"` // index of the last token that was written
	Took  time.Duration `json:"took_ns"`
}

// A record is the Entry of a request, and its state. Until done is true, the Entry belongs
// to the request's handler. After that the Entry does not change; cut and end may.
type record struct {
	Entry
	done atomic.Bool
	cut  atomic.Bool  // the last write failed after the record was done
	end  atomic.Int64 // nanoseconds of the last write if it was slow; 0 if it was not or has not ended
}

// slow records the duration of a slow write. last says whether the write ended the answer.
func (r *record) slow(took time.Duration, last bool) {
	switch {
	case last:
		r.end.Store(int64(took))
	case !r.done.Load():
		r.SlowWrites = append(r.SlowWrites, SlowWrite{len(r.Tokens) - 1, took})
	}
}

// finish completes the record; further calls do nothing. The handler calls finish before it
// writes the last bytes, so that a client that has read the last bytes finds the entry in
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
	e.Tokens = append([]time.Duration{}, e.Tokens...) // never nil, so that the JSON is [] and not null
	e.Aborted = e.Aborted || r.cut.Load()
	if took := time.Duration(r.end.Load()); took > 0 {
		e.SlowWrites = append(slices.Clip(e.SlowWrites), SlowWrite{len(e.Tokens) - 1, took})
	}
	return e
}

// A sendLog holds the records in the order of their ordinals.
type sendLog struct {
	mu      sync.Mutex
	last    uint64 // ordinal of the latest record
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
