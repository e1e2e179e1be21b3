package search

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// ErrCannotJudge is what the errors of searches wrap whose trials contradict each
// other, or do not reach far enough.
var ErrCannotJudge = errors.New("cannot judge")

// Highest is a search for the highest load that meets a condition. The load is
// raised fourfold until it misses, then bisected between the last that met and the
// first that missed, by geometric means, and both ends of the interval are tried
// once more: each end of the answer did twice what it should.
type Highest struct {
	// From is the lowest load that is tried, above 0, and To the highest, above
	// From.
	From, To float64
	// Tolerance is by how much more than the low end of the interval the highest
	// load that meets may be, as a share of it; 0 means 0.05.
	Tolerance float64
	// Whole takes whole numbers only.
	Whole bool
}

// A Trial is one pass of a search.
type Trial struct {
	Load float64
	Met  bool
}

// String returns the trial like "3.5 met".
func (t Trial) String() string {
	if t.Met {
		return fmt.Sprintf("%.4g met", t.Load)
	}
	return fmt.Sprintf("%.4g missed", t.Load)
}

// An Interval is where the highest load lies that meets the condition: Low met it
// the last two times that it was tried, and High missed it the last two.
type Interval struct {
	Low, High float64
	Trials    []Trial // in their order
}

// raise is by how much the load is raised until it misses. With four, a range of
// 64 takes four trials, and an interval of 5 % five more: eleven with the two that
// confirm it.
const raise = 4

// Find searches with try, which makes one pass at a load, as unlike all others as
// its caller can make it, and says whether that met the condition. An error of try
// ends the search.
//
// If an end of the interval does not do again what it did, as happens near the
// limit of a server that is not always the same, it is moved outwards to a load that
// does, twice in a row: by one width of the interval, then three, then seven. If none
// does, the answers are not monotone, and the error says so. The interval has the trials
// whatever the error is.
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
	s := &state{Highest: h, try: try}
	low, high, err := s.bracket()
	if err == nil {
		low, high, err = s.bisect(low, high)
	}
	if err == nil {
		low, high, err = s.confirm(low, high)
	}
	if err != nil {
		return Interval{Trials: s.trials}, err
	}
	return Interval{low, high, s.trials}, nil
}

// A state is a search under way.
type state struct {
	Highest
	try    func(float64) (bool, error)
	trials []Trial
}

func (s *state) met(load float64) (bool, error) {
	met, err := s.try(load)
	if err == nil {
		s.trials = append(s.trials, Trial{load, met})
	}
	return met, err
}

// cannot is why the search cannot judge, with what it saw.
func (s *state) cannot(format string, args ...any) error {
	var all []string
	for _, t := range s.trials {
		all = append(all, t.String())
	}
	return fmt.Errorf("%w: %s (%s)", ErrCannotJudge, fmt.Sprintf(format, args...), strings.Join(all, ", "))
}

// bracket returns a load that met, and a higher one that missed.
func (s *state) bracket() (low, high float64, err error) {
	for load := s.From; ; load = min(raise*load, s.To) {
		met, err := s.met(load)
		switch {
		case err != nil:
			return 0, 0, err
		case !met && low == 0:
			return 0, 0, s.cannot("the lowest load, %.4g, misses", load)
		case !met:
			return low, load, nil
		case load >= s.To:
			return 0, 0, s.cannot("the highest load, %.4g, still meets", load)
		}
		low = load
	}
}

// near reports whether the interval is small enough.
func (s *state) near(low, high float64) bool {
	if s.Whole { // then it is high-1 that may meet
		high--
	}
	return high <= low*(1+s.Tolerance)
}

// bisect makes the interval small enough.
func (s *state) bisect(low, high float64) (float64, float64, error) {
	for !s.near(low, high) {
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

// confirm tries both ends again, and moves one that does not hold outwards until
// it does.
func (s *state) confirm(low, high float64) (float64, float64, error) {
	width := high / low
	low, err := s.end(low, 1/width, true)
	if err == nil {
		high, err = s.end(high, width, false)
	}
	return low, high, err
}

// end tries an end of the interval, at which the condition should be met or not,
// once, as it was tried before, and then loads one, three and seven widths from it,
// each twice.
func (s *state) end(load, step float64, should bool) (float64, error) {
	for n := 0; ; n++ {
		met, err := s.met(load)
		if err == nil && met == should && n > 0 {
			met, err = s.met(load)
		}
		if err != nil || met == should {
			return load, err
		}
		next := load * step
		if s.Whole && should {
			next = min(math.Floor(next), load-1)
		} else if s.Whole {
			next = max(math.Ceil(next), load+1)
		}
		if n == gives || next < s.From || next > s.To {
			return 0, s.cannot("not monotone: nor does %.4g do what it should", load)
		}
		load, step = next, step*step
	}
}

// gives is how often an end gives way.
const gives = 3
