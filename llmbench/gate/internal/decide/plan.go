package decide

import (
	"math"
	"slices"
)

// A Plan says after which rounds a comparison may find a regression, if its samples are added round by
// round. Such a number of rounds is called a look.
//
// Testing after each round at the full alpha would raise too many false alarms. Alpha is therefore divided
// among a few looks, each of which has its own test. The sum of the parts limits the probability of a false
// alarm, however the tests depend on each other (Bonferroni). Every look but the last gets a fifth of
// alpha, or less if there are more than five looks; the last look gets the rest.
type Plan struct {
	Rounds int    // samples per side at the end; 0 means that no more samples will come
	Looks  []Look // in order; the last one is at the end
}

// A Look is a number of samples per side after which a regression may be found, and the level of the test
// there.
type Look struct {
	Samples int
	Alpha   float64
}

// The first look is after firstLook times the planned rounds. Beyond the planned rounds, each look is after
// nextLook times the rounds of the previous look, as long as at least a fifth of all rounds remains.
const (
	firstLook = 0.8
	nextLook  = 1.4
)

// NewPlan returns the plan for the planned number of rounds, which may be extended to most rounds. A look
// is omitted if its part of alpha is too small for its number of samples.
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

// Complete reports whether no samples are added after n samples per side.
func (p Plan) Complete(n int) bool { return n >= p.Rounds }

// Level returns the level of the test after n samples per side, and whether n is a look. If n is not a
// look, the last look's level is used.
func (p Plan) Level(n int) (alpha float64, looks bool) {
	for _, l := range p.Looks {
		if l.Samples == n {
			return l.Alpha, true
		}
	}
	return p.Final(), p.Complete(n)
}

// decided reports whether a cell of pairs, with n samples per side, can no longer become a regression,
// however bad new is in further rounds.
func (p Plan) decided(c Cell, n int) bool {
	if c.alone() { // further counts and samples are unrestricted
		return false
	}
	if c.Marks && !slices.Equal(c.Old, c.New) { // a look tells whether new is better
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
