package distortion

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Report says which figures the client distorted too much.
type Report struct {
	Worst float64  // the largest point estimate of a share
	Units []string // those distorted by more than the maximum for certain, the worst first
	Text  string   // why, for a reader of the log; "" if there are none
	// Unknown says why the distortion by the client is unknown; "" if it is known. Worst then
	// means nothing. Units and Text are right, but may lack units.
	Unknown string
}

// Report returns a report on those metrics of units for which shown returns true. The maximum is a
// share: 0.05 means 5 %.
func (e *Estimate) Report(units []sample.Unit, metrics map[string]float64, maximum float64, shown func(sample.Unit) bool) Report {
	shares, sure := e.Shares(units, metrics, false), e.Shares(units, metrics, true)
	var r Report
	if e.unchecked > 0 {
		r.Unknown = fmt.Sprintf("in %d of %d passes no control stream was measured", e.unchecked, e.passes)
	}
	for _, u := range units {
		if !shown(u) {
			continue
		}
		r.Worst = max(r.Worst, shares[u.Name])
		if sure[u.Name] > maximum {
			r.Units = append(r.Units, u.Name)
		}
	}
	if len(r.Units) == 0 {
		return r
	}
	slices.SortFunc(r.Units, func(a, b string) int { return cmp.Or(cmp.Compare(shares[b], shares[a]), cmp.Compare(a, b)) })
	var parts []string
	for _, unit := range r.Units {
		parts = append(parts, fmt.Sprintf("%s %.2g%%", unit, 100*shares[unit]))
	}
	r.Text = fmt.Sprintf("the client distorts these figures by more than %.3g%%: %s\n  %v\n  %s",
		100*maximum, strings.Join(parts, ", "), e.strain, e.evidence())
	return r
}

// evidence describes the client's delays and errors. The values must be sorted.
func (e *Estimate) evidence() string {
	delay := fmt.Sprintf("one request in a hundred was sent %v late or later", rounded(sample.P99, e.late))
	if len(e.late) == 0 {
		paused := estimated(sample.Mean, e.pauses) * float64(len(e.pauses))
		delay = fmt.Sprintf("workers spent %.2g%% of their time between requests", 100*fraction(paused, paused+float64(e.busy)))
	}
	return fmt.Sprintf("%s; in %d control streams, the gap before one token in a hundred was wrong by %v or more",
		delay, len(e.errors.TTFT), rounded(sample.P99, e.errors.ITL))
}

// rounded returns a statistic of sorted values for a reader.
func rounded(statistic sample.Statistic, sorted []time.Duration) time.Duration {
	return time.Duration(estimated(statistic, sorted)).Round(time.Microsecond)
}
