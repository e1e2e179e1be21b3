package llmbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/distortion"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A measurement is what [Run] and [Pass] share. Its steps are: set up, prepare, passes, and the
// judgement of which figures the client distorted.
type measurement struct {
	cfg     config
	load    Load
	bound   ClientBound
	client  *client
	control *control        // nil: the client's distortion is not measured
	records *records.Writer // nil: no records are written
	end     records.End     // of the records

	samples  []sample.Sample // of all passes
	elapsed  time.Duration   // sum over passes
	estimate distortion.Estimate
}

// setUp checks the configuration, the target and the load. It sends nothing. The measurement
// must be closed.
func setUp(t Target, l Load) (*measurement, error) {
	cfg, err := readConfig()
	if err != nil {
		return nil, err
	}
	if l, err = l.check(); err != nil {
		return nil, err
	}
	c, err := newClient(t)
	if err != nil {
		return nil, err
	}
	last := BoundFails
	if t.Simulated {
		last = BoundReported
	}
	bound := cmp.Or(l.ClientBound, cfg.bound, last)
	return &measurement{cfg: cfg, load: l, bound: bound, client: c}, nil
}

// close closes the connections, and the control if there is one.
func (m *measurement) close() {
	if m.control != nil {
		m.control.close()
	}
	m.client.close()
}

// beginRecords begins the file of records if the environment asks for records. The end of the
// file says that the measurement panicked, until another end is set.
func (m *measurement) beginRecords(name string) (err error) {
	m.end = records.End{Outcome: records.EndedFailed, Why: "the benchmark panicked"}
	m.records, err = newRecorder(m.cfg, name, m.client.target, m.load)
	return err
}

// endRecords writes the end of the file of records.
func (m *measurement) endRecords() error { return m.records.Close(m.end) }

// fail makes err the end of the records. It returns err with the name of the file.
func (m *measurement) fail(err error) error {
	m.end.Outcome, m.end.Why = records.EndedFailed, err.Error()
	return fmt.Errorf("%w%s", err, where(m.records))
}

// prepare sends the warm-up, and starts a control if withControl is set.
func (m *measurement) prepare(ctx context.Context, withControl bool) error {
	warmUp, err := m.warmUp(ctx)
	if err != nil {
		return fmt.Errorf("warm-up: %w", err)
	}
	if withControl {
		m.control, err = newControl(medianGap(warmUp))
	}
	return err
}

// warmUp sends the requests of the warm-up and returns their samples.
func (m *measurement) warmUp(ctx context.Context) ([]sample.Sample, error) {
	if len(m.load.Warmup) == 0 {
		return nil, nil
	}
	posts, err := newPosts(&m.load, m.client.target, m.load.Warmup)
	if err != nil {
		return nil, err
	}
	r, err := m.client.pass(ctx, &m.load, posts, nil)
	if err == nil {
		err = context.Cause(ctx)
	}
	if text := tooManyFailed(r.Samples, m.load.MaxFail); err == nil && text != "" {
		err = errors.New(text)
	}
	return r.Samples, err
}

// pass sends posts as the pass of that number, and writes their records, also those of a pass
// that failed. A pass that was given up because ctx ended has failed, whatever the load
// tolerates.
func (m *measurement) pass(ctx context.Context, number int, posts []post) (passResult, error) {
	r, err := m.client.pass(ctx, &m.load, posts, m.control)
	for i := range r.Samples {
		r.Samples[i].Pass = number
	}
	if writeErr := m.records.Write(r.Samples); writeErr != nil {
		err = errors.Join(err, fmt.Errorf("records: %w", writeErr))
	}
	if err == nil {
		err = context.Cause(ctx)
	}
	return r, err
}

// add adds a successful pass to the result.
func (m *measurement) add(r passResult) {
	m.samples = append(m.samples, r.Samples...)
	m.elapsed += sample.Elapsed(r.Samples)
	m.estimate.Add(r.Pass)
}

// shown reports whether the figure of a unit is reported.
func (m *measurement) shown(u sample.Unit) bool {
	return (u.Core || m.cfg.allUnits || slices.ContainsFunc(m.load.Units, named(u.Name))) && (u.Name != "fail-%" || m.load.MaxFail > 0)
}

// judge sets client-err-% in metrics if the client's distortion is known. Unless distorted
// figures are reported, it removes them from metrics and calls load.Withheld. The report says
// which figures are distorted too much.
func (m *measurement) judge(metrics map[string]float64) distortion.Report {
	r := m.estimate.Report(m.load.units(), metrics, m.load.MaxDistortion, m.shown)
	if r.Unknown == "" {
		metrics[sample.ClientError] = 100 * r.Worst
	}
	if len(r.Units) == 0 || m.bound == BoundReported {
		return r
	}
	m.end.Withheld = r.Units
	for _, unit := range r.Units {
		delete(metrics, unit)
	}
	if m.load.Withheld != nil {
		m.load.Withheld(r.Units)
	}
	return r
}
