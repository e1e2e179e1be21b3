package send

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/audit"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// waiting is the maximum number of samples that may wait for the recorder. If there are more, requests
// wait, too.
const waiting = 1024

// A recorder receives the samples of a pass when their requests end. It completes each sample, checks it,
// and calls Pass.Keep. It does this in its own goroutine, so that requests do not have to wait. It tells
// Keep when no other sample is waiting, so that Keep can write what it has buffered and little is lost if
// the process is killed.
type recorder struct {
	pass    *Pass
	clock   conn.Clock
	secrets redact.Secrets          // secrets that the error of a check may contain
	giveUp  context.CancelCauseFunc // ends the pass if a sample cannot be kept

	ended  chan Finished
	failed atomic.Int64 // number of samples that fail; see fails
	shed   atomic.Int64 // number of shed samples that do not fail
	row    atomic.Int64 // number of samples that fail since the last one that does not
	lost   atomic.Int64 // number of samples that fail or are shed since the last one with an answer
	waited atomic.Int64 // sum of the nanoseconds for which requests waited in add
	lateMu sync.Mutex
	late   map[int]time.Duration // guarded by lateMu; see addLate
	done   chan struct{}
	audit  audit.Audit // like err, used only by the goroutine until done is closed
	err    error
}

// A Finished is the sample of a request that has ended, and the check of its answer, which may be nil.
type Finished struct {
	*sample.Sample
	Check func(Answer) error
}

// errNoRecorder is the error of a pass whose recorder has exited.
var errNoRecorder = errors.New("the Tokenizer or the Check of a request ended its goroutine with runtime.Goexit, as Fatal of package testing does; Count and Check must return")

// newRecorder starts a recorder. The argument clock is the clock of the pass. The caller must call close.
func newRecorder(p *Pass, clock conn.Clock, secrets redact.Secrets, giveUp context.CancelCauseFunc) *recorder {
	r := &recorder{pass: p, clock: clock, secrets: secrets, giveUp: giveUp, ended: make(chan Finished, waiting), done: make(chan struct{})}
	go r.run()
	return r
}

// add adds the sample of a request of this process that has ended. The argument check is the check of the
// answer, or nil. If too many samples are waiting, add waits, and returns for how long.
func (r *recorder) add(s *sample.Sample, check func(Answer) error) (waited time.Duration) {
	s.Shard, s.From, s.Until = r.pass.Shard, r.pass.From, r.pass.For
	s.Class = r.pass.Classes[s.Request%len(r.pass.Classes)].Name
	switch {
	case r.pass.fails(s):
		r.failed.Add(1)
		r.row.Add(1)
		r.lost.Add(1)
	case s.Outcome == sample.Shed:
		r.shed.Add(1)
		r.row.Store(0)
		r.lost.Add(1)
	default:
		r.row.Store(0)
		r.lost.Store(0)
	}
	a := Finished{s, check}
	select {
	case r.ended <- a:
		return 0
	default:
	}
	begin := r.clock.Now()
	r.ended <- a
	waited = r.clock.Now() - begin
	r.waited.Add(int64(waited))
	return waited
}

// fails reports whether a sample counts as failed for the decision to end the pass early. In a pass for a time a shed one
// does, too, if none is tolerated: all others may be shed at once, and would be many.
func (p *Pass) fails(s *sample.Sample) bool {
	if s.Outcome == sample.Shed {
		return p.For > 0 && p.MaxShed == 0
	}
	return s.Outcome != sample.OK && s.Outcome != sample.Left
}

// take adds the sample of another process. No request of this process waits for take.
func (r *recorder) take(s *sample.Sample) { r.ended <- Finished{Sample: s} }

// addLate records that a turn of a request's session was sent late because the turn before it waited for
// the recorder. It ignores times that are not positive.
func (r *recorder) addLate(request int, by time.Duration) {
	if by <= 0 {
		return
	}
	r.lateMu.Lock()
	defer r.lateMu.Unlock()
	if r.late == nil {
		r.late = map[int]time.Duration{}
	}
	r.late[request] += by
}

// close waits until all samples are kept. If a sample could not be kept, close returns the error.
func (r *recorder) close() error {
	close(r.ended)
	<-r.done
	return r.err
}

func (r *recorder) run() {
	defer close(r.done)
	r.err = errNoRecorder
	defer func() {
		if why := recover(); why != nil {
			panic(why)
		}
		if r.err != nil {
			r.giveUp(r.err)
			r.pass.With.Fail(r.err)
		}
		for range r.ended { // so that no request waits
		}
	}()
	r.err = r.keepAll()
}

// keepAll keeps all samples. If a sample cannot be kept, keepAll returns the error.
func (r *recorder) keepAll() error {
	for a := range r.ended {
		s := a.Sample
		if s.Shard == r.pass.Shard { // another process completes its own samples
			s.Pass = r.pass.Number
			if err := a.Complete(&r.pass.Options, r.clock, r.secrets); err != nil {
				return err
			}
			if !errors.Is(s.Err, ErrNotSent) {
				r.audit.Add(s)
			}
		}
		if err := r.pass.Keep(s, len(r.ended) == 0); err != nil {
			return err
		}
	}
	return nil
}

// Complete sets the fields of the sample that are known only when the request has ended, and checks the
// answer. It removes secrets from the error of the check. It returns an error if the check panics. The
// clock is the clock of the pass.
func (a Finished) Complete(o *Options, clock conn.Clock, secrets redact.Secrets) error {
	s := a.Sample
	// If the wall clock was set, all timestamps are replaced, although those before the change are correct.
	if s.Clock != sample.UserClock && clock.WallChange() != 0 {
		s.ToUserClock()
	}
	if s.TokenSource == sample.FromTokenizer {
		s.OutputTokens = o.Tokenizer.Count(s.Answer.Reasoning + s.Answer.Text + s.Answer.Arguments())
		if err := cutShort(s); err != nil && s.Outcome == sample.OK {
			f := asFailure(err)
			s.Outcome, s.Err = f.Outcome, f.error
		}
	} else if s.Outcome == sample.OK && o.counts(s) {
		// A broken character has more tokens in the text than the model generated, so such a text is not
		// counted. Reasoning is not counted either, because some servers do not count it.
		if text := s.Answer.Text + s.Answer.Arguments(); !strings.ContainsRune(text, utf8.RuneError) {
			s.TextTokens = o.Tokenizer.Count(text)
		}
	}
	if a.Check != nil && s.Outcome == sample.OK {
		if err := a.judge(secrets); err != nil {
			return err
		}
	}
	if !o.KeepText {
		s.Answer = nil
	}
	if s.Answer != nil {
		s.Answer.Vectors, s.Answer.Scores = nil, nil
	}
	return nil
}

// judge checks the answer. It returns an error if the check panics. It removes secrets from the error of
// the check.
func (a Finished) judge(secrets redact.Secrets) (err error) {
	s := a.Sample
	defer func() {
		if why := recover(); why != nil {
			err = fmt.Errorf("the Check of request %d, turn %d, panicked: %v; the answer is %.200q\n%s", s.Request, s.Turn, why, s.Answer.Text, debug.Stack())
		}
	}()
	wrong := a.Check(*s.Answer)
	s.Checked, s.Correct = true, wrong == nil
	if wrong != nil {
		s.Wrong = secrets.Excerpt(wrong.Error(), sample.MaxWrong-len(redact.Cut))
	}
	return nil
}
