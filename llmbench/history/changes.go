package history

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/history/internal/change"
	"github.com/seed-2b9cec6d/llmbench/llmbench/history/internal/watch"
)

// ChangeOptions control [Reader.Changes].
type ChangeOptions struct {
	P       float64 // the largest p-value of a change point, more than 0 and less than 1
	Min     float64 // a change must be more than this share
	MaxFail float64 // as in CheckOptions
	Units   []byte  // as in CheckOptions
}

// Changes returns the change points of all gated units in the runs, by the method of Hunter
// (https://arxiv.org/abs/2301.03034) with windows of 50 runs. Changes that may have begun in the same runs are
// one cause. Results that are not sound are left out, and a new baseline begins where Check begins one. In contrast to
// Check, which speaks of the newest run, a p-value is for one change point: more series have more false ones.
func (r *Reader) Changes(runs []*Run, o ChangeOptions) ([]Cause, error) {
	if !(o.P > 0 && o.P < 1) {
		return nil, fmt.Errorf("p: %v, want more than 0 and less than 1", o.P)
	}
	c, err := r.newChecker(runs, CheckOptions{Nights: 2, Min: o.Min, MaxFail: o.MaxFail, Units: o.Units})
	if err != nil {
		return nil, err
	}
	var all [][]float64 // by series
	for night := range c.nights {
		c.report = &Report{}
		for _, v := range c.values(night) {
			for v.Series >= len(all) {
				all = append(all, nil)
			}
			all[v.Series] = append(all[v.Series], v.X)
		}
	}
	var moved []located
	for id, xs := range all {
		direction := sign(c.rules[c.series[id].cell.Unit])
		for i := range xs {
			xs[i] = math.Exp(direction * xs[i])
		}
		for _, p := range change.Points(xs, change.Options{Window: 50, P: o.P, Min: o.Min}) {
			wide := p.Width(0.95)
			share := func(d float64) float64 { return (p.After - p.Before + d) / p.Before }
			moved = append(moved, located{
				Move{Series: c.named(id), Change: rounded(share(0)), Low: rounded(share(-wide)), High: rounded(share(wide)), P: rounded(p.P)},
				watch.Finding{Series: id, First: c.present[id][p.First], Last: c.present[id][p.Last]},
			})
		}
	}
	return c.causes(moved), nil
}

// WriteChanges writes causes for a terminal.
func WriteChanges(w io.Writer, causes []Cause) error {
	var b strings.Builder
	p := printer{b: &b}
	if len(causes) == 0 {
		fmt.Fprintln(&b, "no change points")
	}
	for _, c := range causes {
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
