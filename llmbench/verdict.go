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

// ErrIdle is the reason why metrics are withheld if the users of a load had no session for too long; see [Load].LeastCoverage.
var ErrIdle = errors.New("users had no sessions for a part of the time")

// A verdict holds the metrics of a measurement that are left, and the reasons why others were withheld.
type verdict struct {
	*judge.Figures
	bursts   string            // describes how answers came in bursts; "" if they did not
	parts    string            // describes metrics that are computed from metrics that other results withhold; "" if there are none
	together []string          // units of ITLs and TPOTs that are omitted because they are 0
	idle     string            // describes for how long users had no session; "" if they always had one
	unread   string            // describes text that may not have been read; "" if there is none
	client   distortion.Report // says how much the client distorted metrics
}

// judge removes metrics of a load that was not the one that was asked for, and metrics that mean nothing because text may not have been
// read. Unless the load wants them to be reported, judge also removes metrics that mean nothing because of bursts, and metrics that the client distorted too
// much. It writes the removed units to the end of the records, and passes them to Load.Withheld.
func (m *measurement) judge(metrics map[string]float64, f judge.Facts) (v verdict, err error) {
	v.Figures = &judge.Figures{Metrics: metrics, Units: m.load.units(), Shown: m.shown, Reported: m.bound == BoundReported}
	if l := &m.load; l.LeastCoverage > 0 {
		v.idle = v.JudgeIdle(judge.Coverage(m.all(), l.Concurrency, m.prompts.passes, l.Duration), l.LeastCoverage)
	}
	v.unread = v.JudgeUnread(f.Unread, m.load.SLO)
	if !m.target.Simulated { // nothing is between the client and a server in this process
		v.bursts = v.JudgeBursts(f.Bursts, m.load.SLO, judge.Unbuffered(m.client.Between()))
	}
	var elsewhere []judge.Withholding
	for _, of := range m.load.PartsWithheld {
		elsewhere = append(elsewhere, withholdings(of)...)
	}
	v.parts = v.JudgeParts(elsewhere)
	hidden := slices.Concat(v.Hidden, v.Unread)
	for _, w := range v.Withheld {
		hidden = append(hidden, w.Units...)
	}
	if v.client, err = m.distortion(metrics, hidden); err != nil {
		return v, err
	}
	v.JudgeClient(v.client)
	v.together = v.JudgeGaps(f.Together)
	m.end.Bounds = v.Bounds
	for _, w := range v.Withheld {
		to := map[judge.Reason]*[]string{judge.ByClient: &m.end.Withheld, judge.ByBursts: &m.end.Buffered, judge.ByUnread: &m.end.Unread, judge.ByIdle: &m.end.Idle}[w.Why]
		*to = append(*to, w.Units...)
	}
	m.tellWithheld(v.Withheld)
	return v, nil
}

// tellWithheld keeps what was withheld, and passes the units to Load.Withheld.
func (m *measurement) tellWithheld(all []judge.Withholding) {
	m.withheld = map[string]error{}
	for _, reason := range reasons {
		var units []string
		for _, w := range all {
			if w.Why != reason.why {
				continue
			}
			units = append(units, w.Units...)
			for _, unit := range slices.Concat(w.Units, w.Also) {
				m.withheld[unit] = cause{reason.err, w.Share}
			}
		}
		if len(units) > 0 && m.load.Withheld != nil {
			m.load.Withheld(units, reason.err)
		}
	}
}

// withholdings is the reverse of tellWithheld, for the metrics of another result.
func withholdings(withheld map[string]error) (all []judge.Withholding) {
	for _, reason := range reasons {
		w := judge.Withholding{Why: reason.why}
		for _, unit := range slices.Sorted(maps.Keys(withheld)) {
			if errors.Is(withheld[unit], reason.err) {
				w.Units = append(w.Units, unit)
				w.Share = max(w.Share, shareOf(withheld[unit]))
			}
		}
		all = append(all, w)
	}
	return all
}

// A cause is the reason why a metric of a result was withheld, with the value of the unit that says so in the result.
type cause struct {
	error
	share float64
}

func (c cause) Unwrap() error { return c.error }

// shareOf returns the value of the unit that says why a metric was withheld, or 0 if it is unknown.
func shareOf(why error) float64 {
	c, _ := errors.AsType[cause](why)
	return c.share
}

// reasons are the reasons to withhold metrics, in the order in which they are judged, with their errors.
var reasons = []struct {
	why judge.Reason
	err error
}{{judge.ByIdle, ErrIdle}, {judge.ByUnread, ErrUnread}, {judge.ByBursts, ErrBursts}, {judge.ByClient, ErrClientBound}}

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
	own.Better = m.cfg.Priority
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
