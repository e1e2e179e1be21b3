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

// errHung is the error of a reading that did not end in time.
var errHung = errors.New("hung")

// A panicked is the error of a reading whose parser panicked.
type panicked struct {
	value any
	stack []byte
}

func (p panicked) Error() string { return fmt.Sprintf("panic: %v\n%s", p.value, p.stack) }

// read has the parser under test read b and returns what it made of it. err is
// nil for a clean end.
func read(d Decode, b *body, timeout time.Duration) (events []Event, late int, err error) {
	done := make(chan error, 1)
	go func() {
		finished := false
		defer func() {
			if r := recover(); r != nil {
				done <- panicked{r, debug.Stack()}
			} else if !finished {
				done <- errors.New("the goroutine that decodes was ended (runtime.Goexit)")
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

// caseLabel marks the goroutines of one case in profiles.
const caseLabel = "ssetest-case"

var caseNumber atomic.Int64

// leaks calls run and returns a profile of the goroutines that it started and
// that are still there a while later, or nil. It knows them by a profile label,
// which goroutines inherit, so others in the process do not matter.
func leaks(run func()) (left []byte) {
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
		if left == nil || wait > 500*time.Millisecond {
			return left
		}
		time.Sleep(wait) // an ended parser's goroutine may need a moment to go
	}
}
