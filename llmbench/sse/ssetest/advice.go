package ssetest

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
)

// A returned says which fields of events a parser has ever returned.
type returned struct{ typ, id, retry atomic.Bool }

// watch returns d, with notes about the fields of its events.
func (f *returned) watch(d Decode) Decode {
	return func(body io.Reader, emit func(Event)) error {
		return d(body, func(e Event) {
			if typeOf(e) != "message" {
				f.typ.Store(true)
			}
			if e.ID != "" {
				f.id.Store(true)
			}
			if e.Retry != 0 {
				f.retry.Store(true)
			}
			emit(e)
		})
	}
}

// Findings are what [TestDecoder] has found out about a parser.
type findings struct {
	*kit
	features returned
	cases    int            // number of cases that ran
	right    int            // number of these that passed
	failed   []runnable     // the cases that are wrong and that no gap declares
	broken   []string       // classes of the rules that are broken and that no gap declares, and "late"
	like     map[string]int // number of cases of other classes that are wrong because of these rules
}

// advice says which options declare what the parser seems to lack, and which gaps declare what is wrong.
func (f *findings) advice() string {
	said := fmt.Sprintf("%d of %d cases are right.", f.right, f.cases)
	var like []string
	for _, class := range f.broken {
		if n := f.like[class]; n > 0 {
			like = append(like, fmt.Sprintf("%d like %q", n, class))
		}
	}
	if len(like) > 0 {
		said += " Some are wrong for the same reason as another class, and are not shown: " + strings.Join(like, ", ") + "."
	}
	declared, lacks := f.o, []string(nil)
	broken := slices.Clone(f.broken)
	if f.hangs == 0 { // otherwise each further reading may take long
		if declared, lacks = f.lacking(); len(lacks) > 0 {
			var right int
			right, broken = f.again(declared)
			said += fmt.Sprintf(" Declare what is intended: %s. With %v, %d cases are right.", strings.Join(lacks, "; "), declared, right)
		}
	}
	if len(broken) > 0 {
		declared.Gaps = slices.Concat(f.o.Gaps, broken)
		said += fmt.Sprintf(" To go on with fuzzing, declare what is wrong: %v", declared)
	}
	return said
}

// causeOf returns the class of rules that the parser breaks in a case, or "": if possible, a class that is known to be
// broken, or else the case's own class.
func (f *findings) causeOf(c runnable) string {
	if c.stream == "" || f.hangs > 0 || slices.Contains(f.broken, c.class) {
		return c.class
	}
	var first []string
	for _, class := range slices.Concat(f.broken, f.o.Gaps, []string{c.class}) {
		if avoidable(class) { // the cases of class llm, for example, depend on the rules of others
			first = append(first, class)
		}
	}
	return cause(f.decode, f.o, []byte(c.stream), 0, first...)
}

// lacking returns the options, with those added that declare what the parser seems to lack, and says what that is.
func (f *findings) lacking() (o Options, lacks []string) {
	o = f.o
	wrong := func(class string) bool {
		return slices.ContainsFunc(f.failed, func(c runnable) bool { return c.class == class })
	}
	for _, field := range []struct {
		class, lacks string
		returned     *atomic.Bool
		option       *bool
	}{
		{"event", "no event has a type (NoType)", &f.features.typ, &o.NoType},
		{"id", "no event has a last event ID (NoID)", &f.features.id, &o.NoID},
		{"retry", "no event has a reconnection time (NoRetry)", &f.features.retry, &o.NoRetry},
	} {
		if wrong(field.class) && !field.returned.Load() && !*field.option {
			*field.option = true
			lacks = append(lacks, field.lacks)
		}
	}
	if wrong("limits") && o.MaxEventSize == 0 {
		if limit := f.limit(); limit > 0 {
			o.MaxEventSize = limit
			lacks = append(lacks, fmt.Sprintf("events of about %d bytes and more are refused (MaxEventSize)", limit))
		}
	}
	if wrong("eof") && o.EOF == Discard {
		for _, eof := range []EOF{Flush, Mark} {
			other := o
			other.EOF = eof
			if f.allRight(other, "eof") {
				o.EOF = eof
				lacks = append(lacks, "an event that the end of the body cuts is returned (EOF)")
				break
			}
		}
	}
	return o, lacks
}

// Sizes between which limit searches, in bytes.
const (
	leastLimit = 1 << 10
	mostLimit  = 4 << 20
)

// limit returns the power of two at which the parser begins to refuse events, with an error, because of their size. It
// returns 0 if it accepts mostLimit bytes, or if it does something else.
func (f *findings) limit() int {
	accepts := func(n int) (accepted, refused bool) {
		body := newBody(script{stream: fmt.Appendf(nil, "data: %s\n\n", bytes.Repeat([]byte("x"), n))}, nil, 0)
		events, _, err := read(f.decode, body, f.o.timeout(f.hangs))
		return err == nil && len(events) == 1 && len(events[0].Data) == n, err != nil && len(events) == 0
	}
	if accepted, _ := accepts(leastLimit); !accepted {
		return 0
	}
	for n := 2 * leastLimit; n <= mostLimit; n *= 2 {
		if accepted, refused := accepts(n); refused {
			return n
		} else if !accepted {
			return 0
		}
	}
	return 0
}

// allRight reports whether all cases of a class are right with other options.
func (f *findings) allRight(o Options, class string) bool {
	k := f.with(o)
	return !slices.ContainsFunc(runnables(), func(c runnable) bool { return c.class == class && c.run(k).Err != nil })
}

// again runs the cases that are wrong again, with other options. It returns how many of all cases are then right, and the
// classes of the rules that are still broken.
func (f *findings) again(o Options) (right int, broken []string) {
	right = f.right
	if slices.Contains(f.broken, lateGap) {
		broken = []string{lateGap}
	}
	k := f.with(o)
	other := &findings{kit: k, broken: broken}
	for _, c := range runnables() {
		known := c.class == endlessClass && f.o.MaxEventSize == 0 && o.MaxEventSize > 0 // was not checked
		wrong := slices.ContainsFunc(f.failed, func(o runnable) bool { return o.class == c.class && o.name == c.name })
		if !wrong && !known {
			continue
		}
		if c.run(k).Err == nil {
			if wrong {
				right++
			}
			continue
		}
		if known {
			right-- // it counted as right
		}
		if !slices.Contains(other.broken, c.class) && !slices.Contains(other.broken, other.causeOf(c)) {
			other.broken = append(other.broken, c.class)
		}
	}
	return right, other.broken
}

// with returns a kit with other options that does not check promptness.
func (f *findings) with(o Options) *kit {
	k := newKit(f.decode, o)
	k.o.NoPrompt = true
	return k
}
