package llmbench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/audit"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/redact"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/store"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// An outlet is where the samples of a pass go.
type outlet struct {
	pass    int // the number of the pass
	samples *store.Store
	records *book // nil: no records are written
	crew    *crew // nil: this process makes the pass alone
}

// waiting is how many samples may wait for the recorder before requests wait, too.
const waiting = 1024

// A recorder takes the samples of a pass as their requests end. It completes each of them,
// checks it, writes its record and stores it. The work is done by a goroutine of its own, so that
// no request waits for it. The record is with the operating system as soon as no other sample
// waits, so that a process that is killed loses little. A disk that hangs ends the pass.
type recorder struct {
	outlet
	load    *Load
	clock   conn.Clock
	secrets redact.Secrets          // which the error of a check may have
	giveUp  context.CancelCauseFunc // ends the pass when a sample cannot be kept

	ended  chan finished
	waited atomic.Int64 // nanoseconds that requests waited in add, in sum
	lateMu sync.Mutex
	late   map[int]time.Duration // guarded by lateMu; see addLate
	relay  *relay                // nil: samples go to no other process
	done   chan struct{}
	audit  audit.Audit // until done is closed, of the goroutine; as err
	err    error
}

// A finished is the sample of a request that has ended, and the check of its answer, or nil.
type finished struct {
	*sample.Sample
	check func(Answer) error
}

// errNoRecorder is the error of a pass whose recorder has exited.
var errNoRecorder = errors.New("the Tokenizer or the Check of a request ended its goroutine with runtime.Goexit, as Fatal of package testing does; Count and Check must return")

// newRecorder starts a recorder. The pass has started with clock. Close must be called.
func newRecorder(o outlet, l *Load, clock conn.Clock, secrets redact.Secrets, giveUp context.CancelCauseFunc) *recorder {
	r := &recorder{outlet: o, load: l, clock: clock, secrets: secrets, giveUp: giveUp, relay: o.crew.relay(), ended: make(chan finished, waiting), done: make(chan struct{})}
	go r.run()
	return r
}

// add hands over the sample of a request of this process that has ended, and the check of its answer,
// or nil. It waits while too many samples wait, and returns how long.
func (r *recorder) add(s *sample.Sample, check func(Answer) error) (waited time.Duration) {
	s.Shard = r.crew.part().Index
	a := finished{s, check}
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

// take hands over the sample of another process. No request of this process waits meanwhile.
func (r *recorder) take(s *sample.Sample) { r.ended <- finished{Sample: s} }

// addLate notes that a turn of the session of a request was sent late by some time, because the turn
// before it waited for the recorder. It ignores times that are not positive.
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

// close waits until all samples are kept. It returns why one could not be kept.
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
			r.crew.fail(r.err)
		}
		for range r.ended { // so that no request waits
		}
	}()
	r.err = r.keepAll()
}

// keepAll keeps all samples that end. It returns why one could not be kept.
func (r *recorder) keepAll() error {
	for a := range r.ended {
		s := a.Sample
		if s.Shard == r.crew.part().Index { // the recorder of another process does its own
			s.Pass = r.pass
			if err := complete(a, r.load, r.clock, r.secrets); err != nil {
				return err
			}
			if !errors.Is(s.Err, errNotSent) {
				r.audit.Add(s)
			}
		}
		if err := r.keep(s); err != nil {
			return err
		}
	}
	return nil
}

// complete sets what is only known at the end of a request for l on clock, and judges the answer. Its
// error says that the check panicked.
func complete(a finished, l *Load, clock conn.Clock, secrets redact.Secrets) error {
	s := a.Sample
	// The timestamps of requests that ended before the wall clock was set are right.
	if s.Clock != sample.UserClock && clock.WallChange() != 0 {
		s.ToUserClock()
	}
	if s.TokenSource == sample.FromTokenizer {
		s.OutputTokens = l.Tokenizer.Count(s.Answer.Reasoning + s.Answer.Text + s.Answer.ToolCalls)
	} else if s.Outcome == sample.OK && l.counts(s) {
		// A broken character has more tokens in the text than the model generated. Some servers do not
		// count reasoning.
		if text := s.Answer.Text + s.Answer.ToolCalls; !strings.ContainsRune(text, utf8.RuneError) {
			s.TextTokens = l.Tokenizer.Count(text)
		}
	}
	if a.check != nil && s.Outcome == sample.OK {
		if err := a.judge(secrets); err != nil {
			return err
		}
	}
	if !l.KeepText {
		s.Answer = nil
	}
	return nil
}

