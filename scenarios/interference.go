package scenarios

import (
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// interference measures what one long prompt does to a steady stream of short requests: their TTFT and ITL before
// the long prompt, while the server processes the prompt, and afterwards. Then the stream pauses, and one short request
// meets an idle server. The short requests are an open loop, so that those which are due while the server is busy wait,
// as users would.
func interference(b *testing.B, s server) {
	e := pick(s,
		episodes{count: 5, in: 128, out: 128, long: 16384, interval: 250 * time.Millisecond, shorts: 40, pause: 30 * time.Second},
		episodes{count: 3, in: 64, out: 64, long: 3072, interval: 250 * time.Millisecond, shorts: 16, pause: 5 * time.Second},
		episodes{count: 1, in: 32, out: 32, long: 2048, interval: 20 * time.Millisecond, shorts: 10, pause: 100 * time.Millisecond})
	b.Run(fmt.Sprintf("workload=short-%dx%d-long-%d/stream=true/rate=%g", e.in, e.out, e.long, 1/e.interval.Seconds()), func(b *testing.B) {
		alone, err := s.prompts(e.long, 1, s.options.Seed).Requests(1)
		if err != nil {
			b.Fatal(err)
		}
		answer := s.once(b, alone[0])
		ttft, _ := answer.TTFT()
		slots := e.slots(ttft)
		result := s.run(b, s.fresh(b, e.load(slots), len(slots), 2, func(n int, seed uint64) ([]llmbench.Request, error) {
			return e.requests(s, slots[:n], seed)
		}))
		if figures := interferenceFigures(slots, result.All()); figures["p50-ttft-after-ns"] == 0 {
			b.Logf("no figures for the time after a long prompt: fewer than two short requests were sent after the first token of a long prompt; a long prompt had a TTFT of %.3gs on average beside short requests, and of %v alone", figures["mean-ttft-long-ns"]/1e9, ttft)
		}
	})
}

// episodes are a load: count times a steady stream, with a long prompt in its middle, and a pause after it.
type episodes struct {
	count         int
	in, out, long int           // tokens of short prompts, of their answers, and of a long prompt, whose answer has one token
	interval      time.Duration // between two short requests
	shorts        int           // before the long prompt, and as many after it
	pause         time.Duration // between the stream and the request to the idle server
}

// A role is what a request is in an episode.
type role int

const (
	shortRequest role = iota // of the stream
	longRequest
	idleRequest // a short request to an idle server
)

// A slot is a request of a pass.
type slot struct {
	role    role
	episode int
	at      time.Duration // when the request is due
}

// slots returns the requests of a pass. The stream goes on for half as long again as a long prompt takes alone, and
// then for as many requests as came before.
func (e episodes) slots(alone time.Duration) (all []slot) {
	during := int((alone + alone/2 + e.interval - 1) / e.interval)
	at := time.Duration(0)
	for episode := range e.count {
		for i := range 2*e.shorts + during {
			if i == e.shorts { // soon after a short one, so that also a fast server is still at its answer
				all = append(all, slot{longRequest, episode, at - e.interval + e.interval/8})
			}
			all = append(all, slot{shortRequest, episode, at})
			at += e.interval
		}
		at += e.pause
		all = append(all, slot{idleRequest, episode, at})
		at += e.pause // the next episode begins like this one, after an idle time
	}
	return all
}

// load returns the load of a pass, without its requests.
func (e episodes) load(slots []slot) llmbench.Load {
	var at []time.Duration
	for _, s := range slots {
		at = append(at, s.at)
	}
	return llmbench.Load{
		Arrivals: arrivals.Replay{At: at},
		// A connection for each request of an episode: all may have to wait for the long prompt.
		MaxInFlight: len(slots) / e.count,
		Figures: func(samples iter.Seq[*sample.Sample]) map[string]float64 {
			return interferenceFigures(slots, samples)
		},
	}
}

// requests returns the requests of slots.
func (e episodes) requests(s server, slots []slot, seed uint64) (all []llmbench.Request, err error) {
	long := 0
	for _, one := range slots {
		if one.role == longRequest {
			long++
		}
	}
	shorts, err := s.prompts(e.in, e.out, seed).Requests(len(slots) - long)
	if err != nil || long == 0 {
		return shorts, err
	}
	longs, err := s.prompts(e.long, 1, seed+1<<32).Requests(long)
	if err != nil {
		return nil, err
	}
	for _, one := range slots {
		from := &shorts
		if one.role == longRequest {
			from = &longs
		}
		all = append(all, (*from)[0])
		*from = (*from)[1:]
	}
	return all, nil
}

// The phases of an episode.
const (
	before = iota
	during
	after
	phases
)

// phaseNames are the names of the phases in units.
var phaseNames = [phases]string{"before", "during", "after"}

// A busy time is the TTFT of a long prompt.
type busy struct{ from, to time.Duration }

// phase returns the phase of a time, which is during if any of the busy time is part of it.
func (b busy) phase(from, to time.Duration) int {
	switch {
	case to <= b.from:
		return before
	case from >= b.to:
		return after
	}
	return during
}

// interferenceFigures returns the figures of successful requests, whose slots these are. An episode whose long prompt
// failed has none.
func interferenceFigures(slots []slot, samples iter.Seq[*sample.Sample]) map[string]float64 {
	type key struct{ pass, episode int }
	longs := map[key]busy{}
	var long, idle []time.Duration
	for s := range samples {
		if ttft, has := s.TTFT(); has && s.Outcome == sample.OK && slots[s.Request].role == longRequest {
			longs[key{s.Pass, slots[s.Request].episode}] = busy{s.Seen() - ttft, s.Seen()}
			long = append(long, ttft)
		}
	}
	// Of each request the longest gap in a phase: a server that stops for a long prompt has few gaps meanwhile.
	var ttfts, gaps [phases][]time.Duration
	for s := range samples {
		slot := slots[s.Request]
		ttft, has := s.TTFT()
		span, known := longs[key{s.Pass, slot.episode}]
		switch {
		case !has || !known || s.Outcome != sample.OK || slot.role == longRequest:
			continue
		case slot.role == idleRequest:
			idle = append(idle, ttft)
			continue
		}
		p := span.phase(s.Seen()-ttft, s.Seen())
		ttfts[p] = append(ttfts[p], ttft)
		var most [phases]time.Duration
		at := s.Seen()
		for _, gap := range s.ITLs() {
			p := span.phase(at, at+gap)
			most[p] = max(most[p], gap)
			at += gap
		}
		for p, gap := range most {
			if gap > 0 {
				gaps[p] = append(gaps[p], gap)
			}
		}
	}
	figures := map[string]float64{}
	for p, name := range phaseNames {
		addMedian(figures, "p50-ttft-"+name+"-ns", ttfts[p])
		addMedian(figures, "p50-max-itl-"+name+"-ns", gaps[p])
	}
	addMean(figures, "mean-ttft-long-ns", long)
	addMean(figures, "mean-ttft-idle-ns", idle)
	return figures
}

// addMedian adds the median of values as a figure, unless they are too few.
func addMedian(figures map[string]float64, unit string, values []time.Duration) {
	if sample.P50.Enough(len(values)) {
		slices.Sort(values)
		figures[unit] = sample.Quantile(values, 0.5)
	}
}

// addMean adds the mean of values as a figure, unless there are none.
func addMean(figures map[string]float64, unit string, values []time.Duration) {
	sum := time.Duration(0)
	for _, v := range values {
		sum += v
	}
	if len(values) > 0 {
		figures[unit] = float64(sum) / float64(len(values))
	}
}
