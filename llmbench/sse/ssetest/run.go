package ssetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"sync/atomic"
	"time"
)

// errHung reports that reading a body did not end in time.
var errHung = errors.New("hung")

// A panicError reports a panic of the parser.
type panicError struct {
	value any
	stack []byte
}

func (p panicError) Error() string { return fmt.Sprintf("panic: %v\n%s", p.value, p.stack) }

// read runs the parser under test on b. It returns the events, the index of the first late event (or -1),
// and the error of the parser (nil if the body ended normally).
func read(d Decode, b *body, timeout time.Duration) (events []Event, late int, err error) {
	done := make(chan error, 1)
	go func() {
		finished := false
		defer func() {
			if r := recover(); r != nil {
				done <- panicError{r, debug.Stack()}
			} else if !finished {
				done <- errors.New("Decode called runtime.Goexit")
			}
		}()
		err := d(b, b.emit)
		finished = true
		done <- err
	}()
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	select {
	case err = <-done:
	case <-deadline.C:
		err = fmt.Errorf("%w: no end after %v", errHung, timeout)
	}
	events, late = b.close()
	if err == io.EOF {
		err = nil
	}
	return events, late, err
}

// attempt reads a body with the parser. The function judge returns what is wrong with the result, or "". If
// a parser has several goroutines, an event may still be on its way when the parser calls Read again.
// Therefore, if an event is late but everything else is correct, attempt reads the body once more, and
// allows each event the time grace.
func attempt(d Decode, s script, ends []int, grace, timeout time.Duration, judge func([]Event, error) string) (problem string, late int, err error) {
	events, late, err := read(d, newBody(s, ends, 0), timeout)
	if problem = judge(events, err); problem != "" || late < 0 || grace == 0 {
		return problem, late, err
	}
	events, late, err = read(d, newBody(s, ends, grace), timeout)
	return judge(events, err), late, err
}

// caseLabel is the profile label of the goroutines of one case.
const caseLabel = "ssetest-case"

var caseNumber atomic.Int64

// leaks calls run, and returns a profile of the goroutines that run started and that do not end. It returns
// nil if there are none. It waits about twice as long as patience for the goroutines to end. It recognizes
// these goroutines by a profile label, which they inherit, so that it ignores other goroutines of the
// process.
func leaks(run func(), patience time.Duration) (left []byte) {
	id := strconv.FormatInt(caseNumber.Add(1), 10)
	pprof.Do(context.Background(), pprof.Labels(caseLabel, id), func(context.Context) { run() })
	mark := fmt.Appendf(nil, "%q:%q", caseLabel, id)
	for wait := time.Millisecond; ; wait *= 2 {
		var profile bytes.Buffer
		pprof.Lookup("goroutine").WriteTo(&profile, 1)
		left = nil
		for record := range bytes.SplitSeq(profile.Bytes(), []byte("\n\n")) {
			if bytes.Contains(record, mark) {
				left = record
			}
		}
		if left == nil || wait > patience {
			return left
		}
		time.Sleep(wait) // the goroutines may need a moment to end
	}
}
