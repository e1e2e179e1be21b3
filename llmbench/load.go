package llmbench

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/judge"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/shard"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Load says which requests a pass sends, when it sends them, and which failures are tolerated. A field
// that is optional has a default, which its zero value selects.
type Load struct {
	// Requests are the requests of one pass. Each is sent once, in order.
	//
	// Exactly one of Requests and Fresh must be set.
	Requests []Request
	// Fresh, if set, returns the requests of each pass. With different prompts in each pass, no server can
	// answer a later pass from its prefix cache. The prompts should have the same lengths in each pass. The
	// argument is the number of the pass, from 0, counted over all -count samples of the benchmark. Fresh
	// is called between passes, by the benchmark's goroutine.
	Fresh func(pass int) ([]Request, error)

	// Duration, if not 0, is for how long each pass of a closed loop sends requests, from its start; the warm-up is not part
	// of it. The workers draw requests in order from one sequence: from Requests or Fresh, and then from More. When
	// the time is over, no more are drawn. Requests that are then in flight end, and a session that has begun is sent to
	// its end. So no slow answer is cut off, and every request that was sent counts for latencies and shares. Rates are of
	// the Duration alone: a request that ends later counts by the share of it that came before (see [sample.Sample.Within]),
	// because the server has fewer and fewer requests from then on. If Requests end sooner, the pass ends with them, and
	// the run says so. If more requests fail than MaxFail tolerates, and the last hundred all have, none are sent after
	// them.
	//
	// Several processes that measure together stop at the same instant, each on its own clock. The requests of each of
	// them are the first ones of its part of the sequence.
	Duration time.Duration
	// More, if set, continues the requests of a pass with a Duration. It returns part 1 of the pass with the given
	// number, part 2 and so on, and no requests if there are no more. The same arguments must give the same requests.
	// The number of the pass is the one that Fresh gets. More is called before the pass, for as many requests as the
	// Duration needs by the latencies of the warm-up or of the pass before it, and by a goroutine of the client during the
	// pass if these are too few.
	More func(pass, part int) ([]Request, error)

	// WarmupFor, if not 0, is for how long a closed loop with a Duration or with Users runs before it is measured, in each
	// pass. The users go on from the warm-up to the Duration without a pause, so that the server is in its usual state when
	// the Duration begins: the burst of a start, of which each request waits for those before it, is not measured. In the
	// warm-up there are as many users as at the beginning of the Duration. Its requests come from the same sequence. They
	// have samples, for which [sample.Sample.IsWarmup] is true, and count for no latency, length, share or number of
	// requests. Rates count what came within the Duration, whenever it was asked for (see [sample.Sample.Within]).
	// Figures gets no samples of the warm-up, unless WholePass is set. MaxFail and the server's own counters are about all requests of the pass.
	WarmupFor time.Duration
	// CutSessions says that sessions end with the Duration: turns that are due later are not sent. Their outcome is [sample.Left], with
	// the end of the Duration as their t0. Without it, a session that has begun is sent to its end. In both cases, only turns whose t0
	// is within the Duration count for latencies and shares (see [sample.Sample.Counts]).
	CutSessions bool
	// LeastCoverage, if not 0, is the least coverage of a closed loop with a Duration: the time for which users have a session or a request,
	// from its first t0 to its last end, within the Duration, divided by the Duration of all users and passes. Below it the load was
	// not the one that was asked for, so that rates and latencies are withheld: the result has the unit idle-% instead.
	LeastCoverage float64
	// WholePass says that Figures gets all samples of a pass with a Duration, also those that do not count; see [sample.Sample.Counts].
	WholePass bool

	// Exactly one of Concurrency, Users and Arrivals must be set.
	//
	// Concurrency is the number of requests that a closed loop keeps in flight. The loop has that many
	// workers. Each worker sends its next request when its previous one has ended.
	Concurrency int
	// Users are numbers of users of a closed loop that change with time, in stages. The time of the stages is the Duration,
	// which must then be 0, or equal to it, and Concurrency must be 0 or the largest number. Users who come
	// draw requests from the same sequence as the others. Users who leave send no request after the one that is in flight.
	// If there are several stages, some units of each are reported apart, as for Models: stage1-p50-ttft-ns,
	// stage2-output-tok/s and so on. A request belongs to the stage in which its t0 is, and rates count what came within
	// the stage. The same holds for the stages of [arrivals.Stages].
	Users arrivals.Users
	// Arrivals determines when the requests of an open loop are due. A request is sent when it is due,
	// whether or not earlier requests have ended.
	Arrivals arrivals.Process
	// MaxInFlight is the maximum number of requests of an open loop that are in flight at once; 0 means no
	// maximum. At the maximum, further requests wait in order, and their latencies count from when they
	// were due. Before a pass, MaxInFlight connections are opened. Without a maximum, the pass opens as
	// many connections as the schedule needs if each request takes up to twice as long as the requests of
	// the warm-up did.
	MaxInFlight int
	// Stagger is the time between the first sends of two successive workers of a closed loop. If all
	// workers began at once, the burst at the beginning would determine the tail of the latencies. 0 means
	// [DefaultStagger], and a negative value means that all workers do begin at once.
	Stagger time.Duration

	// MeasuresCache says that prompts begin alike or repeat on purpose, because the load is about the prefix cache of
	// the server, or because its requests have an instruction or tools in common. Without it, the results warn that
	// the TTFT is in doubt if many prompts came from the cache. A load with sessions needs no MeasuresCache: each turn
	// repeats the turns before it.
	MeasuresCache bool
	// CommonTokens is the number of tokens with which the prompts of all chats begin, such as the tokens of the server's
	// chat template; 0 if unknown. If the server took no more of each prompt from its cache, there is no warning.
	CommonTokens int

	// Classes, if set, are sent at the same time, each with requests and a loop of its own, for the Duration, which must then be
	// above 0. Requests, Fresh, More, Users, Arrivals and MaxInFlight must not be set beside Classes, and Concurrency must be 0
	// or the number of the users of all classes, who send the Warmup. All else is about the requests of all classes. Some units
	// of each class are reported apart, as for Models. Request k of class i of n classes is request k*n+i of the pass.
	Classes []Class

	// Warmup holds requests that are sent once before the first pass, in the same way as a pass, and are
	// not measured. These requests end before the pass begins; see also WarmupFor. Warmup should contain no prompt of
	// Requests. Every second request asks for two tokens less than it says, so that answers to the wrong requests are
	// noticed by their lengths.
	Warmup []Request

	// NoStream asks for whole answers instead of streams.
	NoStream bool

	// Timeout is the maximum duration of a request, from its send; 0 means [DefaultTimeout].
	Timeout time.Duration
	// IdleTimeout is the maximum time between two signs of life of a stream; 0 means [DefaultIdleTimeout].
	// Output is a sign of life, and so are progress with the prompt, the finish reason and the end marker.
	// Deltas without text are not. Until the first output, comments and events of the type ping count, too,
	// because servers and gateways send them while a request waits in a queue. Before the first event only
	// Timeout applies.
	IdleTimeout time.Duration
	// PassTimeout is the maximum duration of a pass; 0 means that only the limits of its requests apply.
	PassTimeout time.Duration

	// Cancel makes some clients leave before their answers have ended.
	Cancel Cancel
	// MaxFail is the largest share of failed requests, in [0,1], with which the benchmark still succeeds. A
	// request that was sent again, because the server had closed a kept connection, is failed only if it got no
	// answer then either. The unit resent-% reports the share of such requests.
	MaxFail float64
	// MaxShed is the largest share of shed requests, in [0,1], with which the benchmark still succeeds. The
	// server sheds a request if it refuses the request because of its load, with a status in [Target].ShedStatus,
	// or with an error instead of an answer that states such a status. If MaxShed is 0, shed requests count as failed
	// ones for MaxFail. The unit shed-% reports their share, and fail-% never contains them.
	MaxShed float64
	// Models, if set, are models for which some units are reported apart, in addition to the units of all
	// requests. A request belongs to the model that it names (see [Request].Model), or otherwise to the
	// target's. The names of these units begin with the model's, as [NameValue] returns it:
	// MODEL-p50-ttft-ns, MODEL-output-tok/s and so on.
	Models []string
	// SLO, if any of its limits is set, adds the unit good-req/s (goodput): the rate of the requests that
	// meet the limits.
	SLO sample.SLO
	// KeepText keeps the generated text of each answer, in [sample.Sample].Answer and in the records.
	KeepText bool
	// Tokenizer counts the output tokens of answers that report no usage. If it is nil, their deltas are
	// counted instead. It must be the model's tokenizer, because [Run] also compares its counts with the
	// usage that the server reports. Run compares the first answers of each pass, and fails if the server
	// reports clearly fewer tokens than the text has.
	Tokenizer Tokenizer
	// MaxDistortion is the largest share of a metric by which the delays of the client itself may distort
	// it, as far as these delays are known; 0 means [DefaultMaxDistortion]. ClientBound says what happens
	// to metrics that are distorted by more; "" means the value of the variable LLMBENCH_CLIENT_BOUND.
	MaxDistortion float64
	ClientBound   ClientBound
	// Withheld, if not nil, is called with the units that are not reported, and the reason. The reason is
	// [ErrClientBound] for units that the client distorted, in order from the most distorted. The reason is
	// [ErrBursts] for units that mean nothing because answers came in bursts, and [ErrUnread] for units that
	// mean nothing because answers may have text that was not read, and [ErrIdle] for units of a load whose users had no sessions. Withheld is called at most
	// once for each reason, and only with at least one unit. If the caller computes other metrics from the
	// same instants, these metrics are equally wrong; see also [Derive].
	Withheld func(units []string, why error)
	// Units are reported in addition to the core units. They are units of the catalogue, which
	// [sample.Named] returns, or the caller's own units, whose values Figures computes.
	Units []sample.Unit
	// Figures, if set, computes further metrics from the samples of all passes. It returns them keyed by
	// unit name; the units must be in Units or in the catalogue. The metrics are reported or withheld like
	// any others. A value that is not finite is omitted. The function may range over the samples several
	// times, but not inside another range over them, nor in two goroutines at once. It may keep and change
	// each sample. It is called several times, with differently corrected instants in the samples, to
	// estimate how much the client distorted the metrics.
	Figures func(iter.Seq[*sample.Sample]) map[string]float64
	// PartsWithheld holds the field Withheld of other results from which Figures computes metrics. A metric whose unit
	// has a metric that is withheld there among its Parts (see [sample.Unit]) is withheld, too.
	PartsWithheld []map[string]error

	until     time.Duration // the requests of an open loop that are due from this instant on are not sent; 0 means that all are
	digest    bool          // compute the digest of plans, to check that all processes of a measurement have the same plan
	tokenized int           // the Tokenizer counts the answers to requests below this index even if the server reports usage
}

