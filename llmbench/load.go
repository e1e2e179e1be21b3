package llmbench

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Load says which requests a pass sends, when, and what is tolerated. The
// zero value of an optional field is its default.
type Load struct {
	// Requests are what one pass sends, each once, in order.
	Requests []Request
	// Fresh, when set, gives the requests of each pass instead of Requests,
	// so that no server answers a later pass from its prefix cache. It should
	// give the same lengths every time; pass counts from 0 over all passes of
	// the benchmark, those of other -count samples too. It is called between
	// passes, by the benchmark's goroutine.
	Fresh func(pass int) ([]Request, error)

	// Exactly one of Concurrency and Arrivals is set.
	//
	// Concurrency is how many requests a closed loop keeps in flight: each
	// worker sends its next request when its last one has ended.
	Concurrency int
	// Arrivals is when an open loop's requests are due, whether or not
	// earlier ones have ended. All that are due are in flight, up to
	// MaxInFlight.
	Arrivals arrivals.Process
	// MaxInFlight bounds how many requests of an open loop are in flight; 0 is
	// no bound. Those that are due wait for admission, first come first
	// served, and their latencies count from when they were due.
	MaxInFlight int
	// Stagger is the time between the first sends of two workers of a closed
	// loop, so that their burst does not make the tail of what is measured:
	// 0 means 200 microseconds, and a negative one that all begin at once.
	Stagger time.Duration

	// Warmup is sent once before the first pass, in the same way as a pass,
	// and not measured. It should hold no prompt of Requests.
	Warmup []Request

	// NoStream asks for whole answers instead of streams.
	NoStream bool

	// Timeout ends a request, from the send; 0 means 10 minutes.
	Timeout time.Duration
	// IdleTimeout ends a stream between two of its events; 0 means 60
	// seconds. Comments, which servers send as heartbeats, are not events.
	// Before the first event only Timeout applies, as a request may have to
	// wait for its turn.
	IdleTimeout time.Duration
	// PassTimeout ends a pass; 0 means no limit but those of its requests,
	// which end every pass in time.
	PassTimeout time.Duration

	// Cancel makes clients leave before their answer has ended.
	Cancel Cancel
	// MaxFail is the share of failed requests that is tolerated, in [0,1]:
	// above it the benchmark fails.
	MaxFail float64
	// SLO, if any limit is set, adds the unit good-req/s.
	SLO sample.SLO
	// KeepText keeps what was generated, in [sample.Sample].Answer and in the records.
	KeepText bool
	// Tokenizer counts the output of servers that do not state usage; nil
	// leaves the number of deltas.
	Tokenizer Tokenizer
	// MaxDistortion is the share of a figure by which the client itself may
	// distort it, above 0; 0 means 5 %. ClientBound says what becomes of figures that are
	// distorted by more; "" means as LLMBENCH_CLIENT_BOUND says.
	MaxDistortion float64
	ClientBound   ClientBound
	// Withheld, if not nil, is called with the units that are withheld because the
	// client distorts them, the worst first, if there are any: what is computed from
	// the same instants of the samples is then distorted too.
	Withheld func(units []string)
	// Units are reported beside the core units: units of the catalogue, as
	// [sample.Named] returns them, or units of one's own, which Figures computes.
	Units []sample.Unit
	// Figures, when set, computes more units from the samples of all passes: units of
	// Units or of the catalogue, by name. They are judged and reported as the others are.
	Figures func([]sample.Sample) map[string]float64
}

// Default deadlines of a request.
const (
	DefaultTimeout     = 10 * time.Minute
	DefaultIdleTimeout = time.Minute
)

// DefaultStagger is the time between the first sends of two workers.
const DefaultStagger = 200 * time.Microsecond

// A ClientBound says what happens to figures that the client itself distorted.
type ClientBound string

// The values of a ClientBound.
const (
	BoundFails    ClientBound = "fail"     // the figures are withheld, and the benchmark fails
	BoundWithheld ClientBound = "withhold" // the figures are withheld, and the benchmark logs which
	BoundReported ClientBound = "report"   // the figures are reported, with the unit client-err-%
)

// DefaultMaxDistortion is the share of a figure by which the client may distort it, unless
// the load says otherwise.
const DefaultMaxDistortion = 0.05

// check returns l with its defaults filled in.
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
	case len(l.Requests) == 0 && l.Fresh == nil:
		return l, errors.New("load: no requests")
	case len(l.Requests) > 0 && l.Fresh != nil:
		return l, errors.New("load: both Requests and Fresh; want one")
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
	case len(l.Requests) > 0 && l.checkCount(len(l.Requests)) != nil:
		return l, l.checkCount(len(l.Requests))
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
	case l.NoStream && (l.SLO.TTFT > 0 || l.SLO.TPOT > 0):
		return l, fmt.Errorf("load: SLO %v; answers that are not streamed have no TTFT and no TPOT", l.SLO)
	}
	return l, nil
}

// checkCount says whether a pass can have n requests.
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
