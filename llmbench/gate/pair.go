package gate

import (
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate/internal/decide"
)

// A pair is one benchmark in both files. If a file lacks the benchmark, its side is nil.
type pair struct{ old, new *samples }

// either returns a side that is not nil.
func (p pair) either() *samples {
	if p.old != nil {
		return p.old
	}
	return p.new
}

// A side is what one file has of a pair.
type side struct {
	f *results
	s *samples
}

// has reports whether both sides have values of a unit.
func (p pair) has(unit string) bool {
	return p.old != nil && p.new != nil && len(p.old.values[unit]) > 0 && len(p.new.values[unit]) > 0
}

// complete returns the values of a unit from the rounds in which both sides have a value, and these rounds.
// If they are all rounds, rounds is nil.
func (p pair) complete(unit string) (old, new []float64, rounds []int) {
	for i, round := range p.old.of[unit] {
		for j, other := range p.new.of[unit] {
			if round == other {
				old, new, rounds = append(old, p.old.values[unit][i]), append(new, p.new.values[unit][j]), append(rounds, round)
			}
		}
	}
	if len(rounds) == p.old.n && len(rounds) == p.new.n {
		rounds = nil
	}
	return old, new, rounds
}

// expected returns the number of results that s would have if no process lacked one.
func (s *samples) expected() int { return s.n + s.absent*max(1, s.inRun) }

// absentInMany reports whether too many processes have no result.
func (s *samples) absentInMany() bool { return lacksMany(s.absent, s.runs) }

// missing returns how many values of unit are missing, in results without the unit and in processes without a result.
func (s *samples) missing(unit string) int { return s.expected() - len(s.values[unit]) }

// loses reports whether only the old side of p has values of a unit.
func (p pair) loses(unit string) bool {
	return p.old != nil && p.new != nil && len(p.old.values[unit]) > 0 && len(p.new.values[unit]) == 0
}

// paired reports whether each of the given number of rounds has a result on both sides.
func (p pair) paired(rounds int) bool {
	return p.old != nil && p.new != nil && p.old.n == rounds && p.new.n == rounds
}

// negative reports whether a value of a unit is negative.
func (p pair) negative(unit string) bool {
	return slices.ContainsFunc([]*samples{p.old, p.new}, func(s *samples) bool {
		return s != nil && slices.ContainsFunc(s.values[unit], func(v float64) bool { return v < 0 })
	})
}

// summary returns the summary of a unit. If there are no samples, all values in it are unknown.
func (s *samples) summary(unit string) Summary {
	if s == nil {
		return Summary{}
	}
	all := summarize(s.values[unit])
	if s.missing(unit) > 0 {
		all.Of = s.expected()
	}
	return all
}

// marked returns, for each result, whether it has a value above 0 of the unit.
func (s *samples) marked(unit string) []bool {
	all := make([]bool, s.n)
	for i, result := range s.of[unit] {
		all[result] = s.values[unit][i] > 0
	}
	return all
}

// A gatedRow is a gated row that has not been tested yet.
type gatedRow struct {
	decide.Cell
	pair
	unit  string
	index int // of the row in Report.Rows
}
