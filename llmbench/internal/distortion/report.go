package distortion

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Report says which metrics the client distorted too much.
type Report struct {
	// Likely has the likely share of each metric that is shown and that the client can distort, by unit. A metric
	// that is computed from others has none.
	Likely    map[string]float64
	Distorted []Distorted // metrics that may be distorted by more than the maximum, the worst first
	Hidden    []string    // units of such metrics that are not shown
	Why       string      // what delayed the client, as an explanation; "" if no metric is distorted
	// Unknown says why the distortion by the client is unknown; "" if it is known. If it is unknown, Likely
	// has no meaning, and Distorted may lack metrics.
	Unknown string
	// Shifts says by how much the client may have shifted each metric, by unit. It includes metrics that
	// are not shown.
	Shifts map[string]Shift
	// Better says that the client has a better place in the queue for a CPU, or has tried to get one.
	Better bool
}

// Distorted is a metric that the client may have distorted by more than the maximum. The shares are
// relative to the true value: 0.05 means 5 %.
type Distorted struct {
	Unit     string
	Likely   float64 // the most likely share
	Most     float64 // the largest possible share
	Client   string  // the client that distorted the metric, if there are several
	Computed bool    // the shares are of the metrics from which the metric is computed; its own ones are unknown
}

// Units returns the units of the distorted metrics, the worst first.
func (r Report) Units() (units []string) {
	for _, d := range r.Distorted {
		units = append(units, d.Unit)
	}
	return units
}

// Worst returns the largest likely share of the metrics of those units for which reported returns true. It returns
// false if there are no such metrics.
func (r Report) Worst(reported func(unit string) bool) (worst float64, any bool) {
	for unit, share := range r.Likely {
		if reported(unit) {
			worst, any = max(worst, share), true
		}
	}
	return worst, any
}

// Most returns the largest possible share of a unit, or 0 if the unit is not distorted too much.
func (r Report) Most(unit string) float64 {
	for _, d := range r.Distorted {
		if d.Unit == unit {
			return d.Most
		}
	}
	return 0
}

// Computed reports whether a unit is distorted too much because metrics are from which it is computed.
func (r Report) Computed(unit string) bool {
	return slices.ContainsFunc(r.Distorted, func(d Distorted) bool { return d.Unit == unit && d.Computed })
}

// Text returns one line about the distorted metrics, or "" if there are none. The argument withheld says
// whether the result omits these metrics.
func (r Report) Text(withheld bool) string {
	if len(r.Distorted) == 0 {
		return ""
	}
	var units, shares []string
	for _, d := range r.Distorted {
		share := "by up to " + percent(d.Most)
		if d.Computed {
			share += " of what it is computed from"
		}
		if d.Client != "" {
			share += " at " + d.Client
		}
		units, shares = append(units, d.Unit), append(shares, share)
	}
	is, them, what := "is", "it", "the client may have changed it "+shares[0]
	if len(units) > 1 {
		is, them, what = "are", "them", "the client may have changed them"
		for i := range units {
			units[i] += " (" + shares[i] + ")"
		}
	}
	named := strings.Join(units, ", ")
	priority := " set LLMBENCH_PRIORITY=auto (Linux),"
	if r.Better {
		priority = ""
	}
	if !withheld {
		return fmt.Sprintf("%s %s uncertain: %s. Leave the client a free core,%s or ask for longer answers.", named, is, what, priority)
	}
	return fmt.Sprintf("%s %s withheld: %s. To get %s, leave the client a free core,%s or ask for longer answers.", named, is, what, them, priority)
}

