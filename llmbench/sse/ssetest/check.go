package ssetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// A Result is how the parser under test did in one case.
type Result struct {
	// Class is what the case is about, such as "lines" or "eof"; Name is
	// unique in its class; Why is the rule, in a line.
	Class, Name, Why string
	// NotChecked tells what of the case, if anything, the options excluded.
	NotChecked string
	// Err is nil if the parser did as it must in every way of reading the
	// body; otherwise it tells the first way in which it did not, and how.
	Err error
	// Late is nil if every event came before the parser asked for bytes after
	// it. It is about readings whose events were right.
	Late error
}

// maxHangs is after how many hung cases the others are not run: each leaves a
// goroutine that may take a whole CPU.
const maxHangs = 4

// Check runs every case on a parser and returns the results, always in the same order.
func Check(d Decode, o Options) []Result {
	k := kit{decode: d, o: o, grace: firstGrace}
	var results []Result
	for _, c := range allCases() {
		results = append(results, k.check(c))
	}
	for _, c := range endlessCases {
		results = append(results, k.endless(c))
	}
	return results
}

// TestDecoder runs every case on a parser as a subtest named class/name, and
// logs what the options exclude.
//
// It looks at the parser's memory by that of the whole process, so when
// [Options.MaxEventSize] is set nothing else should allocate meanwhile.
func TestDecoder(t *testing.T, d Decode, o Options) {
	k := kit{decode: d, o: o, grace: firstGrace}
	run := func(class, name string, check func() Result) {
		t.Run(class+"/"+name, func(t *testing.T) {
			r := check()
			if r.NotChecked != "" {
				t.Logf("not checked: %s", r.NotChecked)
			}
			for _, err := range []error{r.Err, r.Late} {
				if err != nil {
					t.Errorf("%s/%s: %s\n%v", r.Class, r.Name, r.Why, err)
				}
			}
		})
	}
	for _, c := range allCases() {
		run(c.class, c.name, func() Result { return k.check(c) })
	}
	for _, c := range endlessCases {
		run(endlessClass, c.name, func() Result { return k.endless(c) })
	}
	if left := o.excluded(); len(left) > 0 {
		t.Logf("not checked: %s", strings.Join(left, ", "))
	}
}

// excluded names what the options exclude from all cases.
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
	// firstGrace is how long an event may be on its way through a parser's
	// goroutines before it is late.
	firstGrace = 500 * time.Millisecond
	// nextGrace is the same for a parser that was late before.
	nextGrace = 50 * time.Millisecond
)

// A kit is one run over the cases.
type kit struct {
	decode Decode
	o      Options
	grace  time.Duration
	hangs  int
}

// check runs one case in every way of reading its body.
func (k *kit) check(c testCase) Result {
	r := Result{Class: c.class, Name: c.name, Why: c.why}
	stream := []byte(c.stream)
	ref := reference(stream)
	if !k.o.passes(ref.block) {
		r.NotChecked = fmt.Sprintf("a block of %d bytes (MaxEventSize is %d)", ref.block, k.o.MaxEventSize)
		return r
	}
	if k.hangs == maxHangs {
		r.Err = fmt.Errorf("not run: the parser hung in %d cases before", k.hangs)
		return r
	}
	r.NotChecked = k.o.excludedFrom(c)
	tail := c.tail
	if c.err != nil {
		tail = nil // a body that failed leaves no event to hand over
	}
	ends := ref.ends
	if k.o.NoPrompt {
		ends = nil
	}
	ways := scripts(stream, c.err)
	wrong := 0
	var wrongText, lateText string
	left := leaks(func() {
		for _, s := range ways {
			b := newBody(s, ends, k.grace)
			got, lateAt, err := read(k.decode, b, k.o.timeout())
			want := expected(k.o, c.want, tail, len(got), err)
			problem := endsWell(err, c.err, ref.open, false)
			if difference := differ(k.o, got, want); difference != "" {
				if problem != "" {
					problem += "; "
				}
				problem += difference
			}
			if problem != "" {
				if wrong++; wrong == 1 {
					wrongText = fmt.Sprintf("%s: %s", s.how, problem)
				}
			} else if lateAt >= 0 {
				lateText = fmt.Sprintf("%s: event %d, %s, is complete after %d bytes, but came only after more were read",
					s.how, lateAt, show(k.o, want[lateAt]), ref.ends[lateAt])
			}
			if errors.Is(err, errHung) {
				k.hangs++
				return
			}
			if lateAt >= 0 { // once is enough, and each time costs the grace
				k.grace = nextGrace
				ends = nil
			}
		}
	})
	if wrong > 0 {
		r.Err = fmt.Errorf("body %s\n%s\n(%d of %d ways of reading it are wrong)", quote(c.stream), wrongText, wrong, len(ways))
	} else if left != nil {
		r.Err = fmt.Errorf("goroutines are left behind:\n%s", left)
	}
	if lateText != "" {
		r.Late = fmt.Errorf("body %s\n%s", quote(c.stream), lateText)
	}
	return r
}

// excludedFrom tells what of the events of a case is not compared.
func (o Options) excludedFrom(c testCase) string {
	var noType, noID, noRetry bool
	for _, e := range c.want {
		noType = noType || o.NoType && typeOf(e) != "message"
		noID = noID || o.NoID && e.ID != ""
		noRetry = noRetry || o.NoRetry && e.Retry != 0
	}
	return strings.Join(Options{NoType: noType, NoID: noID, NoRetry: noRetry, MaxEventSize: 1}.excluded(), ", ")
}
