package search

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// ErrCannotJudge reports that the trials of a search contradict each other or do not
// cover a large enough range.
var ErrCannotJudge = errors.New("cannot judge")

// Highest is a search for the highest load that meets a condition. The search has three
// steps. It multiplies the load by four until a load misses the condition; with a Start it goes from there
// in steps that grow. It bisects
// between the last load that met and the first that missed, by geometric means. Then it
// tries both ends of the interval again, so that each end is confirmed by two trials.
type Highest struct {
	// From is the lowest load that is tried, and To the highest. The condition
	// 0 < From < To must hold. The caller chooses the unit of a load.
	From, To float64
	// Tolerance is the maximum width of the interval, as a share of its low end.
	// 0 means 0.05.
	Tolerance float64
	// Start, if not 0, is a guess of the result, between From and To, where the search begins. Its first step up or
	// down is one Tolerance, and each further step is the square of the step before. A good guess saves trials,
	// and a bad one costs some. Start is not for searches with Whole.
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

// An Interval contains the highest load that meets the condition. Low met the condition
// the last two times that it was tried, and High missed it the last two times.
type Interval struct {
	Low, High float64
	Trials    []Trial // in the order in which they were made
}

// raise is the factor between the loads of the first step. With four, a range of 1 to 64
// takes four trials, bisecting to 5 % takes five more, and confirming takes two.
const raise = 4

// Find runs the search. It calls try with a load; try makes one pass and reports whether
// the load met the condition. The passes should be independent of each other. Find ends
// with the error of try, if there is one.
//
// Near its limit, a server may meet a load once and miss it the next time. If an end of
// the interval is not confirmed by its second trial, Find moves that end outwards, to a
// load that gives the expected answer twice in a row: by one width of the interval, then
// by three, then by seven. Then it bisects and confirms once more, so that one disturbed trial does not widen
// the interval. If no such load is found, the answers are not monotone, and
// the error wraps [ErrCannotJudge]. The interval always has the trials, also together
// with an error.
func (h Highest) Find(try func(load float64) (met bool, err error)) (Interval, error) {
	if h.Tolerance == 0 {
		h.Tolerance = 0.05
	}
	if h.Whole {
		h.From, h.To = math.Ceil(h.From), math.Floor(h.To)
	}
	if !(h.From > 0 && h.To > h.From && h.Tolerance > 0) || math.IsInf(h.To+h.Tolerance, 0) {
		return Interval{}, fmt.Errorf("search: from %v to %v within %v; want 0 < from < to, and a tolerance above 0", h.From, h.To, h.Tolerance)
	}
	if h.Start != 0 && (h.Whole || !(h.Start >= h.From && h.Start <= h.To)) {
		return Interval{}, fmt.Errorf("search: a start at %v of a search from %v to %v; want one between them, and no whole numbers", h.Start, h.From, h.To)
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

// bracket returns a load that met the condition and a higher load that missed it.
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
	if s.Whole { // the highest load that may meet is high-1
		high--
	}
	return high <= low*(1+s.Tolerance)
}

// bisect narrows the interval.
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

// confirm tries both ends again, and moves an end that is not confirmed outwards.
func (s *run) confirm(low, high float64) (float64, float64, error) {
	width := high / low
	low, err := s.confirmEnd(low, 1/width, true)
	if err == nil {
		high, err = s.confirmEnd(high, width, false)
	}
	return low, high, err
}

// confirmEnd confirms an end of the interval, whose expected answer is want. It tries the
// end once, because bracket or bisect has tried it before. If the answer differs, it
// tries loads that are one, three and seven widths away, each up to twice.
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

// maxMoves is how often confirmEnd moves an end.
const maxMoves = 3