// Report returns a report on the metrics of those units for which shown returns true. The argument samples
// has the samples of all passes, and metrics has the results of compute for them. A metric counts as
// distorted too much if its largest possible share exceeds maximum: 0.05 means 5 %. A metric that is computed from
// others is distorted too much if one of these is, shown or not, and by the share of the worst of them.
func (e *Estimate) Report(samples iter.Seq[*sample.Sample], compute Figures, units []sample.Unit, metrics map[string]float64, maximum float64, shown func(sample.Unit) bool) Report {
	all := e.shares(samples, compute, units, metrics)
	r := Report{Unknown: e.unknown(), Likely: map[string]float64{}, Shifts: map[string]Shift{}}
	for _, u := range units {
		s, ok := all[u.Name]
		if ok {
			r.Shifts[u.Name] = s.shift
		}
		if _, known := metrics[u.Name]; known && u.Parts != "" {
			for part := range strings.FieldsSeq(u.Parts) {
				s.likely, s.most = max(s.likely, all[part].likely), max(s.most, all[part].most)
			}
		}
		switch {
		case shown(u):
			if ok {
				r.Likely[u.Name] = s.likely
			}
			if s.most > maximum {
				r.Distorted = append(r.Distorted, Distorted{Unit: u.Name, Likely: s.likely, Most: s.most, Computed: u.Parts != ""})
			}
		case s.most > maximum:
			r.Hidden = append(r.Hidden, u.Name)
		}
	}
	if len(r.Distorted) > 0 {
		r.Why = fmt.Sprintf("%v\n%s", e.strain, e.evidence())
	}
	r.sort()
	return r
}

// sort puts the worst metrics first.
func (r *Report) sort() {
	slices.SortFunc(r.Distorted, func(a, b Distorted) int {
		return cmp.Or(cmp.Compare(b.Likely, a.Likely), cmp.Compare(b.Most, a.Most), cmp.Compare(a.Unit, b.Unit))
	})
}

// Worse combines the reports of several clients: r, and the report o of the client with the given name. For
// each metric, the result has the worst value of any client. Why has the reasons of all clients that
// distorted a metric.
func (r Report) Worse(name string, o Report) Report {
	add := func(to *string, text string) {
		if text == "" {
			return
		}
		if *to != "" {
			*to += "\n"
		}
		*to += name + ": " + text
	}
	add(&r.Unknown, o.Unknown)
	add(&r.Why, o.Why)
	r.Better = r.Better || o.Better
	r.Likely = maps.Clone(r.Likely)
	for unit, share := range o.Likely {
		if r.Likely == nil {
			r.Likely = map[string]float64{}
		}
		r.Likely[unit] = max(r.Likely[unit], share)
	}
	for _, unit := range o.Hidden {
		if !slices.Contains(r.Hidden, unit) {
			r.Hidden = append(slices.Clip(r.Hidden), unit)
		}
	}
	r.Distorted = slices.Clone(r.Distorted)
	for _, d := range o.Distorted {
		d.Client = name
		at := slices.IndexFunc(r.Distorted, func(have Distorted) bool { return have.Unit == d.Unit })
		switch {
		case at < 0:
			r.Distorted = append(r.Distorted, d)
		case d.Most > r.Distorted[at].Most:
			r.Distorted[at] = d
		}
	}
	r.sort()
	r.Shifts = mergeShifts(r.Shifts, o.Shifts)
	return r
}

// evidence describes the client's delays.
func (e *Estimate) evidence() string {
	var text []string
	add := func(format string, args ...any) { text = append(text, fmt.Sprintf(format, args...)) }
	if e.all.n > 0 {
		add("%d of %d deltas were read together with later ones; one read in a hundred was %v late or more",
			e.merged, e.all.n, rounded(e.all.quantile(0.99)))
	}
	if e.users > 0 && e.control.n > 0 {
		add("one read in a hundred of a control stream was %v late or more", rounded(e.control.quantile(0.99)))
	}
	if e.late.n > 0 {
		add("one request in a hundred was sent %v late or later", rounded(e.late.quantile(0.99)))
	}
	add("the passes took %v, and would have taken %v without delays between requests", rounded(e.elapsed), rounded(e.ideal))
	return strings.Join(text, "; ")
}

// percent formats a share as a percentage.
func percent(share float64) string {
	switch {
	case share >= MaxShare:
		return fmt.Sprintf("%.0f %% or more", 100*MaxShare)
	case share < 0.1:
		return fmt.Sprintf("%.2g %%", 100*share)
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

// rounded rounds d to microseconds, for display.
func rounded(d time.Duration) time.Duration { return d.Round(time.Microsecond) }
