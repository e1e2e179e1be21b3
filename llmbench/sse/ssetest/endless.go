package ssetest

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
)

// endlessClass is the class of the cases about bodies that do not end.
const endlessClass = "memory"

// An endlessCase is a body that goes on and on without completing an event.
type endlessCase struct {
	name, why   string
	start, more string
	mustFail    bool // a parser that only drops what comes may go on reading
}

var endlessCases = []endlessCase{
	{"endless-line", "a line longer than MaxEventSize ends in an error, in bounded memory", "data: ", "x", true},
	{"endless-event", "data lines beyond MaxEventSize end in an error, in bounded memory", "", "data: 0123456789abcdef\n", true},
	{"endless-comment", "a comment without end takes bounded memory", ": ", "x", false},
	{"endless-field-name", "an unknown field's name without end takes bounded memory", "", "x", false},
	{"endless-type", "a type without end takes bounded memory", "event: ", "x", false},
	{"endless-id", "an ID without end takes bounded memory", "id: ", "x", false},
}

// endless runs one such case: it looks at the heap at each read.
func (k *kit) endless(c endlessCase) Result {
	r := Result{Class: endlessClass, Name: c.name, Why: c.why}
	limit := k.o.MaxEventSize
	if limit == 0 {
		r.NotChecked = "memory (no MaxEventSize)"
		return r
	}
	if k.hangs == maxHangs {
		r.Err = fmt.Errorf("not run: the parser hung in %d cases before", k.hangs)
		return r
	}
	endless := script{
		stream: []byte(c.start),
		more:   bytes.Repeat([]byte(c.more), (32<<10)/len(c.more)),
		size:   8 * limit,
		every:  32 << 10,
		err:    errors.New("ssetest: the body ended where it should not have been read any more"),
	}
	allowed := uint64(3*limit + 1<<20)
	before := liveHeap()
	var most uint64
	next := 0
	var events []Event
	var err error
	left := leaks(func() {
		b := newBody(endless, nil, 0)
		b.probe = func(served int) {
			if served >= next { // collecting takes a while
				next = served + max(limit/4, 64<<10)
				if now := liveHeap(); now > before {
					most = max(most, now-before)
				}
			}
		}
		events, _, err = read(k.decode, b, k.o.timeout())
		if errors.Is(err, errHung) {
			k.hangs++
		}
		var p panicked
		switch {
		case errors.As(err, &p), errors.Is(err, errHung):
			r.Err = err
		case len(events) > 0:
			r.Err = fmt.Errorf("%d events came of it", len(events))
		case c.mustFail && (err == nil || b.read() == endless.size):
			r.Err = fmt.Errorf("%d bytes were read, 8 times MaxEventSize, until: %v", b.read(), err)
		case most > allowed:
			r.Err = fmt.Errorf("%d bytes of memory were held; want at most %d for a MaxEventSize of %d", most, allowed, limit)
		}
	})
	if r.Err == nil && left != nil {
		r.Err = fmt.Errorf("goroutines are left behind:\n%s", left)
	}
	return r
}

// liveHeap returns how many bytes the process's reachable objects take.
func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
