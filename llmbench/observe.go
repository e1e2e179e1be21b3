package llmbench

import (
	"context"
	"iter"
	"maps"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// An observation is an Observer with its metrics of all passes so far. An observation without an Observer has no metrics.
type observation struct {
	Observer
	figures map[string]float64 // nil if After returned an error for the last pass
}

// observe returns the observation of a new Observer. create may be nil.
func observe(create func() Observer) (o observation) {
	if create != nil {
		o.Observer = create()
	}
	return o
}

func (o *observation) before(ctx context.Context) error {
	if o.Observer == nil {
		return nil
	}
	return o.Before(ctx)
}

// after reads the metrics after a pass. It returns no error if ctx has ended, because the pass was then given up.
func (o *observation) after(ctx context.Context) error {
	if o.Observer == nil {
		return nil
	}
	figures, err := o.After(ctx)
	if o.figures = figures; err != nil {
		o.figures = nil
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// counters returns the counters of the last pass for the records, or nil.
func (o *observation) counters() map[string][2]float64 {
	if c, ok := o.Observer.(CountersObserver); ok {
		return c.Counters()
	}
	return nil
}

// all returns the metrics of all passes, including those that depend on the samples.
func (o *observation) all(samples iter.Seq[*sample.Sample]) map[string]float64 {
	all := map[string]float64{}
	maps.Copy(all, o.figures)
	if s, ok := o.Observer.(SamplesObserver); ok && o.figures != nil {
		maps.Copy(all, s.FiguresOf(samples))
	}
	return all
}

// redactKeys returns counters without the credentials of t in their names.
func redactKeys(t Target, counters map[string][2]float64) map[string][2]float64 {
	redacted := map[string][2]float64{}
	for name, values := range counters {
		redacted[t.Redact(name)] = values
	}
	return redacted
}
