package ssetest

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// A Result is the result of the parser under test in one case.
type Result struct {
	// Class is the subject of the case, for example "lines" or "eof". Name is unique within the class. Why
	// is the rule that the case checks.
	Class, Name, Why string
	// NotChecked lists the parts of the case that are not checked because of the options.
	NotChecked string
	// Err is nil if the parser was correct in every reading of the body. Otherwise it describes the first
	// reading in which the parser was wrong.
	Err error
	// Late is nil if the parser emitted every event before it read bytes beyond that event. Only readings
	// with the correct events are considered.
	Late error
}

// maxHangs is the number of hung cases after which no further case runs. Each hung case leaves a goroutine
// behind that may use a whole CPU.
const maxHangs = 4

// Check runs every case with the parser d and returns the results. The order of the results is always the
// same.
func Check(d Decode, o Options) []Result {
	k := newKit(d, o)
	var results []Result
	for _, c := range runnables() {
		results = append(results, c.run(k))
	}
	return results
}

// A runnable is a case of allCases or of endlessCases. run checks a parser with it.
type runnable struct {
	class, name string
	stream      string // the body; "" if the body fails or is endless
	run         func(*kit) Result
}

// runnables returns all cases. The cases of a class follow one another.
func runnables() []runnable {
	var all []runnable
	for _, c := range allCases() {
		body := c.stream
		if c.err != nil {
			body = ""
		}
		all = append(all, runnable{c.class, c.name, body, func(k *kit) Result { return k.check(c) }})
	}
	for _, c := range endlessCases {
		all = append(all, runnable{endlessClass, c.name, "", func(k *kit) Result { return k.endless(c) }})
	}
	return all
}

// excluded lists what is not checked in any case because of the options.
func (o Options) excluded() []string {
	var all []string
	for _, x := range []struct {
		set  bool
		what string
	}{
		{o.NoType, "event types (NoType)"},
		{o.NoID, "last event IDs (NoID)"},
		{o.NoRetry, "reconnection times (NoRetry)"},
		{o.NoPrompt, "promptness (NoPrompt)"},
		{o.MaxEventSize == 0, "memory (no MaxEventSize)"},
	} {
		if x.set {
			all = append(all, x.what)
		}
	}
	return all
}

const (
	// firstGrace is the time in which an event must pass through the goroutines of a parser. An event that
	// takes longer is late.
	firstGrace = time.Second
	// nextGrace replaces firstGrace once the parser has been late.
	nextGrace = 250 * time.Millisecond
	// firstPatience is how long a case waits for the parser's goroutines to end.
	firstPatience = time.Second
)

// A kit is one run of all cases with one parser.
type kit struct {
	decode   Decode
	o        Options
	grace    time.Duration
	patience time.Duration
	hangs    int
	lateOnce bool // promptness is no longer checked once the parser was late
}

// leaks calls the function leaks with k.patience. Once the parser has left goroutines behind, it shortens
// k.patience.
func (k *kit) leaks(run func()) []byte {
	left := leaks(run, k.patience)
	if left != nil {
		k.patience = 50 * time.Millisecond
	}
	return left
}

func newKit(d Decode, o Options) *kit {
	return &kit{decode: d, o: o, grace: firstGrace, patience: firstPatience}
}

// check runs one case. It reads the body in every way.
func (k *kit) check(c testCase) Result {
	r := Result{Class: c.class, Name: c.name, Why: c.why}
	stream := []byte(c.stream)
	ref := reference(stream)
	if !k.o.mustAccept(ref.block) {
		r.NotChecked = fmt.Sprintf("a block of %d bytes (MaxEventSize is %d)", ref.block, k.o.MaxEventSize)
		return r
	}
	if k.hangs == maxHangs {
		r.Err = fmt.Errorf("not run: the parser hung in %d earlier cases", k.hangs)
		return r
	}
	r.NotChecked = k.o.excludedFrom(c)
	tail := c.tail
	if c.err != nil {
		tail = nil // the incomplete event is dropped if the body failed
	}
	ends := ref.ends
	if k.o.NoPrompt || k.lateOnce && k.grace == nextGrace {
		ends = nil
	}
	ways := scripts(stream, c.err)
	wrong := 0
	var wrongText, lateText string
	left := k.leaks(func() {
		for _, s := range ways {
			var want []Event
			problem, lateAt, err := attempt(k.decode, s, ends, k.grace, k.o.timeout(k.hangs), func(got []Event, err error) string {
				want = expected(k.o, c.want, tail, len(got), err)
				problem := endProblem(err, c.err, ref.open, false)
				if difference := differ(k.o, got, want); difference != "" {
					if problem != "" {
						problem += "; "
					}
					problem += difference
				}
				return problem
			})
			if problem != "" {
				if wrong++; wrong == 1 {
					wrongText = fmt.Sprintf("%s: %s", s.how, problem)
				}
			} else if lateAt >= 0 {
				k.grace = nextGrace
				lateText = fmt.Sprintf("%s: event %d, %s, is complete after %d bytes, but was emitted only after the parser had read more",
					s.how, lateAt, show(k.o, want[lateAt]), ref.ends[lateAt])
			}
			if errors.Is(err, errHung) {
				k.hangs++
				return
			}
			if lateAt >= 0 && problem == "" { // one late event is enough, and each further one would take the grace time
				ends = nil
			}
		}
	})
	if wrong > 0 {
		r.Err = fmt.Errorf("body %s\n%s\n(wrong in %d of %d ways of reading the body)", quote(c.stream), wrongText, wrong, len(ways))
	} else if left != nil {
		r.Err = fmt.Errorf("the parser leaves goroutines behind:\n%s", left)
	}
	if lateText != "" {
		r.Late = fmt.Errorf("body %s\n%s", quote(c.stream), lateText)
	}
	return r
}

// excludedFrom lists the fields of a case's events that are not compared.
func (o Options) excludedFrom(c testCase) string {
	var noType, noID, noRetry bool
	for _, e := range c.want {
		noType = noType || o.NoType && typeOf(e) != "message"
		noID = noID || o.NoID && e.ID != ""
		noRetry = noRetry || o.NoRetry && e.Retry != 0
	}
	return strings.Join(Options{NoType: noType, NoID: noID, NoRetry: noRetry, MaxEventSize: 1}.excluded(), ", ")
}