// Default deadlines of a request.
const (
	DefaultTimeout     = 10 * time.Minute
	DefaultIdleTimeout = time.Minute
)

// DefaultStagger is the default time between the first sends of two successive workers.
const DefaultStagger = 200 * time.Microsecond

// A ClientBound says what happens to metrics that the client itself distorted by more than
// [Load].MaxDistortion.
type ClientBound string

// The values of a ClientBound.
const (
	// BoundWithheld is the default: the distorted metrics are not reported, the others are, and the
	// benchmark passes. If neither a rate nor a latency is left, nor a metric of Figures of which more is better,
	// the benchmark fails, unless the variable LLMBENCH_CLIENT_BOUND is "withhold".
	BoundWithheld ClientBound = "withhold"
	BoundFails    ClientBound = "fail"   // the distorted metrics are not reported, and the benchmark fails
	BoundReported ClientBound = "report" // all metrics are reported, with the unit client-err-%
)

// DefaultMaxDistortion is the default of [Load].MaxDistortion: 5 % of a metric.
const DefaultMaxDistortion = 0.05

// check returns l with its defaults filled in, or an error that says which field is invalid.
func (l Load) check() (Load, error) {
	l.Timeout = cmp.Or(l.Timeout, DefaultTimeout)
	l.IdleTimeout = cmp.Or(l.IdleTimeout, DefaultIdleTimeout)
	l.MaxDistortion = cmp.Or(l.MaxDistortion, DefaultMaxDistortion)
	l.Stagger = cmp.Or(l.Stagger, DefaultStagger)
	loop := l.setClasses
	if len(l.Classes) == 0 {
		loop = l.setLoop
	}
	if err := loop(); err != nil {
		return l, err
	}
	switch {
	case l.PassTimeout > 0 && l.PassTimeout <= l.sends():
		return l, fmt.Errorf("load: pass timeout %v, duration %v: want a longer pass timeout", l.PassTimeout, l.sends())
	case l.Timeout < 0 || l.IdleTimeout < 0 || l.PassTimeout < 0:
		return l, fmt.Errorf("load: timeout %v, idle timeout %v, pass timeout %v; none may be negative", l.Timeout, l.IdleTimeout, l.PassTimeout)
	case !(l.MaxFail >= 0 && l.MaxFail <= 1):
		return l, fmt.Errorf("load: max fail %v: want a number in [0,1]", l.MaxFail)
	case !(l.MaxShed >= 0 && l.MaxShed <= 1):
		return l, fmt.Errorf("load: max shed %v: want a number in [0,1]", l.MaxShed)
	case !(l.MaxDistortion > 0):
		return l, fmt.Errorf("load: max distortion %v: want above 0", l.MaxDistortion)
	case !slices.Contains([]ClientBound{"", BoundFails, BoundWithheld, BoundReported}, l.ClientBound):
		return l, fmt.Errorf("load: client bound %q: want fail, withhold or report", l.ClientBound)
	case l.checkUnits() != nil:
		return l, fmt.Errorf("load: %w", l.checkUnits())
	case !(l.LeastCoverage >= 0 && l.LeastCoverage <= 1) || l.LeastCoverage > 0 && (l.Duration == 0 || len(l.Users)+len(l.Classes) > 0):
		return l, fmt.Errorf("load: least coverage %v: want a number in [0,1], with a Duration and a Concurrency", l.LeastCoverage)
	case l.CutSessions && l.Duration == 0:
		return l, errors.New("load: CutSessions without a Duration: want both")
	case l.Cancel.check(!l.NoStream) != nil:
		return l, fmt.Errorf("load: %w", l.Cancel.check(!l.NoStream))
	case l.NoStream && l.SLO.NeedsStream():
		return l, fmt.Errorf("load: SLO %v; answers that are not streamed have no TTFT and no TPOT", l.SLO)
	}
	return l, nil
}

