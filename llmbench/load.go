package llmbench

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Load says which requests a pass sends, when it sends them, and what is tolerated. The zero
// value of an optional field is its default.
type Load struct {
	// Requests are the requests of one pass. Each is sent once, in order.
	Requests []Request
	// Lazy, if its N is not 0, makes the requests of one pass instead of Requests, so that not all
	// requests of a very long pass are in memory at once.
	Lazy Lazy
	// Fresh, if set, returns the requests of each pass instead of Requests, so that no
	// server answers a later pass from its prefix cache. The lengths should be the same for
	// each pass. The argument counts the passes of the benchmark from 0, over all -count
	// samples. Fresh is called between passes, by the benchmark's goroutine.
	Fresh func(pass int) ([]Request, error)

	// Exactly one of Concurrency and Arrivals must be set.
	//
	// Concurrency is the number of requests that a closed loop keeps in flight. Each worker
	// sends its next request when its last one has ended.
	Concurrency int
	// Arrivals says when the requests of an open loop are due, whether or not earlier ones
	// have ended.
	Arrivals arrivals.Process
	// MaxInFlight is the maximum number of requests of an open loop in flight; 0 means no
	// maximum. Further requests that are due wait in order. Their latencies count from when
	// they were due. As many connections are opened before a pass; without a maximum, as many
	// as the schedule needs if requests take up to twice as long as they took in the warm-up.
	MaxInFlight int
	// Stagger is the time between the first sends of two workers of a closed loop. Without
	// it, the burst at the beginning would determine the tail of the latencies. 0 means
	// [DefaultStagger], and a negative value means that all workers begin at once.
	Stagger time.Duration

	// Warmup is sent once before the first pass, in the same way as a pass, and is not
	// measured. It should contain no prompt of Requests.
	Warmup []Request

	// NoStream asks for whole answers instead of streams.
	NoStream bool

	// Timeout is the maximum time of a request, from the send; 0 means [DefaultTimeout].
	Timeout time.Duration
	// IdleTimeout is the maximum time between two events of a stream; 0 means
	// [DefaultIdleTimeout]. Comments, which servers send as heartbeats, are not events.
	// Before the first event only Timeout applies, because a request may have to wait in the
	// server's queue.
	IdleTimeout time.Duration
	// PassTimeout is the maximum time of a pass; 0 means that only the limits of its requests
	// apply.
	PassTimeout time.Duration

	// Cancel makes clients leave before their answer has ended.
	Cancel Cancel
	// MaxFail is the share of failed requests above which the benchmark fails, in [0,1]. A
	// request with [sample.Sample].ResentUnread counts as failed if the server closed a new
	// connection without an answer to another request.
	MaxFail float64
	// SLO, if one of its limits is set, adds the unit good-req/s.
	SLO sample.SLO
	// KeepText keeps the generated text, in [sample.Sample].Answer and in the records.
	KeepText bool
	// Tokenizer counts the output tokens of servers that do not state usage. If it is nil, the
	// number of deltas is used. It must be the model's: [Run] also compares its counts with what the
	// server states, in the first answers of each pass, and fails if the server states clearly fewer
	// tokens than the text has.
	Tokenizer Tokenizer
	// MaxDistortion is the share of a figure by which the client itself may distort it at most,
	// as far as is known; 0 means [DefaultMaxDistortion]. ClientBound says what happens to figures that are
	// distorted by more; "" means what LLMBENCH_CLIENT_BOUND says.
	MaxDistortion float64
	ClientBound   ClientBound
	// Withheld, if not nil, is called with the units that are withheld, and why: the reason is
	// [ErrClientBound] for those that the client distorted, the worst first, and [ErrBursts]
	// for those that mean nothing because answers came in bursts. It is called once for each
	// reason, and not without units. Other figures that are computed from the same
	// instants are as wrong.
	Withheld func(units []string, why error)
	// Units are reported beside the core units: units of the catalogue, as
	// [sample.Named] returns them, or units of one's own, which Figures computes.
	Units []sample.Unit
	// Figures, if set, computes further figures from the samples of all passes, by the names
	// of units of Units or of the catalogue. They are withheld and reported like any others.
	// Values that are not finite are left out. The function may range over the samples several times,
	// but not within another range, nor in two goroutines at once. Each sample is a new one, and the
	// function's. It is called several times, with samples whose instants are corrected in different
	// ways, to estimate the distortion by the client.
	Figures func(iter.Seq[*sample.Sample]) map[string]float64

	digest    bool // plans have one, because several processes must have the same
	tokenized int  // the Tokenizer counts answers to the requests before this one even if the server states usage
}

// Lazy requests are made when they are about to be sent.
type Lazy struct {
	N int // number of requests
	// At returns the request of an index from 0 to N-1. It is called for each index before a pass, to
	// check the request, and again in the pass, by one goroutine at a time. It must return the same
	// request each time.
	At func(i int) Request
}

// Default deadlines of a request.
const (
	DefaultTimeout     = 10 * time.Minute
	DefaultIdleTimeout = time.Minute
)

// DefaultStagger is the default time between the first sends of two workers.
const DefaultStagger = 200 * time.Microsecond

