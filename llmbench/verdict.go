package llmbench

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/distortion"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/judge"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// ErrClientBound is wrapped by the error of [Pass] if the client distorted the metrics of the pass too
// much, or if the distortion is unknown.
var ErrClientBound = errors.New("client-bound")

// ErrBursts is wrapped by the error of [Pass] if answers came in bursts, because something between the
// server and the client buffers streams. See [sample.Bursts].
var ErrBursts = errors.New("answers come in bursts")

// ErrUnread is wrapped by the error of [Pass] if answers have members that their dialect does not know, and that
// may have text before or between the text that was read.
var ErrUnread = errors.New("answers may have text that was not read")

// A verdict holds the metrics of a measurement that are left, and the reasons why others were withheld.
type verdict struct {
	*judge.Figures
	bursts   string            // describes how answers came in bursts; "" if they did not
	together []string          // units of ITLs and TPOTs that are omitted because they are 0
	unread   string            // describes text that may not have been read; "" if there is none
	client   distortion.Report // says how much the client distorted metrics
}

// judge removes metrics that mean nothing because text may not have been read. Unless the load wants them to be
// reported, judge also removes metrics that mean nothing because of bursts, and metrics that the client distorted too
// much. It writes the removed units to the end of the records, and passes them to Load.Withheld.
func (m *measurement) judge(metrics map[string]float64, f judge.Facts) (v verdict, err error) {
	v.Figures = &judge.Figures{Metrics: metrics, Units: m.load.units(), Shown: m.shown, Reported: m.bound == BoundReported}
	v.unread = v.JudgeUnread(f.Unread, m.load.SLO)
	if !m.target.Simulated { // nothing is between the client and a server in this process
		v.bursts = v.JudgeBursts(f.Bursts, m.load.SLO)
	}
	if v.client, err = m.distortion(metrics, slices.Concat(v.Hidden, v.Unread)); err != nil {
		return v, err
	}
	v.JudgeClient(v.client)
	v.together = v.JudgeGaps()
	m.end.Bounds = v.Bounds
	for _, w := range v.Withheld {
		switch {
		case w.Bursts:
			m.end.Buffered = w.Units
		case w.Unread:
			m.end.Unread = w.Units
		default:
			m.end.Withheld = w.Units
		}
	}
	m.tellWithheld(v.Withheld)
	return v, nil
}

// tellWithheld passes the units that were withheld to Load.Withheld.
func (m *measurement) tellWithheld(all []judge.Withholding) {
	if m.load.Withheld == nil {
		return
	}
	for _, w := range all {
		why := ErrClientBound
		switch {
		case w.Bursts:
			why = ErrBursts
		case w.Unread:
			why = ErrUnread
		}
		m.load.Withheld(w.Units, why)
	}
}

// distortion estimates how much this process distorted the metrics, except for the hidden units. If several
// processes measure together, each estimates how much it distorted the metrics of its own requests, and the
// leader gets the worst of the estimates.
func (m *measurement) distortion(metrics map[string]float64, hidden []string) (distortion.Report, error) {
	if !m.party.Part().Alone() {
		var err error
		if hidden, err = process.ShareJSON(m.party, " hidden", hidden); err != nil {
			return distortion.Report{}, err
		}
		own, more := m.figures(process.Own(m.party, m.all()), m.ownTime)
		maps.Copy(own, more)
		metrics = own
	}
	known := func(u sample.Unit) bool { return m.shown(u) && !slices.Contains(hidden, u.Name) }
	own := m.estimate.Report(process.Own(m.party, m.all()), m.figures, m.load.units(), metrics, m.load.MaxDistortion, known)
	return m.party.Worst(own)
}

// figures computes the metrics of samples and the load's own metrics. The argument elapsed is the total
// duration of the passes of these samples. Other functions may range over the same samples concurrently.
func (m *measurement) figures(samples iter.Seq[*sample.Sample], elapsed time.Duration) (figures, more map[string]float64) {
	if m.load.Figures != nil {
		more = m.load.Figures(copies(samples))
	}
	return sample.Summarize(samples, elapsed, m.load.SLO).Metrics, more
}

// copies returns an iterator over copies of samples, which the caller may keep and change.
func copies(samples iter.Seq[*sample.Sample]) iter.Seq[*sample.Sample] {
	return func(yield func(*sample.Sample) bool) {
		for s := range samples {
			one := *s
			one.Gaps, one.Lags, one.Merged = slices.Clone(s.Gaps), slices.Clone(s.Lags), slices.Clone(s.Merged)
			if !yield(&one) {
				return
			}
		}
	}
}