// setLoop checks the requests and the loop of a load without classes, and sets what follows from its users.
func (l *Load) setLoop() error {
	if err := l.setUsers(); err != nil {
		return err
	}
	switch {
	case len(l.Requests) == 0 && l.Fresh == nil:
		return errors.New("load: no requests")
	case len(l.Requests) > 0 && l.Fresh != nil:
		return errors.New("load: both Requests and Fresh are set: want only one")
	case l.Concurrency == 0 && l.Arrivals == nil:
		return errors.New("load: neither Concurrency nor Users nor Arrivals is set: want one")
	case l.Concurrency != 0 && l.Arrivals != nil:
		return errors.New("load: Arrivals are set, and so is Concurrency or Users: want only one of them")
	case l.MaxInFlight < 0 || l.MaxInFlight > 0 && l.Arrivals == nil:
		return fmt.Errorf("load: at most %d requests in flight: want 0 or more, and Arrivals", l.MaxInFlight)
	case l.Concurrency < 0:
		return fmt.Errorf("load: concurrency %d: want at least 1", l.Concurrency)
	case l.Duration < 0 || l.Duration > 0 && l.Concurrency == 0:
		return fmt.Errorf("load: duration %v: want 0 or more, and Concurrency: the arrivals of an open loop say how long it is", l.Duration)
	case l.More != nil && l.Duration == 0:
		return errors.New("load: More without a Duration: want both")
	case l.WarmupFor < 0 || l.WarmupFor > 0 && l.Duration == 0:
		return fmt.Errorf("load: a warm-up of %v: want 0 or more, and a Duration or Users", l.WarmupFor)
	case l.WarmupFor > 0 && len(l.Users) > 0 && l.Users[0].Rate == 0:
		return fmt.Errorf("load: a warm-up of %v before users %v: want a first stage that begins with a user", l.WarmupFor, l.Users)
	case l.Fresh == nil:
		return l.checkCount(len(l.Requests))
	}
	return nil
}

