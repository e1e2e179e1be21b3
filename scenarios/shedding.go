package scenarios

import (
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// overload is the rate that shedding offers, as a multiple of the capacity.
const overload = 2

// shedding offers a server twice what it can do. First a closed loop finds out the capacity, which is its
// rate of completions. Then an open loop sends twice as many requests per second. good-req/s is the rate of
// requests within the SLO, and shed-% the share that was refused. A server that sheds well keeps good-req/s
// near capacity-req/s; a server that only queues lets all requests miss the SLO.
func shedding(b *testing.B, s server) {
	in, out := s.lengths(pick(s, 512, 64), pick(s, 128, 16))
	users := s.concurrencies(pick(s, 64, 16))[0]
	b.Run(fmt.Sprintf("workload=random-%dx%d/stream=true/offered=%d", in, out, overload), func(b *testing.B) {
		draw := s.drawPrompts(in, out)
		c, err := s.saturate(b, users, draw)
		if err != nil {
			b.Fatal(err)
		}
		limits := s.options.Limits
		named := limits.String() // the same in all runs that can be compared
		if limits == (sample.SLO{}) {
			limits = sample.SLO{TTFT: slowTTFT * c.ttft}
			named = fmt.Sprintf("ttft=%d times the median at capacity", slowTTFT)
		}
		n := s.requests(pick(s, max(512, 16*users), 8*users))
		s = s.withConfig(map[string]string{"slo": named})
		l := s.fresh(b, llmbench.Load{
			Arrivals: arrivals.Poisson{Rate: overload * c.rate, Seed: s.options.Seed}, SLO: limits, MaxShed: 1,
			Figures: func(iter.Seq[*sample.Sample]) map[string]float64 {
				return map[string]float64{"capacity-req/s": c.rate}
			},
		}, n, 2, draw)
		s.run(b, l)
	})
}

// slowTTFT is the limit of the TTFT as a multiple of its median at capacity, if the options have no limits.
const slowTTFT = 2

// A saturation is what a server can do at most.
type saturation struct {
	rate float64       // successful requests per second
	ttft time.Duration // their median TTFT
}

// saturate measures a closed loop with the given number of users. Refused requests do no harm.
func (s server) saturate(b *testing.B, users int, draw drawFunc) (c saturation, err error) {
	b.Helper()
	stop := noteWhile(b, "finding out the capacity of the server")
	defer stop()
	requests, err := draw(4*users, s.options.Seed+1<<40) // the passes have other words
	if err != nil {
		return c, err
	}
	l := llmbench.Load{Requests: requests, Concurrency: users, MaxShed: 1, ClientBound: llmbench.BoundReported}
	result, err := llmbench.Pass(llmbench.Context(b), b.Name()+"/capacity", s.target, s.completed(b, l))
	if err != nil {
		return c, err
	}
	defer result.Close()
	m := sample.Summarize(result.All(), result.Elapsed, sample.SLO{}).Metrics
	c = saturation{m["req/s"], time.Duration(m["p50-ttft-ns"])}
	if c.rate == 0 || c.ttft == 0 {
		return c, errors.New("no request of the closed loop that finds out the capacity was answered by a stream: " + fmt.Sprint(m))
	}
	return c, nil
}
