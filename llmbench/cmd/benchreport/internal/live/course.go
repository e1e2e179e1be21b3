package live

import (
	"encoding/json"
	"math"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
)

// maxSteps is the largest number of steps of a course. When a run is longer than that, the steps
// become twice as long, so that a run of any length needs the same memory.
const maxSteps = 240

// firstStep is the length of the steps at first.
const firstStep = time.Second

// A course is what happened in each step of a run's time. A request counts in the step in which it
// ended.
type course struct {
	start time.Time // of the first step
	width time.Duration
	steps []step
}

// A step is a part of the time.
type step struct {
	inFlight int // the most; 0 if no request ended, or if records do not have it
	tokens   int // of successful requests
	failed   int
	ttfts    int
	ttft     time.Duration // the sum
}

// add adds a request that ended at an instant. A request that ended before the first step counts
// in that one.
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

// halve joins each two steps.
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

// A Course is the course of a run. The last step is left out, because it is not over. The JSON is
// short, as it is sent with each event.
type Course struct {
	Start    time.Time `json:"start"`
	StepMS   int64     `json:"stepMs"`
	InFlight []known   `json:"inFlight"` // the most of a step
	Tokens   []float64 `json:"tokens"`   // per second, of successful requests that ended
	TTFT     []known   `json:"ttft"`     // in ms, the mean
	Failed   []int     `json:"failed"`
}

// A known number, or NaN, which is null in JSON: no request of the step tells the number.
type known float64

func (k known) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(k)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(k))
}

// over returns the steps that are over, or nil if there are fewer than two.
func (c *course) over() *Course {
	if len(c.steps) < 3 {
		return nil
	}
	o := &Course{Start: c.start, StepMS: c.width.Milliseconds()}
	for _, s := range c.steps[:len(c.steps)-1] {
		inFlight := known(s.inFlight)
		if s.inFlight == 0 {
			inFlight = known(math.NaN())
		}
		o.InFlight = append(o.InFlight, inFlight)
		o.Tokens = append(o.Tokens, math.Round(10*float64(s.tokens)/c.width.Seconds())/10)
		mean := math.NaN()
		if s.ttfts > 0 {
			mean = math.Round(10*s.ttft.Seconds()*1000/float64(s.ttfts)) / 10
		}
		o.TTFT = append(o.TTFT, known(mean))
		o.Failed = append(o.Failed, s.failed)
	}
	return o
}
