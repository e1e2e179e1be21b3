package ssetest

import (
	"errors"
	"io"
	"sync"
	"time"
)

// errGivenUp ends a body whose reader the kit no longer waits for.
var errGivenUp = errors.New("ssetest: the kit gave this reading up")

// A script says how a body is read: which bytes each Read gives, and how it ends.
type script struct {
	how     string // for messages, such as "cut at 7"
	stream  []byte
	cuts    []int  // offsets, ascending, at which a Read ends
	every   int    // if not 0, the most bytes that a Read gives
	empty   bool   // a Read that gives nothing and no error comes before each
	joinEnd bool   // the last bytes come together with the error that ends the body
	more    []byte // what follows stream, again and again, up to size bytes in all
	size    int    // if not 0, the bytes of the body; else it is stream
	err     error  // what ends the body; nil means io.EOF
}

// length returns the bytes of the whole body.
func (s *script) length() int {
	if s.size > 0 {
		return s.size
	}
	return len(s.stream)
}

// copyAt copies bytes of the body from offset at on, some but not
// necessarily as many as fit, and returns how many.
func (s *script) copyAt(p []byte, at int) int {
	if at < len(s.stream) {
		return copy(p, s.stream[at:])
	}
	n := 0
	for n < len(p) {
		n += copy(p[n:], s.more[(at+n-len(s.stream))%len(s.more):])
	}
	return n
}

// A body plays a script to the parser under test and notes what it emits.
type body struct {
	script
	ends  []int         // event i is complete after ends[i] bytes; nil: promptness is not checked
	grace time.Duration // how long a Read waits for an event that is due, from another goroutine
	probe func(served int)

	mu      sync.Mutex
	served  int
	due     int  // how many events the served bytes complete
	starved bool // the last Read gave nothing: see script.empty
	events  []Event
	late    int // the first event that was due and had not come, or -1
	closed  bool
	emitted chan struct{}
}

func newBody(s script, ends []int, grace time.Duration) *body {
	return &body{script: s, ends: ends, grace: grace, late: -1, emitted: make(chan struct{}, 1)}
}

// emit takes an event from the parser.
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

// close ends the body: what comes later is not noted, and a Read fails.
func (b *body) close() (events []Event, late int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return b.events, b.late
}

// read returns how many bytes the parser was given.
func (b *body) read() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.served
}

// Read gives the next bytes of the script. That the parser asks for them means
// that it has done what it can with those it has: an event they complete must be out.
func (b *body) Read(p []byte) (int, error) {
	b.awaitDue()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0, errGivenUp
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
		n = b.copyAt(p[:room], b.served)
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

// awaitDue waits until every event is out that the bytes served so far
// complete. A parser whose events pass through a goroutine is given some time
// for that; one that calls Read from where it would emit has none to use.
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
