package history

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/history/internal/change"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/history/internal/watch"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
)

// ChangeOptions control [Reader.Changes].
type ChangeOptions struct {
	P       float64 // the largest p-value of a change point, more than 0 and less than 1
	Min     float64 // changes up to this share of the level are dropped: 0.01 is 1 %
	MaxFail float64 // as in CheckOptions
	Units   []byte  // as in CheckOptions
}

// Changes returns the change points of all gated units in the runs. It uses Hunter's method
// (https://arxiv.org/abs/2301.03034) with windows of 50 runs. Changes whose possible first runs on one machine
// overlap become one Cause. Unsound results are omitted, and a new baseline begins in the same places as in Check.
//
// Unlike Check, which controls false alarms over the whole newest run, Changes applies the limit P to each
// change point by itself. So the more series there are, the more false change points Changes returns.
func (r *Reader) Changes(runs []*Run, o ChangeOptions) ([]Cause, error) {
	if !(o.P > 0 && o.P < 1) {
		return nil, fmt.Errorf("p: %v: want more than 0 and less than 1", o.P)
	}
	all, err := r.checkers(runs, CheckOptions{Nights: 2, Min: o.Min, MaxFail: o.MaxFail, Units: o.Units})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b *checker) int { return strings.Compare(a.machine, b.machine) })
	var causes []Cause
	for _, c := range all {
		causes = append(causes, c.changes(o)...)
	}
	return causes, nil
}

// changes returns the change points of the machine's runs.
func (c *checker) changes(o ChangeOptions) []Cause {
	var all [][]float64 // the values of each series, indexed by series number
	for night := range c.nights {
		c.report = &Report{}
		for _, v := range c.values(night) {
			for v.Series >= len(all) {
				all = append(all, nil)
			}
			all[v.Series] = append(all[v.Series], v.X)
		}
	}
	var moved []Move
	for id, xs := range all {
		direction := sign(c.rules[c.series[id].cell.Unit])
		for i := range xs {
			xs[i] = math.Exp(direction * xs[i])
		}
		for _, p := range change.Points(xs, change.Options{Window: 50, P: o.P, Min: o.Min}) {
			wide := p.Width(0.95)
			share := func(d float64) float64 { return (p.After - p.Before + d) / p.Before }
			moved = append(moved, Move{
				Series: c.named(id), Change: numbers.Rounded(share(0), 6), Low: numbers.Rounded(share(-wide), 6), High: numbers.Rounded(share(wide), 6), P: numbers.Rounded(p.P, 6),
				finding: watch.Finding{Series: id, First: c.present[id][p.First], Last: c.present[id][p.Last]},
			})
		}
	}
	return c.causes(moved)
}

// WriteChanges writes causes as text for a terminal.
func WriteChanges(w io.Writer, causes []Cause) error {
	var b strings.Builder
	p := printer{b: &b}
	if len(causes) == 0 {
		fmt.Fprintln(&b, "no change points")
	} else if all := causes[0].shared; all != "" {
		fmt.Fprintf(&b, "all series: %s\n", p.plain(all))
	}
	several := slices.ContainsFunc(causes, func(c Cause) bool { return c.Machine != causes[0].Machine })
	for i, c := range causes {
		if several && (i == 0 || c.Machine != causes[i-1].Machine) {
			fmt.Fprintf(&b, "on machine %q:\n", c.Machine)
		}
		p.cause(c)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteChangesJSON writes causes as a JSON array.
func WriteChangesJSON(w io.Writer, causes []Cause) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(list(causes))
}
