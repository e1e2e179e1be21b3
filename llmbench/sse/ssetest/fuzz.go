package ssetest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// maxFuzzBody is the maximum length in bytes of a body that fuzzing builds. It is
// larger than 64 KiB, a common limit of parsers.
const maxFuzzBody = 80 << 10

// Fuzz runs Go's fuzzing with the parser d. Each input is used twice: as a body, and
// as a program whose instructions build a body from difficult fields and values, line
// ends, comments, byte order marks, partial characters, huge lines and truncation.
// Each body is read whole and split in several ways. The parser must not panic, hang,
// be late, or differ from the standard.
//
// [Options.MaxEventSize] should be 0 or a few KiB. If it is set, the parser may fail
// on a block of more than half that size, and must not return an event with more
// data than MaxEventSize.
//
// The seeds are the conformance cases and some programs, so an ordinary run of go
// test already covers much.
func Fuzz(f *testing.F, d Decode, o Options) {
	for _, s := range seeds() {
		f.Add(s, uint64(len(s)))
	}
	f.Fuzz(func(t *testing.T, input []byte, split uint64) {
		for _, body := range [][]byte{input, bodyOf(input, maxFuzzBody)} {
			if err := checkBody(d, o, body, split, firstGrace); err != nil {
				t.Errorf("body %s\n%v", quote(string(body)), err)
				if errors.Is(err, errHung) {
					t.FailNow()
				}
			}
		}
	})
}

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

// checkBody reads body in several ways, one of them chosen by split. It returns an
// error for the first reading that is wrong.
func checkBody(d Decode, o Options, body []byte, split uint64, grace time.Duration) error {
	ref := reference(body)
	ends := ref.ends
	if o.NoPrompt {
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
		got, late, err := read(d, newBody(s, ends, grace), o.timeout())
		if !slices.Equal(s.stream, body) {
			return fmt.Errorf("%s: the parser changed the bytes after reading them", s.how)
		}
		problem := endProblem(err, nil, ref.open, !o.mustAccept(ref.block))
		want := expected(o, ref.events, ref.tail, len(got), err)
		if err != nil && !o.mustAccept(ref.block) {
			want = ref.events[:min(len(got), len(ref.events))] // any number of events before the error
		}
		if problem == "" {
			problem = differ(o, got, want)
		}
		for i, e := range got {
			if o.MaxEventSize > 0 && len(e.Data) > o.MaxEventSize {
				problem = fmt.Sprintf("event %d has %d bytes of data; MaxEventSize is %d", i, len(e.Data), o.MaxEventSize)
			}
		}
		switch {
		case errors.Is(err, errHung):
			return fmt.Errorf("%s: %w", s.how, err)
		case problem != "":
			return fmt.Errorf("%s: %s", s.how, problem)
		case late >= 0 && late < len(ref.ends):
			return fmt.Errorf("%s: event %d, %s, is complete after %d bytes, but was emitted only after the parser had read more",
				s.how, late, show(o, ref.events[late]), ref.ends[late])
		}
	}
	return nil
}
