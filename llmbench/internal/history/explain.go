package history

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/history/internal/watch"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/robust"
)

func newReport(run *Run, o CheckOptions) *Report {
	return &Report{Run: run.Name, Commit: run.Commit, Time: run.Time.UTC(), Machine: run.Machine, Server: run.Server, Nights: o.Nights, Min: o.Min, place: o.Place}
}

// explain adds the night's findings to the night's report.
func (c *checker) explain(night int, result watch.Result) {
	r := c.report
	var worse, better []Move
	for _, f := range result.Findings {
		m := c.move(f)
		switch {
		case f.Kind == watch.Worse:
			worse = append(worse, m)
		case f.Kind == watch.Better:
			better = append(better, m)
		case f.Kind == watch.Suspect:
			r.Suspects = append(r.Suspects, m)
		case f.Kind == watch.SlowOnce:
			r.SlowOnce = &m
		case f.Shared:
			r.Recovered = &m
		default:
			r.Cleared = append(r.Cleared, m)
		}
	}
	r.Improved = c.causes(better)
	for _, cause := range c.causes(worse) {
		if known := c.known(night, cause); known != nil {
			known.Moves = append(known.Moves, cause.Moves...)
			continue
		}
		cause.found = night
		c.found = append(c.found, cause)
	}
}

// finish completes the report on the last night, after explain.
func (c *checker) finish(night int, result watch.Result) {
	r := c.report
	r.LeftOut = slices.Concat(c.lost, r.LeftOut)
	for _, run := range c.ahead {
		if text := fmt.Sprintf("run %s, which is in the future, as its commit is: judge it with -run, or remove it with history prune -f", run.Name); run.Accepted || c.options.Run != "" {
			r.LeftOut = append(r.LeftOut, text)
		} else {
			r.Unsound = append(r.Unsound, text)
		}
	}
	for _, cause := range c.found {
		if cause.last <= c.accepted() {
			continue
		}
		if cause.found == night {
			r.Causes = append(r.Causes, cause)
		} else if cause.Moves = c.open(cause, night); len(cause.Moves) > 0 {
			r.Known = append(r.Known, cause)
		}
	}
	moved := map[int]bool{}
	for _, f := range result.Findings {
		if !f.Shared {
			moved[f.Series] = true
		}
	}
	var atOnce, inSeven []float64
	for _, id := range result.Judged {
		if !moved[id] {
			r.Same = append(r.Same, c.named(id))
			a, b := c.watch.Detectable(id)
			atOnce, inSeven = append(atOnce, a), append(inSeven, b)
		}
	}
	if len(r.Same) > 0 {
		r.AtOnce, r.Detectable = numbers.Rounded(math.Expm1(robust.Median(atOnce)), 6), numbers.Rounded(math.Expm1(robust.Median(inSeven)), 6)
	}
	if r.SlowOnce != nil && r.SlowOnce.Reruns > 0 || result.Slow && len(r.Suspects) > 0 {
		r.Controls = c.controls(result.Judged, moved)
	}
	for _, id := range result.Young {
		r.Young = append(r.Young, c.named(id))
	}
	c.compareConfigurations(night)
	r.Missing = c.missing(night)
	c.withheld(night)
	r.Order = c.order(night)
	c.conclude()
}

// controls returns series to rerun because they have not moved. It takes all series of one benchmark after another,
// until it has watch.Controls or more, and omits benchmarks with a series that has moved. It returns none if it finds
// fewer than watch.Sharers.
func (c *checker) controls(judged []int, moved map[int]bool) (all []Series) {
	restless := map[string]bool{}
	for _, id := range judged {
		if moved[id] {
			restless[c.named(id).pattern] = true
		}
	}
	for _, id := range judged {
		s := c.named(id)
		if restless[s.pattern] {
			continue
		}
		if n := len(all); n >= watch.Controls && s.pattern != all[n-1].pattern {
			break
		}
		all = append(all, s)
	}
	if len(all) < watch.Sharers {
		return nil
	}
	return all
}
