package judge

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/distortion"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Figures holds the metrics of a measurement while they are judged.
type Figures struct {
	Metrics  map[string]float64     // the metrics that were not withheld, by unit
	Units    []sample.Unit          // the units that Metrics may have, in order
	Shown    func(sample.Unit) bool // whether the metric of a unit is reported
	Reported bool                   // metrics are not withheld, even if they are in doubt

	Withheld []Withholding
	Hidden   []string                   // units that have no meaning because answers came in bursts
	Unread   []string                   // units that have no meaning because answers may have text that was not read
	Bounds   map[string]sample.Interval // intervals of true values, for metrics that the client can distort; nil: unknown
}

// A Withholding is a list of metrics that were withheld for one reason.
type Withholding struct {
	Units  []string
	Bursts bool // the reason is bursts
	Unread bool // the reason is text that was not read; if neither is true, the client distorted the metrics
}

// Named returns the units, among the given ones, that a result may have.
func (f *Figures) Named(units []string) (reported []string) {
	for _, name := range units {
		if at := slices.IndexFunc(f.Units, func(u sample.Unit) bool { return u.Name == name }); at >= 0 && f.Shown(f.Units[at]) {
			reported = append(reported, name)
		}
	}
	return reported
}

// OfTokens returns the units of a result that depend on the number of output tokens.
func (f *Figures) OfTokens() (units []string) {
	for _, u := range f.Units {
		if u.Family == sample.FamilyTPOT || slices.Contains([]string{"output-tok/s", "steady-output-tok/s", "total-tok/s", "user-tok/s", "out-tok/req"}, u.Name) {
			units = append(units, u.Name)
		}
	}
	return f.Named(units)
}

// JudgeBursts withholds the metrics that have no meaning if answers came in bursts, because something
// between the server and the client buffers streams. It returns a text about these metrics, or "". It must
// be called before JudgeClient, which would otherwise blame the client for these metrics.
func (f *Figures) JudgeBursts(b sample.Bursts, slo sample.SLO) string {
	if f.Hidden = b.Hide(f.known(), slo); len(f.Hidden) == 0 {
		return ""
	}
	end := "have no meaning"
	if !f.Reported {
		f.withhold(Withholding{Units: f.Hidden, Bursts: true})
		f.remove(sample.OfDeltas(f.Units, slo))
		end = "have no meaning and are omitted"
	}
	return fmt.Sprintf("answers come in bursts: %v: something between buffers the stream (nginx: proxy_buffering off), or lacks CPU\n  %s %s", b, strings.Join(f.Hidden, ", "), end)
}

// JudgeGaps removes the statistics of ITLs and TPOTs that are 0: each delta came together with the delta before it, in
// one segment or one read, so that no clock could measure the time between them. It returns the removed units that a
// result shows. It must be called after JudgeBursts and JudgeClient.
func (f *Figures) JudgeGaps() (units []string) {
	for _, u := range f.Units {
		if v, known := f.Metrics[u.Name]; known && (u.Family == sample.FamilyITL || u.Family == sample.FamilyTPOT) && v <= 1 { // benchstat needs at least 1
			units = append(units, u.Name)
		}
	}
	return f.remove(units)
}

// JudgeClient sets client-err-% and the bounds, if the distortion by the client is known. It withholds the
// metrics that the client distorted too much.
func (f *Figures) JudgeClient(r distortion.Report) {
	if r.Unknown == "" {
		f.Bounds = r.Bounds(f.Metrics)
		maps.DeleteFunc(f.Bounds, func(unit string, i sample.Interval) bool { // JSON has no number for +Inf
			return slices.Contains(f.Hidden, unit) || !Finite(i.Low) || !Finite(i.Likely) || !Finite(i.High)
		})
		f.Metrics[sample.ClientError] = 100 * r.Worst
	}
	if units := r.Units(); len(units) > 0 && !f.Reported {
		f.withhold(Withholding{Units: units})
	}
}

// known returns the units that the result has.
func (f *Figures) known() []sample.Unit {
	return slices.DeleteFunc(slices.Clone(f.Units), func(u sample.Unit) bool {
		_, known := f.Metrics[u.Name]
		return !known || !f.Shown(u)
	})
}

// remove removes the metrics of the given units. It returns the removed units that a result shows; the table at the
// end of a run shows more units.
func (f *Figures) remove(units []string) (shown []string) {
	for _, unit := range units {
		if _, known := f.Metrics[unit]; known {
			delete(f.Metrics, unit)
			shown = append(shown, unit)
		}
	}
	return f.Named(shown)
}

// withhold removes the metrics of a withholding.
func (f *Figures) withhold(w Withholding) {
	f.remove(w.Units)
	f.Withheld = append(f.Withheld, w)
}

// HasSpeed reports whether there is still a rate or a latency that was not withheld.
func (f *Figures) HasSpeed() bool {
	return slices.ContainsFunc(f.Units, func(u sample.Unit) bool {
		_, known := f.Metrics[u.Name]
		return known && u.Timed() && f.Shown(u)
	})
}

// Finite reports whether v may be in a result. Benchstat uses up all memory if a value is infinite.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
