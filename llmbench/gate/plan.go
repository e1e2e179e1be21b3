package gate

import "math"

// The share of Alpha that is spent before the end, and when.
const (
	earlyShare = 0.2
	earlyTime  = 0.7
)

// A plan says when a comparison whose samples come round by round may be decided.
//
// Looking again and again at the same Alpha would find a regression sooner or
// later. So Alpha is divided: a fifth is spent once, after seven tenths of the
// rounds, and the rest at the end; the sum bounds the probability of a false
// regression, however the two looks depend on each other (Bonferroni). Where a
// fifth is too little for the samples that there are by then, all is left for the
// end.
type plan struct {
	rounds int     // samples a side at the end; 0: those that there are
	look   int     // after so many there is a look before the end; 0: none
	early  float64 // alpha of that look
	final  float64 // alpha of the end
}

func newPlan(rounds, cells int, alpha float64) plan {
	p := plan{rounds: rounds, final: alpha}
	look := int(math.Ceil(earlyTime * float64(rounds)))
	if look < rounds && enough(look, look, cells, earlyShare*alpha) && enough(rounds, rounds, cells, (1-earlyShare)*alpha) {
		p.look, p.early, p.final = look, earlyShare*alpha, (1-earlyShare)*alpha
	}
	return p
}

// over reports whether n samples a side are all that there will be.
func (p plan) over(n int) bool { return n >= p.rounds }

// alpha is the level at which n samples a side are judged; looks tells whether a
// regression may be found with so many.
func (p plan) alpha(n int) (level float64, looks bool) {
	if !p.over(n) && n == p.look {
		return p.early, true
	}
	return p.final, p.over(n)
}

// decided reports whether c, with n samples a side, cannot become a regression
// any more: not even if all samples to come were in favor of one. Ties are taken
// as halves, as if the exact test knew no others; what little that is off by can
// lose a regression, and make none.
func (p plan) decided(c cell) bool {
	low, high := c.ordered()
	if len(low) > p.rounds || len(high) > p.rounds {
		return false
	}
	u := 0.0
	for _, x := range low {
		for _, y := range high {
			switch {
			case x > y:
				u++
			case x == y:
				u += 0.5
			}
		}
	}
	return u > float64(criticalU(p.rounds, p.rounds, p.final))
}
