package scenarios

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/llmbench/search"
)

// overload is the rate that shedding offers, as a multiple of the capacity.
const overload = 2

// shedding offers a server twice what it can do. First a closed loop finds out the capacity, which is its
// rate of completions. Then an open loop sends twice as many requests per second. good-req/s is the rate of
// requests within the SLO, and shed-% the share that was refused. A server that sheds well keeps good-req/s
// near capacity-req/s; a server that only queues lets all requests miss the SLO.
func shedding(b *testing.B, s server) {
	workload, s, draw := s.prompted(pick(s, 512, 64), pick(s, 128, 16))
	users := s.concurrencies(pick(s, 64, 16))[0]
	b.Run(fmt.Sprintf("workload=%s/stream=true/offered=%d", workload, overload), func(b *testing.B) {
		c, err := s.saturate(b, users, draw)
		if errors.Is(err, search.ErrCannotJudge) {
			llmbench.CannotJudge(b, strings.TrimPrefix(err.Error(), search.ErrCannotJudge.Error()+": "))
		}
		if err != nil {
			b.Fatal(err)
		}
		limits := s.options.Limits
		named := limits.String() // the same in all runs that can be compared
		if limits == (sample.SLO{}) {
			named = fmt.Sprintf("ttft=%d times the median at capacity", slowTTFT)
			if why := c.withheld[sample.P50TTFT]; why != nil {
				harness.Note(b, fmt.Sprintf("good-req/s is left out: its limit is %s, which is withheld: %v; LLMBENCH_SLO sets a limit", named, why))
			} else {
				limits.TTFT = slowTTFT * c.ttft
			}
		}
		n := s.requests(pick(s, max(512, 16*users), 8*users))
		s = s.withConfig(map[string]string{"slo": named})
		l := s.fresh(b, llmbench.Load{
			Arrivals: arrivals.Poisson{Rate: overload * c.rate, Seed: s.options.Seed}, SLO: limits, MaxShed: 1,
			Figures: func(iter.Seq[*sample.Sample]) map[string]float64 {
				return map[string]float64{"capacity-req/s": c.rate}
			},
			PartsWithheld: []map[string]error{c.withheld},
		}, n, 2, draw)
		s.run(b, l)
	})
}

// slowTTFT is the limit of the TTFT as a multiple of its median at capacity, if the options have no limits.
const slowTTFT = 2

// A saturation is what a server can do at most.
type saturation struct {
	rate     float64          // successful requests per second
	ttft     time.Duration    // their median TTFT
	withheld map[string]error // the field Withheld of the result
}

// firstFailure returns the error of the first request that failed and was not shed.
func firstFailure(samples iter.Seq[*sample.Sample]) error {
	for s := range samples {
		if s.Outcome != sample.OK && s.Outcome != sample.Left && s.Outcome != sample.Shed {
			return fmt.Errorf("%s: %w", s.Outcome, s.Err)
		}
	}
	return nil
}

// leastServed is the smallest share of the requests of a closed loop that must be served, so that their rate is a
// capacity. A user whose request is refused sends the next one at once. A server that refuses most requests is
// therefore done with all of them in a moment, and the rest of the loop is the end of the few that it serves.
const leastServed = 0.5

// saturate measures closed loops: one with the given number of users or, if the server refuses most of its requests,
// one with about the largest number of users whose requests it mostly serves. Refused requests do no harm.
func (s server) saturate(b *testing.B, users int, draw drawFunc) (best saturation, err error) {
	b.Helper()
	stop := noteWhile(b, "finding out the capacity of the server")
	defer stop()
	most, refused := 0, 0 // the largest number of users that is known to be served, and the smallest that is not
	for try := users; ; {
		c, shed, err := s.closedLoop(b, try, draw)
		switch {
		case err != nil:
			return c, err
		case shed == "":
			best, most = c, try
		default:
			refused = try
		}
		switch {
		case refused == 0:
			return best, nil
		case most == 0 && try == 1:
			return c, fmt.Errorf("%w: there is no capacity: %s", search.ErrCannotJudge, shed)
		case most == 0:
			try = refused / 2
		case refused-most <= max(1, most/8):
			harness.Note(b, fmt.Sprintf("capacity-req/s is the rate of a closed loop at concurrency %d: at %d, the server sheds most requests", most, refused))
			return best, nil
		default:
			try = (most + refused) / 2
		}
	}
}

// closedLoop measures a closed loop. If most of its requests were shed, the text shed says so, and there is no
// saturation.
func (s server) closedLoop(b *testing.B, users int, draw drawFunc) (c saturation, shed string, err error) {
	b.Helper()
	requests, err := draw(4*users, s.options.Seed+1<<40+uint64(users)) // the passes have other words
	if err != nil {
		return c, "", err
	}
	l := llmbench.Load{Requests: requests, Concurrency: users, MaxShed: 1}
	result, err := llmbench.Pass(harness.Context(b), b.Name()+"/capacity", s.target, s.completed(b, l))
	if result == nil { // otherwise an error says that some figures are withheld
		return c, "", err
	}
	defer result.Close()
	sum := sample.Summarize(result.All(), result.Elapsed, sample.SLO{})
	if failed := sum.Failed() - sum.Outcomes[sample.Shed]; float64(failed) > s.options.MaxFail*float64(sum.Requests) {
		hint := sample.ShedHint(result.All())
		if hint != "" {
			hint = "; " + hint
		}
		return c, "", fmt.Errorf("%d of the %d requests of the closed loop that finds out the capacity failed%s; the first: %w", failed, sum.Requests, hint, firstFailure(result.All()))
	}
	if served := sum.Outcomes[sample.OK]; float64(served) < leastServed*float64(sum.Requests) {
		return c, fmt.Sprintf("of the %d requests of a closed loop at concurrency %d, %d were served and %d shed", sum.Requests, users, served, sum.Outcomes[sample.Shed]), nil
	}
	c = saturation{sum.Metrics[sample.RequestRate], time.Duration(sum.Metrics[sample.P50TTFT]), result.Withheld}
	if c.rate == 0 || c.ttft == 0 {
		return c, "", errors.New("no request of the closed loop that finds out the capacity was answered by a stream: " + fmt.Sprint(sum.Metrics))
	}
	return c, "", nil
}
