package ssetest

import (
	"errors"
	"io"
	"sync"
	"time"
)

// errAbandoned is the error of a Read after the test has stopped reading the body.
var errAbandoned = errors.New("ssetest: this reading is over")

// A script describes how the parser receives a body: the bytes of each Read, and the end.
type script struct {
	how     string // for messages, for example "cut at 7"
	stream  []byte
	cuts    []int  // offsets, ascending, at which a Read ends
	every   int    // if not 0, the maximum number of bytes per Read
	empty   bool   // an empty Read without an error comes before each Read
	joinEnd bool   // the last bytes and the final error come from the same Read
	more    []byte // repeated after stream until the body has size bytes
	size    int    // if not 0, the length of the body; otherwise the body is stream
	err     error  // the final error; nil means io.EOF
}

// length returns the length of the whole body in bytes.
func (s *script) length() int {
	if s.size > 0 {
		return s.size
	}
	return len(s.stream)
}

// copyFrom copies bytes of the body, beginning at offset, into p. It returns the
// number of bytes, which may be less than len(p).
func (s *script) copyFrom(p []byte, offset int) int {
	if offset < len(s.stream) {
		return copy(p, s.stream[offset:])
	}
	n := 0
	for n < len(p) {
		n += copy(p[n:], s.more[(offset+n-len(s.stream))%len(s.more):])
	}
	return n
}

// A body is the reader that the parser under test reads. It follows a script, and records the events that
// the parser emits.
type body struct {
	script
	ends  []int         // event i is complete after ends[i] bytes; nil if late events are not checked
	grace time.Duration // how long a Read waits for events that another goroutine may still emit
	probe func(served int)

	mu      sync.Mutex
	served  int
	due     int  // number of events that are complete in the served bytes
	starved bool // the last Read was empty, see script.empty
	events  []Event
	late    int // index of the first event that was not emitted in time, or -1
	closed  bool
	emitted chan struct{}
}

func newBody(s script, ends []int, grace time.Duration) *body {
	return &body{script: s, ends: ends, grace: grace, late: -1, emitted: make(chan struct{}, 1)}
}

// emit records an event of the parser.
func (b *body) emit(e Event) {
	b.mu.Lock()
	if !b.closed {
		b.events = append(b.events, e)
	}
	b.mu.Unlock()
	select {
	case b.emitted <- struct{}{}:
	default:
	}
}

// close ends the reading. Later events are not recorded, and later Reads fail.
func (b *body) close() (events []Event, late int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return b.events, b.late
}

// read returns the number of bytes that the parser has read.
func (b *body) read() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.served
}

// Read returns the next bytes of the script. Before the parser calls Read again, it must emit every event
// that is complete in the earlier bytes.
func (b *body) Read(p []byte) (int, error) {
	b.awaitDue()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0, errAbandoned
	}
	if len(p) == 0 {
		return 0, nil
	}
	if b.empty && !b.starved && b.served < b.length() {
		b.starved = true
		return 0, nil
	}
	b.starved = false
	upTo := b.length()
	for len(b.cuts) > 0 && b.cuts[0] <= b.served {
		b.cuts = b.cuts[1:]
	}
	if len(b.cuts) > 0 {
		upTo = min(upTo, b.cuts[0])
	}
	if b.every > 0 {
		upTo = min(upTo, b.served+b.every)
	}
	n := 0
	if room := min(len(p), upTo-b.served); room > 0 {
		n = b.copyFrom(p[:room], b.served)
	}
	b.served += n
	if b.probe != nil {
		b.probe(b.served)
	}
	if b.served == b.length() && (n == 0 || b.joinEnd) {
		if b.err != nil {
			return n, b.err
		}
		return n, io.EOF
	}
	return n, nil
}

// awaitDue waits until the parser has emitted every event that is complete. It waits for at most b.grace,
// for a parser that emits from another goroutine. A parser that emits from the goroutine that calls Read
// cannot emit during this wait.
func (b *body) awaitDue() {
	var deadline *time.Timer
	for {
		b.mu.Lock()
		for b.due < len(b.ends) && b.ends[b.due] <= b.served {
			b.due++
		}
		if len(b.events) >= b.due || b.late >= 0 || b.closed {
			b.mu.Unlock()
			return
		}
		if b.grace == 0 {
			b.late = len(b.events)
			b.mu.Unlock()
			return
		}
		if deadline == nil {
			deadline = time.NewTimer(b.grace)
			defer deadline.Stop()
		}
		b.mu.Unlock()
		select {
		case <-b.emitted:
		case <-deadline.C:
			b.mu.Lock()
			if b.late < 0 && len(b.events) < b.due {
				b.late = len(b.events)
			}
			b.mu.Unlock()
			return
		}
	}
}
