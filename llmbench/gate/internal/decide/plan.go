package decide

import "math"

// A Plan states after which rounds a comparison may find a regression, if its samples
// are added round by round.
//
// Testing after each round at the full alpha would raise too many false alarms. So alpha is
// divided among a few looks, and each is a test of its own. The sum of their parts limits
// the probability of a false alarm, however the tests depend on each other (Bonferroni).
// Every look but the last gets a fifth of alpha, or less if there are more than five, and
// the last one gets the rest.
type Plan struct {
	Rounds int    // samples a side at the end; 0: no more samples will come
	Looks  []Look // in order; the last one is at the end
}

// A Look is a number of samples a side after which a regression may be found, and the
// level of its test.
type Look struct {
	Samples int
	Alpha   float64
}

// The first look is after firstLook of the planned rounds. Beyond the planned rounds,
// each look is after nextLook times the rounds of the look before, as long as a fifth of
// all rounds is left.
const (
	firstLook = 0.8
	nextLook  = 1.4
)

// NewPlan returns the plan for a number of planned rounds that may be extended to most. A
// look is left out if its part of alpha is too little for the number of samples.
func NewPlan(planned, most int, alpha float64) Plan {
	p := Plan{Rounds: max(planned, most)}
	var times []int
	if first := int(math.Ceil(firstLook*float64(planned) - 1e-9)); first < planned {
		times = append(times, first)
	}
	if planned < p.Rounds {
		times = append(times, planned)
	}
	next := func(n int) int { return int(math.Ceil(nextLook*float64(n) - 1e-9)) }
	for n := next(planned); planned > 0 && float64(n) <= firstLook*float64(p.Rounds); n = next(n) {
		times = append(times, n)
	}
	part := alpha / float64(max(5, len(times)+1))
	left := alpha
	for _, n := range times {
		if Enough(n, part) {
			p.Looks = append(p.Looks, Look{n, part})
			left -= part
		}
	}
	p.Looks = append(p.Looks, Look{p.Rounds, left})
	return p
}

// Final returns the level of the last look.
func (p Plan) Final() float64 { return p.Looks[len(p.Looks)-1].Alpha }

// Complete reports whether no samples come after n samples a side.
func (p Plan) Complete(n int) bool { return n >= p.Rounds }

// Level returns the level of the test of n samples a side, and whether this is a look. It
// returns the level of the last look if it is not.
func (p Plan) Level(n int) (alpha float64, looks bool) {
	for _, l := range p.Looks {
		if l.Samples == n {
			return l.Alpha, true
		}
	}
	return p.Final(), p.Complete(n)
}

// decided reports whether a cell of pairs can no longer become a regression, however much
// worse new is in further rounds. The cell has n samples a side.
func (p Plan) decided(c Cell, n int) bool {
	if c.Trials != nil { // further counts may be anything
		return false
	}
	for _, l := range p.Looks {
		if l.Samples <= n {
			continue
		}
		plain, steady := c.settled()
		if AtMost(min(leastWorse(plain, l.Samples), leastWorse(steady, l.Samples)), l.Alpha) {
			return false
		}
	}
	return true
}
