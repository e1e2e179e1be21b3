package llmbench

import (
	"cmp"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/judge"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/store"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A conclusion is what the leader, which is the process that judges the metrics, tells the other processes
// at the end of a measurement.
type conclusion struct {
	Failed   string // why a benchmark with a result has failed, or ""
	Client   string // how the client distorted the pass of [Pass], or ""
	Bursts   string // how the answers of the pass of [Pass] came in bursts, or ""
	Idle     string // for how long the users of the pass of [Pass] had no session, or ""
	Unread   string // what may not have been read of the answers of the pass of [Pass], or ""
	Elapsed  time.Duration
	Withheld []judge.Withholding
	Bounds   map[string]sample.Interval // see [Result].Bounds
}

// conclude sends the leader's conclusion, samples, elapsed time and bounds to all processes.
func (m *measurement) conclude(c conclusion) (conclusion, error) {
	c.Elapsed, c.Bounds = m.elapsed, m.end.Bounds
	c, err := process.ShareJSON(m.party, " conclusion", c)
	if err != nil {
		return c, err
	}
	if m.party.Leads() {
		return c, cmp.Or(m.party.Spread(m.all(), nil), m.samples.Err())
	}
	all := store.New(store.Bound, m.cfg.Out)
	err = m.party.Spread(nil, all.Add)
	m.samples.Close() // the samples of this process are in all, too
	m.samples, m.elapsed, m.end.Bounds = all, c.Elapsed, c.Bounds
	if err == nil {
		m.tellWithheld(c.Withheld)
	}
	return c, err
}
