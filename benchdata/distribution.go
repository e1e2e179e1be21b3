package benchdata

import (
	"math"
	"math/rand/v2"
)

// A Distribution is a distribution of whole numbers: of lengths in tokens, of counts, or of times in microseconds.
// [ParseLength], [ParseCount] and [ParseTime] make one of a text.
//
// Equal seeds give equal numbers, on every machine. A machine may round the last bit of a probability in another way,
// because its processor adds and multiplies in one step. Therefore a probability counts in steps of 2^-32: the
// number that a draw gives is the smallest one whose cumulative probability, rounded to such steps, exceeds a random
// whole number of 32 bits.
type Distribution struct {
	text  string
	parts []part
}

// A part is a share of a mixture. A distribution that is no mixture has one part.
type part struct {
	share     float64 // from 0 to 1
	low, high int64   // the smallest and the largest number
	// below returns the probability of numbers up to k, from low to high. If it is nil, all numbers are equally likely.
	below func(k int64) float64
}

// upTo returns the probability of numbers up to k.
func (p part) upTo(k int64) float64 {
	switch {
	case k < p.low:
		return 0
	case k >= p.high:
		return 1
	case p.below == nil:
		return float64(k-p.low+1) / float64(p.high-p.low+1)
	}
	return p.below(k)
}

// String returns the distribution in the form in which it is parsed, with each number written in one way.
func (d *Distribution) String() string { return d.text }

// Constant returns the number that all draws give, if there is only one.
func (d *Distribution) Constant() (number int64, constant bool) {
	low, high := d.bounds()
	return low, low == high
}

// Draw returns a random number. It takes one number of 32 bits from random.
func (d *Distribution) Draw(random *rand.Rand) int64 {
	step := uint64(random.Uint32())
	low, high := d.bounds()
	for low < high {
		if middle := low + (high-low)/2; d.steps(middle) > step {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// bounds returns the smallest and the largest number.
func (d *Distribution) bounds() (low, high int64) {
	low, high = math.MaxInt64, 0
	for _, p := range d.parts {
		low, high = min(low, p.low), max(high, p.high)
	}
	return low, high
}

// steps returns the probability of numbers up to k in steps of 2^-32.
func (d *Distribution) steps(k int64) uint64 {
	sum := 0.0
	for _, p := range d.parts {
		sum += float64(p.share * p.upTo(k)) // the conversion keeps the processor from adding in the same step
	}
	return toSteps(sum)
}

// toSteps returns a probability in steps of 2^-32.
func toSteps(probability float64) uint64 { return uint64(math.Round(probability * (1 << 32))) }
