package distortion

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Report says which figures the client distorted too much.
type Report struct {
	Worst float64  // the largest likely share of a figure that is shown
	Units []string // those that may be distorted by more than the maximum, the worst first
	Text  string   // why, for a reader of the log; "" if there are none
	// Unknown says why the distortion by the client is unknown; "" if it is known. Worst then
	// means nothing. Units and Text are right, but may lack units.
	Unknown string
}

// Report returns a report on those metrics of units for which shown returns true. The samples
// are those of all passes, and metrics are the figures that compute returned of them. The
// maximum is a share: 0.05 means 5 %.
func (e *Estimate) Report(samples iter.Seq[*sample.Sample], compute Figures, units []sample.Unit, metrics map[string]float64, maximum float64, shown func(sample.Unit) bool) Report {
	all := e.shares(samples, compute, units, metrics)
	r := Report{Unknown: e.unknown()}
	for _, u := range units {
		if !shown(u) {
			continue
		}
		r.Worst = max(r.Worst, all[u.Name].likely)
		if all[u.Name].most > maximum {
			r.Units = append(r.Units, u.Name)
		}
	}
	if len(r.Units) == 0 {
		return r
	}
	slices.SortFunc(r.Units, func(a, b string) int {
		return cmp.Or(cmp.Compare(all[b].likely, all[a].likely), cmp.Compare(all[b].most, all[a].most), cmp.Compare(a, b))
	})
	var parts []string
	for _, unit := range r.Units {
		parts = append(parts, fmt.Sprintf("%s (likely %s, at most %s)", unit, percent(all[unit].likely), percent(all[unit].most)))
	}
	r.Text = fmt.Sprintf("the client may distort these figures by more than %.3g%%: %s\n  %v\n  %s",
		100*maximum, strings.Join(parts, ", "), e.strain, e.evidence())
	return r
}

// Worse returns the report of several clients: r of some of them, and o of a further one of that
// name. Its figures are the worst of any client. Its text is that of the worst client, and of
// those that distorted units which a worse one did not.
func (r Report) Worse(name string, o Report) Report {
	if o.Unknown != "" {
		o.Unknown = name + ": " + o.Unknown
	}
	if o.Text != "" {
		o.Text = name + ": " + o.Text
	}
	if o.Worst > r.Worst {
		r, o = o, r // the worst comes first
	}
	join := func(texts ...string) string {
		return strings.Join(slices.DeleteFunc(texts, func(t string) bool { return t == "" }), "\n")
	}
	added := slices.DeleteFunc(slices.Clone(o.Units), func(unit string) bool { return slices.Contains(r.Units, unit) })
	if len(added) > 0 {
		r.Units = append(slices.Clip(r.Units), added...)
		r.Text = join(r.Text, o.Text)
	}
	r.Unknown = join(r.Unknown, o.Unknown)
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

// percent returns a share for a reader.
func percent(share float64) string {
	if share < 0.1 {
		return fmt.Sprintf("%.2g%%", 100*share)
	}
	return fmt.Sprintf("%.0f%%", 100*share)
}

// rounded returns d for a reader.
func rounded(d time.Duration) time.Duration { return d.Round(time.Microsecond) }
