package ssetest

import (
	"bytes"
	"cmp"
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
	wrong    map[string]int // number of cases of these classes that are wrong
	like     map[string]int // number of cases of other classes that are wrong because of these rules
	// forms says which class breaks a case of the class "llm", which has streams as real servers send them.
	forms map[string]string
}

// advice says which options declare what the parser seems to lack, and which gaps declare what is wrong.
func (f *findings) advice() string {
	said := fmt.Sprintf("%d of %d cases are right. What is wrong, by class, first what breaks streams as real servers send them:\n%s", f.right, f.cases, f.causes())
	declared, lacks := f.o, []string(nil)
	broken := slices.Clone(f.broken)
	if f.hangs == 0 { // otherwise each further reading may take long
		if declared, lacks = f.lacking(); len(lacks) > 0 {
			var right int
			right, broken = f.again(declared)
			said += fmt.Sprintf("\nDeclare what is intended: %s. Then %d cases are right:\n  %v", strings.Join(lacks, "; "), right, declared)
		}
	}
	if len(broken) > 0 {
		declared.Gaps = slices.Concat(f.o.Gaps, broken)
		said += fmt.Sprintf("\nTo go on with fuzzing, declare what is wrong:\n  %v", declared)
	}
	return said
}

// causes has a line for each class of broken rules: how many cases are wrong because of them, and which streams of real
// servers. Classes that break the most usual of these streams come first.
func (f *findings) causes() string {
	classes := slices.Clone(f.broken)
	usual := func(class string) int {
		return slices.IndexFunc(llmCases, func(c testCase) bool { return f.broke(class, c.name) })
	}
	slices.SortStableFunc(classes, func(a, b string) int {
		return cmp.Compare(uint(usual(a)), uint(usual(b))) // -1, for none, is last
	})
	var lines []string
	for _, class := range classes {
		line := fmt.Sprintf("  %s: %s", class, counted(f.wrong[class]+f.like[class], "case"))
		if class == lateGap {
			line = "  late: an event was returned only after the parser had read more"
		}
		var forms []string
		for _, c := range llmCases {
			if f.broke(class, c.name) {
				forms = append(forms, fmt.Sprintf("%s (%s)", c.name, c.why))
			}
		}
		if len(forms) > 0 {
			line += ", among them " + strings.Join(forms, "; ")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// counted returns n followed by noun, in the plural unless n is 1.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// broke reports whether a stream of real servers is wrong because of the rules of a class.
func (f *findings) broke(class, name string) bool { return f.forms[name] == class }

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
