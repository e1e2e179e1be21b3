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

// advise logs which options declare what the parser seems to lack, and which gaps declare what is wrong.
func (s *summary) advise() {
	said := fmt.Sprintf("%d of %d cases are right.", s.right, s.cases)
	var like []string
	for _, class := range s.broken {
		if n := s.like[class]; n > 0 {
			like = append(like, fmt.Sprintf("%d like %q", n, class))
		}
	}
	if len(like) > 0 {
		said += " Some are wrong for the same reason as another class, and are not shown: " + strings.Join(like, ", ") + "."
	}
	declared, lacks := s.o, []string(nil)
	broken := slices.Clone(s.broken)
	if s.hangs == 0 { // otherwise each further reading may take long
		if declared, lacks = s.lacking(); len(lacks) > 0 {
			var right int
			right, broken = s.again(declared)
			said += fmt.Sprintf(" Declare what is intended: %s. With %v, %d cases are right.", strings.Join(lacks, "; "), declared, right)
		}
	}
	if len(broken) > 0 {
		declared.Gaps = slices.Concat(s.o.Gaps, broken)
		said += fmt.Sprintf(" To go on with fuzzing, declare what is wrong: %v", declared)
	}
	s.t.Log(said)
}

// lacking returns the options, with those added that declare what the parser seems to lack, and says what that is.
func (s *summary) lacking() (o Options, lacks []string) {
	o = s.o
	wrong := func(class string) bool {
		return slices.ContainsFunc(s.failed, func(c runnable) bool { return c.class == class })
	}
	for _, f := range []struct {
		class, lacks string
		returned     *atomic.Bool
		option       *bool
	}{
		{"event", "no event has a type (NoType)", &s.features.typ, &o.NoType},
		{"id", "no event has a last event ID (NoID)", &s.features.id, &o.NoID},
		{"retry", "no event has a reconnection time (NoRetry)", &s.features.retry, &o.NoRetry},
	} {
		if wrong(f.class) && !f.returned.Load() && !*f.option {
			*f.option = true
			lacks = append(lacks, f.lacks)
		}
	}
	if wrong("limits") && o.MaxEventSize == 0 {
		if limit := s.limit(); limit > 0 {
			o.MaxEventSize = limit
			lacks = append(lacks, fmt.Sprintf("events of about %d bytes and more are refused (MaxEventSize)", limit))
		}
	}
	if wrong("eof") && o.EOF == Discard {
		for _, eof := range []EOF{Flush, Mark} {
			other := o
			other.EOF = eof
			if s.allRight(other, "eof") {
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
func (s *summary) limit() int {
	accepts := func(n int) (accepted, refused bool) {
		body := newBody(script{stream: fmt.Appendf(nil, "data: %s\n\n", bytes.Repeat([]byte("x"), n))}, nil, 0)
		events, _, err := read(s.decode, body, s.o.timeout(s.hangs))
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
func (s *summary) allRight(o Options, class string) bool {
	k := s.with(o)
	return !slices.ContainsFunc(runnables(), func(c runnable) bool { return c.class == class && c.run(k).Err != nil })
}

// again runs the cases that are wrong again, with other options. It returns how many of all cases are then right, and the
// classes of the rules that are still broken.
func (s *summary) again(o Options) (right int, broken []string) {
	right = s.right
	if slices.Contains(s.broken, lateGap) {
		broken = []string{lateGap}
	}
	k := s.with(o)
	other := &summary{kit: k, broken: broken}
	for _, c := range runnables() {
		known := c.class == endlessClass && s.o.MaxEventSize == 0 && o.MaxEventSize > 0 // was not checked
		wrong := slices.ContainsFunc(s.failed, func(f runnable) bool { return f.class == c.class && f.name == c.name })
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
func (s *summary) with(o Options) *kit {
	k := newKit(s.decode, o)
	k.o.NoPrompt = true
	return k
}
