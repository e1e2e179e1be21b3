package ssetest

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
)

// endlessClass is the class of the cases with endless bodies.
const endlessClass = "memory"

// An endlessCase is an endless body that never completes an event.
type endlessCase struct {
	name, why   string
	start, more string
	mustFail    bool // the parser must fail; otherwise it may also drop the bytes and read on
}

var endlessCases = []endlessCase{
	{"endless-line", "a line longer than MaxEventSize ends in an error, in bounded memory", "data: ", "x", true},
	{"endless-event", "data lines beyond MaxEventSize end in an error, in bounded memory", "", "data: 0123456789abcdef\n", true},
	{"endless-comment", "an endless comment takes bounded memory", ": ", "x", false},
	{"endless-field-name", "the endless name of an unknown field takes bounded memory", "", "x", false},
	{"endless-type", "an endless type takes bounded memory", "event: ", "x", false},
	{"endless-id", "an endless ID takes bounded memory", "id: ", "x", false},
}

// endless runs an endless case. It measures the heap at intervals while the parser reads.
func (k *kit) endless(c endlessCase) Result {
	r := Result{Class: endlessClass, Name: c.name, Why: c.why}
	limit := k.o.MaxEventSize
	if limit == 0 {
		r.NotChecked = "memory (no MaxEventSize)"
		return r
	}
	if k.hangs == maxHangs {
		r.Err = fmt.Errorf("not run: the parser hung in %d earlier cases", k.hangs)
		return r
	}
	endless := script{
		stream: []byte(c.start),
		more:   bytes.Repeat([]byte(c.more), (32<<10)/len(c.more)),
		size:   8 * limit,
		every:  32 << 10,
		err:    errors.New("ssetest: end of an endless body, 8 times MaxEventSize"),
	}
	allowed := uint64(3*limit + 1<<20)
	before := liveHeap()
	var most uint64
	next := 0
	var events []Event
	var err error
	left := k.leaks(func() {
		b := newBody(endless, nil, 0)
		b.probe = func(served int) {
			if served >= next { // not at every Read, because garbage collection is slow
				next = served + max(limit/4, 64<<10)
				if now := liveHeap(); now > before {
					most = max(most, now-before)
				}
			}
		}
		events, _, err = read(k.decode, b, k.o.timeout(k.hangs))
		if errors.Is(err, errHung) {
			k.hangs++
		}
		var p panicError
		switch {
		case errors.As(err, &p), errors.Is(err, errHung):
			r.Err = err
		case len(events) > 0:
			r.Err = fmt.Errorf("%d events: want none", len(events))
		case c.mustFail && (err == nil || b.read() == endless.size):
			r.Err = fmt.Errorf("the parser read %d bytes and returned %v: want an error before 8 times MaxEventSize", b.read(), err)
		case most > allowed:
			r.Err = fmt.Errorf("the parser held %d bytes of memory: want at most %d for a MaxEventSize of %d", most, allowed, limit)
		}
	})
	if r.Err == nil && left != nil {
		r.Err = fmt.Errorf("the parser leaves goroutines behind:\n%s", left)
	}
	return r
}

// liveHeap returns the size in bytes of the reachable objects of the process.
func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
