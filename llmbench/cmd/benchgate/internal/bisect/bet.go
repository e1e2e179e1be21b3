package bisect

import "math"

// A bet tests, after each pair, whether a commit is worse than its predecessor by more than the margin. The
// package comment describes it.
type bet struct {
	alpha  float64 // the probability of a false result
	wealth float64 // as a logarithm
	won    bool    // the wealth has been 1/alpha once
}

// most is the largest stake. It is less than 1 so that one disturbed pair cannot end the bet.
const most = 0.8

// add adds a pair that is worse than the margin by beyond. zeal says how the stake grows with |beyond|; it must
// not depend on this bet's pairs.
func (b *bet) add(beyond, zeal float64) {
	b.wealth += growth(beyond, zeal)
	b.won = b.won || b.wealth >= b.needed()
}

// needed returns the wealth, as a logarithm, at which the bet is won.
func (b *bet) needed() float64 { return -math.Log(b.alpha) }

// growth returns the logarithm of the wealth after a pair divided by the wealth before it. The stake is
// tanh(zeal*|beyond|), at most most. If the noise is normal, the wealth is a likelihood ratio of the signs: how much
// better they agree with a commit that is worse than the margin than with a commit that is exactly at the margin.
func growth(beyond, zeal float64) float64 {
	stake := min(most, math.Tanh(zeal*math.Abs(beyond)))
	switch {
	case beyond > 0:
		return math.Log1p(stake)
	case beyond < 0:
		return math.Log1p(-stake)
	}
	return 0
}
