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
	Worst     float64     // the largest likely share of a figure that is shown
	Distorted []Distorted // figures that may be distorted by more than the maximum, the worst first
	Why       string      // what delayed the client, for a reader who asks; "" if no figure is distorted
	// Unknown says why the distortion by the client is unknown; "" if it is known. Worst then
	// means nothing. Distorted is right, but may lack figures.
	Unknown string
	// Shifts are by how much the client may have shifted each figure, by unit, shown or not.
	Shifts map[string]Shift
}

// Distorted is a figure that the client may have distorted by more than the maximum. The shares are
// parts of the true figure: 0.05 means 5 %.
type Distorted struct {
	Unit   string
	Likely float64 // the share that is most likely
	Most   float64 // the largest possible share
	Client string  // which client, if there are several
}

// Units returns the units of the distorted figures, the worst first.
func (r Report) Units() (units []string) {
	for _, d := range r.Distorted {
		units = append(units, d.Unit)
	}
	return units
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

// Text returns one line about the distorted figures, or "" if there are none. The figures are left
// out of the result if withheld is set.
func (r Report) Text(withheld bool) string {
	if len(r.Distorted) == 0 {
		return ""
	}
	var units, parts []string
	for _, d := range r.Distorted {
		share := percent(d.Most)
		if d.Client != "" {
			share += " at " + d.Client
		}
		units, parts = append(units, d.Unit), append(parts, share)
	}
	is, them := "is", "it"
	if len(units) > 1 {
		is, them = "are", "them"
	}
	named := strings.Join(units, ", ")
	what := fmt.Sprintf("the client may have changed %s by up to %s", them, strings.Join(parts, ", "))
	if !withheld {
		return fmt.Sprintf("%s %s uncertain: %s. Leave the client a free core or ask for longer answers.", named, is, what)
	}
	return fmt.Sprintf("%s %s withheld: %s. To get %s, leave the client a free core or ask for longer answers.", named, is, what, them)
}

// Report returns a report on those metrics of units for which shown returns true. The samples
// belong to all passes, and metrics are the figures that compute returned of them. The
// maximum is a share: 0.05 means 5 %.
func (e *Estimate) Report(samples iter.Seq[*sample.Sample], compute Figures, units []sample.Unit, metrics map[string]float64, maximum float64, shown func(sample.Unit) bool) Report {
	all := e.shares(samples, compute, units, metrics)
	r := Report{Unknown: e.unknown(), Shifts: map[string]Shift{}}
	for _, u := range units {
		if s, ok := all[u.Name]; ok {
			r.Shifts[u.Name] = s.shift
		}
		if !shown(u) {
			continue
		}
		s := all[u.Name]
		r.Worst = max(r.Worst, s.likely)
		if s.most > maximum {
			r.Distorted = append(r.Distorted, Distorted{Unit: u.Name, Likely: s.likely, Most: s.most})
		}
	}
	if len(r.Distorted) > 0 {
		r.Why = fmt.Sprintf("%v\n%s", e.strain, e.evidence())
	}
	r.sort()
	return r
}

// sort puts the worst first.
func (r *Report) sort() {
	slices.SortFunc(r.Distorted, func(a, b Distorted) int {
		return cmp.Or(cmp.Compare(b.Likely, a.Likely), cmp.Compare(b.Most, a.Most), cmp.Compare(a.Unit, b.Unit))
	})
}

// Worse returns the report of several clients: r of some of them, and o of a further one of that
// name. Each figure is the worst of any client. Why is of all clients that distorted a figure.
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
	r.Worst = max(r.Worst, o.Worst)
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

// percent returns a share for a reader.
func percent(share float64) string {
	switch {
	case share >= maxShare:
		return fmt.Sprintf("%.0f %% or more", 100*maxShare)
	case share < 0.1:
		return fmt.Sprintf("%.2g %%", 100*share)
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

// rounded returns d for a reader.
func rounded(d time.Duration) time.Duration { return d.Round(time.Microsecond) }