// setUsers sets Concurrency to the largest number of l.Users, and Duration to their time, if there are Users.
func (l *Load) setUsers() error {
	if len(l.Users) == 0 {
		return nil
	}
	if err := l.Users.Check(); err != nil {
		return fmt.Errorf("load: users %v: %w", l.Users, err)
	}
	most, duration := l.Users.Most(), l.Users.Duration()
	if l.Concurrency != 0 && l.Concurrency != most || l.Duration != 0 && l.Duration != duration {
		return fmt.Errorf("load: users %v, concurrency %d, duration %v: want only users, who are at most %d for %v", l.Users, l.Concurrency, l.Duration, most, duration)
	}
	l.Concurrency, l.Duration = most, duration
	return nil
}

// sends returns for how long each pass sends requests, with the warm-up that is part of it; 0 means until none is left.
func (l *Load) sends() time.Duration { return l.WarmupFor + l.Duration }

// stays returns when the user with the given number, from 0, is there.
func (l *Load) stays(k int) []arrivals.Stay {
	stagger := max(0, l.Stagger)
	if l.Duration == 0 {
		return []arrivals.Stay{{From: time.Duration(k) * stagger, To: math.MaxInt64}}
	}
	users := l.Users
	if len(users) == 0 {
		users = arrivals.Users{{For: l.Duration, Rate: float64(l.Concurrency)}}
	}
	if l.WarmupFor > 0 {
		users = slices.Concat(arrivals.Users{{For: l.WarmupFor, Rate: users[0].Rate}}, users)
	}
	return users.Stays(k, stagger)
}

