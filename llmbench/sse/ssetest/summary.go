package ssetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestDecoder runs every case with the parser d, each as a subtest named class/name. It shows the first
// failed case of each class and skips the others, and cases that are wrong for the same reason as a class before. At the
// end it logs options that declare what the parser lacks and what is wrong. Flag -v shows the errors of all cases. TestDecoder logs
// what the options exclude.
//
// If [Options.MaxEventSize] is set, TestDecoder measures the memory of the whole process. Nothing else
// should allocate memory at the same time.
func TestDecoder(t *testing.T, d Decode, o Options) {
	if err := o.checkGaps(); err != nil {
		t.Fatal(err)
	}
	s := summary{t: t, ran: map[string]bool{}, occurs: map[string]bool{}}
	s.kit = newKit(s.features.watch(d), o)
	s.wrong, s.like, s.forms = map[string]int{}, map[string]int{}, map[string]string{}
	s.lateOnce = true
	for all := runnables(); len(all) > 0; {
		n := slices.IndexFunc(all, func(c runnable) bool { return c.class != all[0].class })
		if n < 0 {
			n = len(all)
		}
		s.class(all[0].class, all[:n])
		all = all[n:]
	}
	s.end()
	if left := o.excluded(); len(left) > 0 {
		t.Logf("not checked: %s", strings.Join(left, ", "))
	}
}

// A summary runs the cases of [TestDecoder], and counts failures by class.
type summary struct {
	findings
	t      *testing.T
	ran    map[string]bool // cases that ran, as class/name
	occurs map[string]bool // gaps that occurred
}

// maxNames is the maximum number of failed cases that are listed for a class.
const maxNames = 10

// class runs the cases of a class.
func (s *summary) class(class string, all []runnable) {
	s.t.Run(class, func(t *testing.T) {
		var wrong []string
		cases, like := 0, 0
		for _, c := range all {
			t.Run(c.name, func(t *testing.T) {
				cases++
				r := c.run(s.kit)
				s.ran[class+"/"+c.name] = true
				if r.NotChecked != "" {
					t.Logf("not checked: %s", r.NotChecked)
				}
				s.late(t, r)
				if r.Err == nil {
					return
				}
				if of := s.causeOf(c); of != class && (slices.Contains(s.o.Gaps, of) || slices.Contains(s.broken, of)) && s.o.gap(class, c.name) == "" {
					if !slices.Contains(s.o.Gaps, of) {
						like++
						s.like[of]++
						s.breaks(c, of)
						s.failed = append(s.failed, c)
					}
					t.Skipf("wrong like the class %q, and right without what depends on it: %s", of, textOf(r, r.Err))
				}
				s.one(t, c, r, &wrong)
			})
		}
		s.cases += cases
		s.right += cases - len(wrong) - like
		s.wrong[class] = len(wrong)
		if len(wrong) > 1 {
			more := ""
			if n := len(wrong) - maxNames; n > 0 {
				more = fmt.Sprintf(" and %d more", n)
			}
			t.Errorf("%d of %d cases are wrong: %s%s", len(wrong), cases, strings.Join(wrong[:min(maxNames, len(wrong))], ", "), more)
		}
	})
}

// breaks notes which class breaks a case.
func (s *summary) breaks(c runnable, class string) {
	if c.class == llmClass {
		s.forms[c.name] = class
	}
}

// textOf says what is wrong in a case.
func textOf(r Result, err error) string {
	return fmt.Sprintf("%s/%s: %s\n%v", r.Class, r.Name, r.Why, err)
}

// late reports an event that was emitted late.
func (s *summary) late(t *testing.T, r Result) {
	switch {
	case r.Late == nil:
	case s.o.gap(lateGap, "") != "":
		s.occurs[lateGap] = true
		t.Logf("the gap %q: %s", lateGap, textOf(r, r.Late))
	default:
		s.broken = append(s.broken, lateGap)
		t.Errorf("%s\npromptness is not checked in further cases", textOf(r, r.Late))
	}
}

// one reports a case that is wrong. wrong holds the names of the class's failed cases that no gap declares.
func (s *summary) one(t *testing.T, c runnable, r Result, wrong *[]string) {
	if gap := s.o.gap(r.Class, r.Name); gap != "" {
		s.occurs[gap] = true
		t.Skipf("the gap %q: %s", gap, textOf(r, r.Err))
	}
	s.failed = append(s.failed, c)
	s.breaks(c, r.Class)
	if *wrong = append(*wrong, r.Name); len(*wrong) > 1 {
		t.Skipf("wrong too: %s", textOf(r, r.Err))
	}
	s.broken = append(s.broken, r.Class)
	t.Error(textOf(r, r.Err))
}

// end logs a summary of all classes. It fails if a gap did not occur although all of the gap's cases ran.
func (s *summary) end() {
	if len(s.broken) > 0 {
		s.t.Log(s.advice())
	}
	cases := runnables()
	for _, g := range s.o.Gaps {
		all := true
		for _, c := range cases {
			late := g == lateGap && c.class != endlessClass
			all = all && (s.ran[c.class+"/"+c.name] || !late && g != c.class && g != c.class+"/"+c.name)
		}
		if all && !s.occurs[g] {
			s.t.Errorf("Options.Gaps: %q no longer occurs: remove it", g)
		}
	}
}
