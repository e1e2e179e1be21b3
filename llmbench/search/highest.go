package search

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"
)

// ErrCannotJudge reports that the trials of a search contradict each other or do not
// cover a large enough range.
var ErrCannotJudge = errors.New("cannot judge")

// Highest is a search for the highest load that meets a condition. The search has three steps:
//
//  1. It finds a load that meets the condition and a higher load that misses it. Without Start, it
//     begins at From and multiplies the load by four until a load misses the condition. With Start,
//     it begins at Start and goes up or down in steps that grow.
//  2. It bisects between these two loads, by geometric means, until the interval is narrow enough.
//  3. It tries both ends of the interval again, so that two trials confirm each end.
type Highest struct {
	// From is the lowest load that is tried, and To is the highest. 0 < From < To must hold. The caller
	// chooses the unit of a load.
	From, To float64
	// Tolerance is the maximum width of the interval, relative to its low end. 0 means 0.05, which is 5 %.
	Tolerance float64
	// Start, if not 0, is a guess of the result. The search begins there, and Start must be between From
	// and To. The first step up or down multiplies or divides the load by 1+Tolerance. Each further step
	// squares the factor, up to a factor of four. A good guess saves trials, and a bad guess costs some.
	// Start must be 0 if Whole is set.
	Start float64
	// Whole restricts the loads to whole numbers.
	Whole bool
}

// A Trial is one pass of a search.
type Trial struct {
	Load float64
	Met  bool // the load met the condition
}

// String returns the trial in a form like "3.5 met" or "4 missed".
func (t Trial) String() string {
	if t.Met {
		return fmt.Sprintf("%.4g met", t.Load)
	}
	return fmt.Sprintf("%.4g missed", t.Load)
}

// An Interval contains the highest load that meets the condition. Low met the condition, and High missed
// it, the last two times that each was tried.
type Interval struct {
	Low, High float64
	Trials    []Trial // in the order in which they were made
}

// raise is the factor between the loads of the first step. With a factor of four, a range of 1 to 64 takes
// four trials, bisecting to 5 % takes five more, and confirming takes two.
const raise = 4

// Find runs the search. It calls try with a load; try makes one pass and reports whether the load met the
// condition. The passes should be independent of each other. If try returns an error, Find stops and
// returns that error.
//
// Near its limit, a server may meet the condition at a load once and miss it the next time. If the second
// trial of an end of the interval contradicts the first, Find moves that end outwards until a load gives
// the expected answer twice in a row: by one width of the interval, then to three widths, then to seven.
// Find then bisects and confirms once more, so that one disturbed trial does not widen the interval. If
// Find finds no such load, the answers are not monotone, and the error wraps [ErrCannotJudge]. The interval
// has the trials that were made, even if Find returns an error.
func (h Highest) Find(try func(load float64) (met bool, err error)) (Interval, error) {
	h.Tolerance = cmp.Or(h.Tolerance, 0.05)
	if h.Whole {
		h.From, h.To = math.Ceil(h.From), math.Floor(h.To)
	}
	if !(h.From > 0 && h.To > h.From && h.Tolerance > 0) || math.IsInf(h.To+h.Tolerance, 0) {
		return Interval{}, fmt.Errorf("search: from %v to %v within %v: want 0 < from < to, and a tolerance above 0", h.From, h.To, h.Tolerance)
	}
	if h.Start != 0 && (h.Whole || !(h.Start >= h.From && h.Start <= h.To)) {
		return Interval{}, fmt.Errorf("search: a start at %v of a search from %v to %v: want one between them, and no whole numbers", h.Start, h.From, h.To)
	}
	s := &run{Highest: h, try: try}
	low, high, err := s.bracket()
	for round := 0; err == nil && (round == 0 || round == 1 && !s.narrow(low, high)); round++ {
		if low, high, err = s.bisect(low, high); err == nil {
			low, high, err = s.confirm(low, high)
		}
	}
	if err != nil {
		return Interval{Trials: s.trials}, err
	}
	return Interval{low, high, s.trials}, nil
}

// A run is the state of one search.
type run struct {
	Highest
	try    func(float64) (bool, error)
	trials []Trial
}

// met makes a trial.
func (s *run) met(load float64) (bool, error) {
	met, err := s.try(load)
	if err == nil {
		s.trials = append(s.trials, Trial{load, met})
	}
	return met, err
}

// cannotJudge returns an error with the trials.
func (s *run) cannotJudge(format string, args ...any) error {
	var all []string
	for _, t := range s.trials {
		all = append(all, t.String())
	}
	return fmt.Errorf("%w: %s (%s)", ErrCannotJudge, fmt.Sprintf(format, args...), strings.Join(all, ", "))
}

// bracket returns two loads that were tried: low met the condition, and high, which is higher, missed it.
func (s *run) bracket() (low, high float64, err error) {
	load, factor := s.From, float64(raise)
	if s.Start != 0 {
		load, factor = s.Start, 1+s.Tolerance
	}
	for {
		met, err := s.met(load)
		switch {
		case err != nil:
			return 0, 0, err
		case met:
			low = load
		default:
			high = load
		}
		switch {
		case low > 0 && high > 0:
			return low, high, nil
		case met && load >= s.To:
			return 0, 0, s.cannotJudge("the highest load, %.4g, still meets", load)
		case met:
			load = min(load*factor, s.To)
		case load <= s.From:
			return 0, 0, s.cannotJudge("the lowest load, %.4g, misses", load)
		default:
			load = max(load/factor, s.From)
		}
		factor = min(factor*factor, raise)
	}
}

// narrow reports whether the interval is within the tolerance.
func (s *run) narrow(low, high float64) bool {
	if s.Whole { // if high missed, the highest load that may meet is high-1
		high--
	}
	return high <= low*(1+s.Tolerance)
}

// bisect repeatedly halves the interval, on a logarithmic scale, until its width is within the tolerance.
func (s *run) bisect(low, high float64) (float64, float64, error) {
	for !s.narrow(low, high) {
		mid := math.Sqrt(low * high)
		if s.Whole {
			mid = min(max(math.Round(mid), low+1), high-1)
		}
		met, err := s.met(mid)
		if err != nil {
			return 0, 0, err
		}
		if met {
			low = mid
		} else {
			high = mid
		}
	}
	return low, high, nil
}

// confirm tries both ends again. It moves an end outwards if the end is not confirmed.
func (s *run) confirm(low, high float64) (float64, float64, error) {
	width := high / low
	low, err := s.confirmEnd(low, 1/width, true)
	if err == nil {
		high, err = s.confirmEnd(high, width, false)
	}
	return low, high, err
}

// confirmEnd confirms one end of the interval. The expected answer at this end is want. The end itself
// needs one trial, because bracket or bisect has already tried it. If the answer is not want, confirmEnd
// tries loads that are one, three and seven widths of the interval away. Each of them must give the answer
// want twice.
func (s *run) confirmEnd(load, step float64, want bool) (float64, error) {
	for n := 0; ; n++ {
		met, err := s.met(load)
		if err == nil && met == want && n > 0 {
			met, err = s.met(load)
		}
		if err != nil || met == want {
			return load, err
		}
		next := load * step
		if s.Whole && want {
			next = min(math.Floor(next), load-1)
		} else if s.Whole {
			next = max(math.Ceil(next), load+1)
		}
		if n == maxMoves || next < s.From || next > s.To {
			return 0, s.cannotJudge("not monotone: %.4g contradicts an earlier trial", load)
		}
		load, step = next, step*step
	}
}

// maxMoves is how many times confirmEnd moves an end before it gives up.
const maxMoves = 3
