package ssetest

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
)

// maxFuzzBody is the maximum length in bytes of a body that fuzzing builds. It is
// larger than 64 KiB, a common limit of parsers.
const maxFuzzBody = 80 << 10

// Fuzz runs Go's fuzzing with the parser d. Each input is used twice: as a body, and as a program whose
// instructions build a body. The instructions produce difficult fields and values, line ends, comments,
// byte order marks, partial characters, huge lines and truncation. Each body is read whole, and split in
// several ways. The parser must not panic, hang, emit events late, or differ from the standard.
//
// [Options.MaxEventSize] should be 0 or a few KiB. If it is set, the parser may fail on a block of more
// than half that size, and must not return an event with more data than MaxEventSize.
//
// If the flag -fuzzminimizetime is not set, Fuzz sets it to 10x. With Go's default of 60 s, the engine makes inputs smaller
// for most of the time, because a body takes long to check, and runs no others meanwhile (0 execs/sec).
//
// The seeds are the conformance cases and some programs, so that an ordinary run of go test already covers
// much. The run fails once for each class of rules that the parser breaks. [Options.Gaps] can declare a
// class; fuzzing then looks for other errors.
func Fuzz(f *testing.F, d Decode, o Options) {
	if err := o.checkGaps(); err != nil {
		f.Fatal(err)
	}
	minimizeBriefly()
	for _, s := range seeds() {
		f.Add(s, uint64(len(s)))
	}
	z := fuzzing{d: d, o: o, first: map[string]string{}}
	f.Fuzz(func(t *testing.T, input []byte, split uint64) {
		for _, body := range [][]byte{input, bodyOf(input, maxFuzzBody)} {
			z.check(t, avoid(body, o.avoided()), split)
		}
	})
}

// minimizeBriefly sets the flag that limits how long the fuzzing engine makes an input smaller, unless it is set.
func minimizeBriefly() {
	const name = "test.fuzzminimizetime"
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if !given && flag.Lookup(name) != nil {
		flag.Set(name, "10x") // no error: package testing allows a number of executions
	}
}

// A fuzzing is the state of Fuzz in one process.
type fuzzing struct {
	d     Decode
	o     Options
	mu    sync.Mutex
	first map[string]string // the first test that failed, by class of broken rules
	hangs int
}

// check checks a body. It does not fail if an earlier seed has already failed in the same class. While the
// fuzzing engine runs, however, it fails for each wrong body, so that the engine can minimize the input.
func (z *fuzzing) check(t *testing.T, body []byte, split uint64) {
	z.mu.Lock()
	defer z.mu.Unlock()
	engine := isSet("test.fuzz") || isSet("test.fuzzworker")
	if z.hangs == maxHangs && !engine {
		t.Skipf("not run: the parser hung with %d earlier inputs", z.hangs)
	}
	o, grace := z.o, firstGrace
	o.Timeout = o.timeout(z.hangs)
	if o.gap(lateGap, "") != "" || z.first[lateGap] != "" && !engine {
		o.NoPrompt = true
	}
	err := checkBody(z.d, o, body, split, grace)
	if err == nil {
		return
	}
	class := ""
	switch {
	case errors.Is(err, errHung):
		z.hangs++
		t.Fatalf("body %s\n%v", quote(string(body)), err)
	case errors.Is(err, errLate):
		class = lateGap
	default:
		class = cause(z.d, o, body, split)
	}
	if first := z.first[class]; first != "" && !engine {
		t.Logf("wrong in the same way as in %s", first)
		return
	}
	z.first[class] = t.Name()
	advice := ""
	if class != "" {
		declared := z.o
		declared.Gaps = append(slices.Clone(z.o.Gaps), class)
		advice = fmt.Sprintf("\n%v declares this, so that fuzzing goes on%s; further seeds that are wrong like this are not shown", declared, features[class])
	}
	t.Errorf("body %s\n%v%s", quote(string(body)), err, advice)
}

// features says, for classes of rules about what a parser may lack on purpose, which option declares that instead of a gap.
var features = map[string]string{
	"event":  " (NoType, if events have no type)",
	"id":     " (NoID, if events have no ID)",
	"retry":  " (NoRetry, if events have no reconnection time)",
	"limits": " (MaxEventSize, if the parser limits the size of events)",
	"eof":    " (EOF, if the parser returns an event that the end of the body cuts)",
}