// partStays returns the stays of the users of a part.
func (l *Load) partStays(part shard.Part) (all [][]arrivals.Stay) {
	for k := range part.Workers(l.Concurrency) {
		all = append(all, l.stays(part.Worker(k)))
	}
	return all
}

// tolerated returns the shares of failed and of shed requests that are tolerated.
func (l Load) tolerated() judge.Tolerated { return judge.Tolerated{Fail: l.MaxFail, Shed: l.MaxShed} }

// checkCount returns an error if a pass cannot have n requests.
func (l Load) checkCount(n int) error {
	switch {
	case n == 0:
		return errors.New("load: no requests")
	case n < l.Concurrency:
		return fmt.Errorf("load: %d requests at concurrency %d: want at least as many", n, l.Concurrency)
	}
	if stages, ok := l.Arrivals.(arrivals.Stages); ok {
		return stages.CheckCount(n)
	}
	return nil
}

// units returns the units of the catalogue and the load's own units.
func (l Load) units() []sample.Unit {
	all := Units()
	for _, u := range l.Units {
		if _, known := sample.Find(all, u.Name); !known {
			all = append(all, u)
		}
	}
	return all
}

// checkUnits returns an error if one of the load's own units is invalid or has the name of another unit.
func (l Load) checkUnits() error {
	all := Units()
	for _, u := range l.Units {
		if err := u.Check(); err != nil {
			return err
		}
		if other, known := sample.Find(all, u.Name); !known {
			all = append(all, u)
		} else if other != u {
			return fmt.Errorf("unit %s: another unit has this name", u.Name)
		}
	}
	return nil
}
