package gate

import "math"

// The interim look spends earlyShare of Alpha, after earlyTime of the rounds.
const (
	earlyShare = 0.2
	earlyTime  = 0.7
)

// A plan states after which rounds a comparison may find a regression, if its samples
// are added round by round.
//
// Testing after each round at the full Alpha would raise too many false alarms. So
// Alpha is divided: a fifth is spent at an interim look after seven tenths of the
// rounds, and the rest at the end. The sum limits the probability of a false alarm,
// however the two tests depend on each other (Bonferroni). There is no interim look
// if a fifth of Alpha is too little for the number of samples at that time.
type plan struct {
	rounds int     // samples a side at the end; 0: no more samples will come
	look   int     // samples a side at the interim look; 0: no interim look
	early  float64 // alpha of the interim look
	final  float64 // alpha of the test at the end
}

func newPlan(rounds, cells int, alpha float64) plan {
	p := plan{rounds: rounds, final: alpha}
	look := int(math.Ceil(earlyTime * float64(rounds)))
	if look < rounds && enough(look, look, cells, earlyShare*alpha) && enough(rounds, rounds, cells, (1-earlyShare)*alpha) {
		p.look, p.early, p.final = look, earlyShare*alpha, (1-earlyShare)*alpha
	}
	return p
}

// complete reports whether no samples come after n samples a side.
func (p plan) complete(n int) bool { return n >= p.rounds }

// alpha returns the level of the test of n samples a side, and whether a regression
// may be found after n samples.
func (p plan) alpha(n int) (level float64, looks bool) {
	if !p.complete(n) && n == p.look {
		return p.early, true
	}
	return p.final, p.complete(n)
}

// decided reports whether c can no longer become a regression, even if all further
// samples are worse. A tie counts as one half. With ties, the exact test can differ
// slightly from this count, which can miss a regression but cannot cause one.
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
