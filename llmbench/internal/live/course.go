package live

import (
	"math"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
)

// maxSteps is the largest number of steps of a course. When a run would need more, the length of the steps
// doubles, so the memory does not grow with the run.
const maxSteps = 240

// firstStep is the length of the steps at the start of a run.
const firstStep = time.Second

// A course divides the time of a run into steps of equal length. A request counts in the step in which it
// ended.
type course struct {
	start time.Time // start of the first step
	width time.Duration
	steps []step
}

// A step sums up the requests that ended in one step of a course.
type step struct {
	inFlight int // the maximum; 0 if no request ended, or if the records lack the number
	tokens   int // output tokens of successful requests
	failed   int
	ttfts    int
	ttft     time.Duration // the sum of all TTFTs; their mean is ttft / ttfts
}

// add adds a request that ended at the time at. If that is before the first step, the request counts in the
// first step.
func (c *course) add(at time.Time, inFlight int, q *records.Request) {
	if c.steps == nil {
		c.start, c.width = at, firstStep
	}
	i := max(0, int(at.Sub(c.start)/c.width))
	for i >= maxSteps {
		c.halve()
		i /= 2
	}
	for len(c.steps) <= i {
		c.steps = append(c.steps, step{})
	}
	s := &c.steps[i]
	s.inFlight = max(s.inFlight, inFlight)
	switch {
	case q.OK():
		s.tokens += int(q.OutputTokens)
		if ttft, ok := q.TTFT(); ok {
			s.ttfts++
			s.ttft += ttft
		}
	case q.Failed():
		s.failed++
	}
}

// halve merges each pair of neighboring steps, and so halves their number.
func (c *course) halve() {
	kept := c.steps[:0]
	for i, s := range c.steps {
		if i%2 == 0 {
			kept = append(kept, s)
			continue
		}
		k := &kept[len(kept)-1]
		k.inFlight = max(k.inFlight, s.inFlight)
		k.tokens += s.tokens
		k.failed += s.failed
		k.ttfts += s.ttfts
		k.ttft += s.ttft
	}
	c.steps, c.width = kept, 2*c.width
}

// A Course is the course of a run without its last step, which is not over yet. Each slice has one element per
// step. The JSON is compact, because each event has a Course.
type Course struct {
	Start    time.Time  `json:"start"`
	StepMS   int64      `json:"stepMs"`
	InFlight []*int     `json:"inFlight"` // maximum; nil if no request of the step has the number
	Tokens   []float64  `json:"tokens"`   // output tokens per second, of the successful requests that ended
	TTFT     []*float64 `json:"ttft"`     // mean, in milliseconds; nil if no request of the step has a TTFT
	Failed   []int      `json:"failed"`
}

// over returns the course without its last step, or nil if fewer than two steps are over.
func (c *course) over() *Course {
	if len(c.steps) < 3 {
		return nil
	}
	o := &Course{Start: c.start, StepMS: c.width.Milliseconds()}
	for _, s := range c.steps[:len(c.steps)-1] {
		var inFlight *int
		if s.inFlight > 0 {
			inFlight = &s.inFlight
		}
		o.InFlight = append(o.InFlight, inFlight)
		o.Tokens = append(o.Tokens, math.Round(10*float64(s.tokens)/c.width.Seconds())/10)
		var mean *float64
		if s.ttfts > 0 {
			mean = new(math.Round(10*s.ttft.Seconds()*1000/float64(s.ttfts)) / 10)
		}
		o.TTFT = append(o.TTFT, mean)
		o.Failed = append(o.Failed, s.failed)
	}
	return o
}