// A ClientBound says what happens to figures that the client itself distorted.
type ClientBound string

// The values of a ClientBound.
const (
	// BoundWithheld is the default: the figures are left out, the others stand, and the benchmark
	// passes. It fails if neither a rate nor a latency is left, unless LLMBENCH_CLIENT_BOUND says so.
	BoundWithheld ClientBound = "withhold"
	BoundFails    ClientBound = "fail"   // the figures are left out, and the benchmark fails
	BoundReported ClientBound = "report" // the figures are reported, with the unit client-err-%
)

// DefaultMaxDistortion is the share of a figure by which the client may distort it, unless
// the load says otherwise.
const DefaultMaxDistortion = 0.05

// check returns l with its defaults filled in, or an error that says what is invalid.
func (l Load) check() (Load, error) {
	if l.Timeout == 0 {
		l.Timeout = DefaultTimeout
	}
	if l.IdleTimeout == 0 {
		l.IdleTimeout = DefaultIdleTimeout
	}
	if l.MaxDistortion == 0 {
		l.MaxDistortion = DefaultMaxDistortion
	}
	if l.Stagger == 0 {
		l.Stagger = DefaultStagger
	}
	switch {
	case l.Lazy.N < 0 || (l.Lazy.N > 0) != (l.Lazy.At != nil):
		return l, fmt.Errorf("load: %d lazy requests; want a number above 0 and the function At, or neither", l.Lazy.N)
	case len(l.Requests) == 0 && l.Fresh == nil && l.Lazy.N == 0:
		return l, errors.New("load: no requests")
	case (len(l.Requests) > 0 || l.Lazy.N > 0) && l.Fresh != nil || len(l.Requests) > 0 && l.Lazy.N > 0:
		return l, errors.New("load: more than one of Requests, Lazy and Fresh is set; want one")
	case l.Concurrency == 0 && l.Arrivals == nil:
		return l, errors.New("load: neither Concurrency nor Arrivals; want one")
	case l.Concurrency != 0 && l.Arrivals != nil:
		return l, errors.New("load: both Concurrency and Arrivals; want one")
	case l.MaxInFlight < 0 || l.MaxInFlight > 0 && l.Arrivals == nil:
		return l, fmt.Errorf("load: at most %d requests in flight; want 0 or more, and Arrivals", l.MaxInFlight)
	case l.Concurrency < 0:
		return l, fmt.Errorf("load: concurrency %d; must be at least 1", l.Concurrency)
	case l.Timeout < 0 || l.IdleTimeout < 0 || l.PassTimeout < 0:
		return l, fmt.Errorf("load: timeout %v, idle timeout %v, pass timeout %v; none may be negative", l.Timeout, l.IdleTimeout, l.PassTimeout)
	case l.Fresh == nil && l.checkCount(max(l.Lazy.N, len(l.Requests))) != nil:
		return l, l.checkCount(max(l.Lazy.N, len(l.Requests)))
	case !(l.MaxFail >= 0 && l.MaxFail <= 1):
		return l, fmt.Errorf("load: max fail %v; must be in [0,1]", l.MaxFail)
	case !(l.MaxDistortion > 0):
		return l, fmt.Errorf("load: max distortion %v; must be above 0", l.MaxDistortion)
	case !slices.Contains([]ClientBound{"", BoundFails, BoundWithheld, BoundReported}, l.ClientBound):
		return l, fmt.Errorf("load: client bound %q; must be fail, withhold or report", l.ClientBound)
	case l.checkUnits() != nil:
		return l, fmt.Errorf("load: %w", l.checkUnits())
	case l.Cancel.check(!l.NoStream) != nil:
		return l, fmt.Errorf("load: %w", l.Cancel.check(!l.NoStream))
	case l.NoStream && l.SLO.NeedsStream():
		return l, fmt.Errorf("load: SLO %v; answers that are not streamed have no TTFT and no TPOT", l.SLO)
	}
	return l, nil
}

// checkCount returns an error if a pass cannot have n requests.
func (l Load) checkCount(n int) error {
	switch {
	case n == 0:
		return errors.New("load: no requests")
	case n < l.Concurrency:
		return fmt.Errorf("load: %d requests at concurrency %d; must be at least as many", n, l.Concurrency)
	}
	if stages, ok := l.Arrivals.(arrivals.Stages); ok {
		return stages.CheckCount(n)
	}
	return nil
}

// units returns the catalogue with the load's own units.
func (l Load) units() []sample.Unit {
	all := Units()
	for _, u := range l.Units {
		if !slices.ContainsFunc(all, named(u.Name)) {
			all = append(all, u)
		}
	}
	return all
}

// checkUnits checks the load's own units.
func (l Load) checkUnits() error {
	all := Units()
	for _, u := range l.Units {
		if err := u.Check(); err != nil {
			return err
		}
		if at := slices.IndexFunc(all, named(u.Name)); at < 0 {
			all = append(all, u)
		} else if all[at] != u {
			return fmt.Errorf("unit %s: another unit has this name", u.Name)
		}
	}
	return nil
}
