package llmbench

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/judge"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/store"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A conclusion is what the process that leads tells the others at the end of a measurement.
type conclusion struct {
	Failed   string // why a benchmark has failed although it has a result; ""
	Client   string // in what way the client distorted a single pass; ""
	Bursts   string // in what way the answers of a single pass came in bursts; ""
	Elapsed  time.Duration
	Withheld []judge.Withholding
	Bounds   map[string]sample.Interval // see [Result].Bounds
}

// conclude gives all processes the conclusion, the samples, the elapsed time and the bounds of the one that leads.
func (m *measurement) conclude(c conclusion) (conclusion, error) {
	c.Elapsed, c.Bounds = m.elapsed, m.end.Bounds
	data, err := json.Marshal(c)
	if err != nil {
		return c, err
	}
	if data, err = m.party.Share(" conclusion", data); err != nil {
		return c, err
	}
	if m.party.Leads() {
		return c, cmp.Or(m.party.Spread(m.all(), nil), m.samples.Err())
	}
	c = conclusion{}
	if err := json.Unmarshal(data, &c); err != nil {
		return c, fmt.Errorf("the conclusion of shard 0: %w", err)
	}
	all := store.New(store.Bound, m.cfg.Out)
	err = m.party.Spread(nil, all.Add)
	m.samples.Close() // the file of this process's own samples, which are among all
	m.samples, m.elapsed, m.end.Bounds = all, c.Elapsed, c.Bounds
	if err == nil {
		m.tellWithheld(c.Withheld)
	}
	return c, err
}
