package llmbench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/audit"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/store"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// An outlet is where the samples of a pass go.
type outlet struct {
	pass    int // the number of the pass
	samples *store.Store
	records *records.Writer // nil: no records are written
}

// waiting is how many samples may wait for the recorder before requests wait, too.
const waiting = 1024

// A recorder takes the samples of a pass as their requests end. It completes each of them,
// checks it, writes its record and stores it. The work is done by a goroutine of its own, so that
// no request waits for it. The record is with the operating system as soon as no other sample
// waits, so that a process that is killed loses little.
type recorder struct {
	outlet
	load   *Load
	clock  conn.Clock
	giveUp context.CancelCauseFunc // ends the pass when a sample cannot be kept

	ended  chan *sample.Sample
	waited atomic.Int64 // nanoseconds that requests waited in add, in sum
	done   chan struct{}
	audit  audit.Audit // until done is closed, of the goroutine; as err
	err    error
}

// newRecorder starts a recorder. The pass has started with clock. Close must be called.
func newRecorder(o outlet, l *Load, clock conn.Clock, giveUp context.CancelCauseFunc) *recorder {
	r := &recorder{outlet: o, load: l, clock: clock, giveUp: giveUp, ended: make(chan *sample.Sample, waiting), done: make(chan struct{})}
	go r.run()
	return r
}

// add hands over the sample of a request that has ended. It waits while too many samples wait.
func (r *recorder) add(s *sample.Sample) {
	select {
	case r.ended <- s:
	default:
		begin := r.clock.Now()
		r.ended <- s
		r.waited.Add(int64(r.clock.Now() - begin))
	}
}

// close waits until all samples are kept. It returns why one could not be kept.
func (r *recorder) close() error {
	close(r.ended)
	<-r.done
	return r.err
}

func (r *recorder) run() {
	defer close(r.done)
	for s := range r.ended {
		if r.err != nil {
			continue
		}
		r.complete(s)
		if !errors.Is(s.Err, errNotSent) {
			r.audit.Add(s)
		}
		if r.err = r.keep(s); r.err != nil {
			r.giveUp(r.err)
		}
	}
}

// complete sets what is only known at the end of a request.
func (r *recorder) complete(s *sample.Sample) {
	s.Pass = r.pass
	// The timestamps of requests that ended before the wall clock was set are right.
	if s.Clock != sample.UserClock && r.clock.WallChange() != 0 {
		s.ToUserClock()
	}
	if s.TokenSource == sample.FromTokenizer {
		s.OutputTokens = r.load.Tokenizer.Count(s.Answer.Reasoning + s.Answer.Text + s.Answer.ToolCalls)
		if !r.load.KeepText {
			s.Answer = nil
		}
	}
}

// keep writes the record of a sample and stores the sample.
func (r *recorder) keep(s *sample.Sample) error {
	err := r.records.Write(s)
	if err == nil && len(r.ended) == 0 {
		err = r.records.Flush()
	}
	if err != nil {
		return fmt.Errorf("records: %w", err)
	}
	return r.samples.Add(s)
}

// newWriter begins a file of records for a benchmark. Without a folder in cfg it returns a
// nil Writer, which writes nothing.
func newWriter(cfg config, benchmark string, t Target, l Load) (*records.Writer, error) {
	if cfg.out == "" {
		return nil, nil
	}
	config := t.config()
	delete(config, "dialect")
	head := records.Head{
		Benchmark: benchmark, Config: config, Dialect: t.dialect().Name(), Model: t.Model,
		Stream: !l.NoStream, Concurrency: l.Concurrency, Warmup: len(l.Warmup),
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
	return w, nil
}

// where names the file of records for the reader of a failure. It returns "" without a file.
func where(w *records.Writer) string {
	if w == nil {
		return ""
	}
	return "\n  records: " + w.Name()
}