// judge checks the answer. It returns an error if the check panics. Secrets are hidden in what the check says.
func (a finished) judge(secrets redact.Secrets) (err error) {
	s := a.Sample
	defer func() {
		if why := recover(); why != nil {
			err = fmt.Errorf("the Check of request %d, turn %d, panicked: %v; the answer is %.200q\n%s", s.Request, s.Turn, why, s.Answer.Text, debug.Stack())
		}
	}()
	wrong := a.check(newAnswer(s))
	s.Checked, s.Correct = true, wrong == nil
	if wrong != nil {
		s.Wrong = secrets.Excerpt(wrong.Error(), sample.MaxWrong-len(redact.Cut))
	}
	return nil
}

// keep writes the record of a sample and stores the sample.
func (r *recorder) keep(s *sample.Sample) error {
	idle := len(r.ended) == 0
	if err := r.records.write(s, idle); err != nil {
		return fmt.Errorf("records: %w", err)
	}
	if err := r.relay.add(s, idle); err != nil {
		return err
	}
	return r.samples.Add(s)
}

// A book writes records to a disk that may hang. A nil book writes nothing.
type book struct {
	to   recordWriter
	hung bool // a write has not ended
}

// A recordWriter is a [records.Writer].
type recordWriter interface {
	Name() string
	Write(*sample.Sample) error
	Flush() error
	Close(records.End) error
}

// write writes the record of a sample. The operating system has all records after a write that
// flushes.
func (b *book) write(s *sample.Sample, flush bool) error {
	if b == nil {
		return nil
	}
	return b.bound(func() error {
		err := b.to.Write(s)
		if err == nil && flush {
			err = b.to.Flush()
		}
		return err
	})
}

// close writes how the benchmark ended, and closes the file. If a write hangs, the file remains as
// that of a process that was killed.
func (b *book) close(end records.End) error {
	if b == nil || b.hung {
		return nil
	}
	return b.bound(func() error { return b.to.Close(end) })
}

// bound calls f, and waits for the disk no longer than [store.WriteLimit].
func (b *book) bound(f func() error) error {
	err := store.Write(b.to.Name(), f)
	b.hung = errors.Is(err, store.ErrHangs)
	return err
}

// newBook begins a file of records for a benchmark. Without a folder in cfg it returns nil.
func newBook(cfg config, benchmark string, t Target, l Load) (*book, error) {
	if cfg.out == "" {
		return nil, nil
	}
	config := t.config()
	delete(config, "dialect")
	head := records.Head{
		Benchmark: benchmark, Config: config, Dialect: t.dialect().Name(), Model: t.Model,
		Stream: !l.NoStream, Concurrency: l.Concurrency, Shards: process.shards(), Warmup: len(l.Warmup),
		Timeout: l.Timeout, IdleTimeout: l.IdleTimeout, SLO: l.SLO.String(), Cancel: l.Cancel.String(), Start: time.Now(),
		Host: records.Host{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), GOMAXPROCS: runtime.GOMAXPROCS(0), Go: runtime.Version()},
	}
	if salt := cfg.promptSalt(t); salt != 0 && salt == usedSalt.Load() {
		head.Salt = strconv.FormatUint(salt, 10)
	}
	if l.Arrivals != nil {
		head.Arrivals = &records.Arrivals{Process: l.Arrivals.Name(), Parameters: l.Arrivals.Parameters()}
	}
	w, err := records.Create(cfg.out, head)
	if err != nil {
		return nil, fmt.Errorf("LLMBENCH_OUT: %w", err)
	}
	return &book{to: w}, nil
}

// where names the file of records for the reader of a failure. It returns "" without a file.
func where(b *book) string {
	if b == nil {
		return ""
	}
	return "\n  records: " + b.to.Name()
}
