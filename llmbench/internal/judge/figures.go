package judge

import (
	"cmp"
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

// A Reason is a reason to withhold metrics.
type Reason string

const (
	ByClient Reason = ""       // the client distorted the metrics
	ByBursts Reason = "bursts" // answers came in bursts
	ByUnread Reason = "unread" // answers may have text that was not read
	ByIdle   Reason = "idle"   // users had no sessions
)

// Unit returns the name of the unit that a result has if metrics are withheld for the reason.
func (r Reason) Unit() string {
	return map[Reason]string{ByClient: sample.ClientBound, ByBursts: sample.BurstShare, ByUnread: sample.UnreadShare, ByIdle: sample.IdleShare}[r]
}

// A Withholding is a list of metrics that were withheld for one reason.
type Withholding struct {
	Units []string
	Also  []string // units that the result would not have shown, and whose metrics mean as little
	Why   Reason
	Share float64 // value of the unit that says so; see [Reason.Unit]
	// Of says that metrics of another result, from which these metrics are computed, are withheld for the reason. It
	// names these metrics.
	Of []string `json:",omitempty"`
}

// Named returns the units, among the given ones, that a result may have.
func (f *Figures) Named(units []string) (reported []string) {
	for _, name := range units {
		if u, found := sample.Find(f.Units, name); found && f.Shown(u) {
			reported = append(reported, name)
		}
	}
	return reported
}

// OfTokens returns the units of a result that depend on the number of output tokens.
func (f *Figures) OfTokens() (units []string) {
	for _, u := range f.Units {
		if u.Family == sample.FamilyTPOT || slices.Contains([]string{sample.OutputRate, sample.SteadyRate, sample.TotalRate, sample.UserRate, sample.OutputLength}, cmp.Or(u.Base, u.Name)) {
			units = append(units, u.Name)
		}
	}
	return f.Named(units)
}

// JudgeBursts withholds the metrics that have no meaning if answers came in bursts, because something
// between the server and the client buffers streams. It returns a text about these metrics, or "". It must
// be called before JudgeClient, which would otherwise blame the client for these metrics. The text has the advice; see
// [Unbuffered].
func (f *Figures) JudgeBursts(b sample.Bursts, slo sample.SLO, advice string) string {
	all := sample.OfDeltas(f.Units, slo)
	if f.Hidden = b.Hide(f.known(), slo); b.Found() {
		f.Hidden = append(f.Hidden, f.computedFrom(all)...)
	}
	if len(f.Hidden) == 0 {
		return ""
	}
	f.Metrics[sample.BurstShare] = 100 * float64(b.InBursts) / float64(b.Streams)
	end := "have no meaning"
	if !f.Reported {
		f.withhold(Withholding{Units: f.Hidden, Also: all, Why: ByBursts})
		f.remove(all)
		end = "have no meaning and are omitted"
	}
	return fmt.Sprintf("answers come in bursts: %v: something between buffers the stream (%s), or lacks CPU\n  %s %s", b, advice, strings.Join(f.Hidden, ", "), end)
}

// JudgeGaps removes the statistics of ITLs and TPOTs that are 0: each delta came together with the delta before it, in
// one segment or one read, so that no clock could measure the time between them. Metrics of the result that are computed
// from these go with them. It returns the removed units that a result shows. The argument together is the share of such
// deltas. It must be called after JudgeBursts and JudgeClient.
func (f *Figures) JudgeGaps(together float64) (units []string) {
	for _, u := range f.Units {
		if v, known := f.Metrics[u.Name]; known && (u.Family == sample.FamilyITL || u.Family == sample.FamilyTPOT) && v <= 1 { // benchstat needs at least 1
			units = append(units, u.Name)
		}
	}
	if units = f.remove(append(units, f.computedFrom(units)...)); len(units) > 0 {
		f.Metrics[sample.TogetherShare] = 100 * together
	}
	return units
}

// JudgeParts withholds the metrics that are computed from metrics of other results, if these are withheld there. The
// argument elsewhere has what is withheld in the other results. JudgeParts returns a text about the metrics, or "". It
// must be called before JudgeClient, which would otherwise count them among the metrics of the result.
func (f *Figures) JudgeParts(elsewhere []Withholding) string {
	if f.Reported {
		return ""
	}
	var texts []string
	for _, w := range elsewhere {
		units := f.computedFrom(w.Units)
		if len(units) == 0 {
			continue
		}
		parts := slices.DeleteFunc(slices.Clone(w.Units), func(part string) bool {
			return !slices.ContainsFunc(f.known(), func(u sample.Unit) bool { return u.ComputedFrom([]string{part}) })
		})
		why := map[Reason]string{
			ByClient: "the client may have changed the figures there",
			ByBursts: "answers came in bursts there",
			ByUnread: "answers may have text there that was not read",
			ByIdle:   "users had no sessions there",
		}[w.Why]
		if unit := w.Why.Unit(); w.Share > f.Metrics[unit] {
			f.Metrics[unit] = w.Share
		}
		f.withhold(Withholding{Units: units, Why: w.Why, Of: parts})
		texts = append(texts, fmt.Sprintf("%s: withheld, because computed from %s of another result: %s", strings.Join(units, ", "), strings.Join(parts, ", "), why))
	}
	return strings.Join(texts, "; ")
}

// computedFrom returns the units of the result that are computed from one of the given units.
func (f *Figures) computedFrom(parts []string) (units []string) {
	for _, u := range f.known() {
		if u.ComputedFrom(parts) {
			units = append(units, u.Name)
		}
	}
	return units
}

// JudgeClient sets client-err-% and the bounds, if the distortion by the client is known. It withholds the
// metrics that the client distorted too much. client-err-% is about the others, and omitted if there are none.
func (f *Figures) JudgeClient(r distortion.Report) {
	if r.Unknown == "" {
		f.Bounds = r.Bounds(f.Metrics)
		maps.DeleteFunc(f.Bounds, func(unit string, i sample.Interval) bool { // JSON has no number for +Inf
			return slices.Contains(f.Hidden, unit) || !Finite(i.Low) || !Finite(i.Likely) || !Finite(i.High)
		})
	}
	if units := r.Units(); len(units) > 0 && !f.Reported {
		most := 0.
		for _, unit := range units {
			most = max(most, r.Most(unit))
		}
		f.Metrics[sample.ClientBound] = max(f.Metrics[sample.ClientBound], 100*min(most, distortion.MaxShare))
		f.withhold(Withholding{Units: units, Also: r.Hidden})
	}
	if worst, any := r.Worst(func(unit string) bool { _, left := f.Metrics[unit]; return left }); any && r.Unknown == "" {
		f.Metrics[sample.ClientError] = 100 * worst
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

// withhold removes the metrics of a withholding. The metric of the unit that says so must have been set.
func (f *Figures) withhold(w Withholding) {
	f.remove(w.Units)
	w.Share = f.Metrics[w.Why.Unit()]
	f.Withheld = append(f.Withheld, w)
}

// HasResult reports whether there is still a metric that tells how good the server is: a rate or a latency that was
// not withheld, the share of right answers, or a metric of the load's own, of which more is better, such as a hit
// rate. The argument own has the units that the load computes itself.
func (f *Figures) HasResult(own map[string]float64) bool {
	return slices.ContainsFunc(f.known(), func(u sample.Unit) bool {
		_, isOwn := own[u.Name]
		return u.Timed() || u.Name == sample.Accuracy || isOwn && u.Better == "higher"
	})
}

// Finite reports whether v may be in a result. Benchstat uses up all memory if a value is infinite.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