// isSet reports whether a flag is set.
func isSet(name string) bool {
	f := flag.Lookup(name)
	return f != nil && f.Value.String() != f.DefValue
}

// errLate is wrapped by the error about an event that was emitted too late.
var errLate = errors.New("late")

// seeds returns the seed inputs of fuzzing.
func seeds() [][]byte {
	var all [][]byte
	for _, c := range allCases() {
		if len(c.stream) <= 2*shortBody {
			all = append(all, []byte(c.stream))
		}
	}
	// Programs that build lines of 64 KiB, and slightly less; see program.step.
	for _, less := range []byte{0, 2, 4} {
		all = append(all, []byte{16, 6, 'd', 'a', 't', 'a', ':', ' ', 18, 12, less, 'x', 8, 8, 11, 2, 8, 8})
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 100 {
		code := make([]byte, 4+n)
		for i := range code {
			code[i] = byte(rng.Uint32())
		}
		all = append(all, code)
	}
	return all
}

// checkBody reads body in several ways, one of them chosen by split. It returns an error about the first
// reading that is wrong. grace is the time in which an event must pass through the goroutines of a parser;
// 0 means that late events are not checked.
func checkBody(d Decode, o Options, body []byte, split uint64, grace time.Duration) error {
	ref := reference(body)
	ends := ref.ends
	if o.NoPrompt || grace == 0 {
		ends = nil
	}
	ways := []script{
		{how: "whole"},
		randomScript(body, split),
	}
	if cuts := lineCuts(body); len(cuts) <= 2<<10 {
		ways = append(ways, script{how: "cut after each CR and LF", cuts: cuts})
	}
	if len(body) <= 2<<10 {
		ways = append(ways, script{how: "one byte per Read", every: 1})
	}
	for _, s := range ways {
		s.stream = bytes.Clone(body)
		problem, late, err := attempt(d, s, ends, grace, o.timeout(0), func(got []Event, err error) string { return o.bodyProblem(ref, got, err) })
		if !slices.Equal(s.stream, body) {
			return fmt.Errorf("%s: the parser changed the bytes after reading them", s.how)
		}
		switch {
		case errors.Is(err, errHung):
			return fmt.Errorf("%s: %w", s.how, err)
		case problem != "":
			return fmt.Errorf("%s: %s", s.how, problem)
		case late >= 0 && late < len(ref.ends):
			return fmt.Errorf("%s: %w: event %d, %s, is complete after %d bytes, but was emitted only after the parser had read more",
				s.how, errLate, late, show(o, ref.events[late]), ref.ends[late])
		}
	}
	return nil
}

// bodyProblem describes what is wrong with the events and the error that a parser returned for a body, or
// returns "". The argument ref is the body's transcript.
func (o Options) bodyProblem(ref transcript, got []Event, err error) string {
	problem := endProblem(err, nil, ref.open, !o.mustAccept(ref.block))
	want := expected(o, ref.events, ref.tail, len(got), err)
	if err != nil && !o.mustAccept(ref.block) {
		want = ref.events[:min(len(got), len(ref.events))] // any number of events is allowed before the error
	}
	if problem == "" {
		problem = differ(o, got, want)
	}
	for i, e := range got {
		if o.MaxEventSize > 0 && len(e.Data) > o.MaxEventSize {
			problem = fmt.Sprintf("event %d has %d bytes of data; MaxEventSize is %d", i, len(e.Data), o.MaxEventSize)
		}
	}
	return problem
}

// cause returns the class of rules that d breaks in a body for which checkBody returned an error. It
// removes from the body what depends on a class, and checks the body again. If the error disappears without
// one class, cause returns this class, one of first if possible. If it disappears only without several classes, cause
// returns the last of them. If it never disappears, cause returns "".
func cause(d Decode, o Options, body []byte, split uint64, first ...string) string {
	right := func(classes ...string) bool {
		rest := avoid(bytes.Clone(body), classes)
		return !bytes.Equal(rest, body) && checkBody(d, o, rest, split, 0) == nil
	}
	var classes []string
	for _, a := range avoidances {
		classes = append(classes, a.class)
	}
	for _, class := range append(first, classes...) {
		if right(class) {
			return class
		}
	}
	for n := range classes {
		if right(classes[:n+1]...) {
			return classes[n]
		}
	}
	return ""
}
