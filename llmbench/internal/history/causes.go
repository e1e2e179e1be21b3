package history

import (
	"cmp"
	"math"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/history/internal/watch"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
)

// causes groups the moves whose ranges of possible first runs overlap into causes.
func (c *checker) causes(all []Move) []Cause {
	slices.SortStableFunc(all, func(a, b Move) int { return cmp.Compare(a.finding.First, b.finding.First) })
	var causes []Cause
	for _, m := range all {
		if n := len(causes); n > 0 && m.finding.First <= causes[n-1].last {
			cause := &causes[n-1]
			cause.Moves = append(cause.Moves, m)
			cause.first, cause.last = max(cause.first, m.finding.First), min(cause.last, m.finding.Last)
		} else {
			causes = append(causes, Cause{Machine: c.machine, shared: common(c.names), Moves: []Move{m}, first: m.finding.First, last: m.finding.Last})
		}
		cause := &causes[len(causes)-1]
		cause.Good, cause.Bad = c.runID(c.before(m.finding, cause.first)), c.runID(cause.last)
	}
	for _, cause := range causes {
		slices.SortStableFunc(cause.Moves, func(a, b Move) int { return cmp.Compare(math.Abs(b.Change), math.Abs(a.Change)) })
	}
	return causes
}

// before returns the newest night before the given night that measured the finding's series.
func (c *checker) before(f watch.Finding, night int) int {
	for n := night - 1; n >= 0; n-- {
		if f.Shared || slices.Contains(c.present[f.Series], n) {
			return n
		}
	}
	return 0
}

// known returns the earlier cause that may be the same change as now, or nil: an earlier run revealed it, and its range
// of possible first runs overlaps the range of now.
func (c *checker) known(night int, now Cause) *Cause {
	for i := range c.found {
		before := &c.found[i]
		if before.found < night && before.first <= now.last && now.first <= before.last {
			return before
		}
	}
	return nil
}

// move converts a finding to the change of its unit.
func (c *checker) move(f watch.Finding) Move {
	m := Move{P: min(1, f.P), Reruns: f.Reruns, finding: f}
	direction := 1.0
	if !f.Shared {
		cell := c.series[f.Series].cell
		m.Series, m.figure = c.named(f.Series), figure{cell.Row, cell.Unit}
		direction = sign(c.rules[cell.Unit])
	}
	m.Change, m.Low, m.High = math.Expm1(direction*f.Size), math.Expm1(direction*f.Low), math.Expm1(direction*f.High)
	if m.Low > m.High {
		m.Low, m.High = m.High, m.Low
	}
	for _, v := range []*float64{&m.Change, &m.Low, &m.High, &m.P} {
		*v = numbers.Rounded(*v, 6)
	}
	return m
}
