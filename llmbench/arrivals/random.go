package arrivals

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Constant arrivals come at even intervals.
type Constant struct {
	Rate float64 // requests per second, above 0
}

// Times returns the schedule of n requests.
func (c Constant) Times(n int) ([]time.Duration, error) {
	return schedule(n, c.Rate, func() float64 { return 1 })
}

// Name returns "constant".
func (Constant) Name() string { return "constant" }

// Parameters returns rate, in requests per second.
func (c Constant) Parameters() map[string]string { return map[string]string{"rate": number(c.Rate)} }

// Poisson arrivals come at exponentially distributed intervals, as requests of
// many independent users do.
type Poisson struct {
	Rate float64 // mean requests per second, above 0
	Seed uint64
}

// Times returns the schedule of n requests.
func (p Poisson) Times(n int) ([]time.Duration, error) {
	return schedule(n, p.Rate, seeded(p.Seed).ExpFloat64)
}

// Name returns "poisson".
func (Poisson) Name() string { return "poisson" }

// Parameters returns rate, in requests per second, and seed.
func (p Poisson) Parameters() map[string]string {
	return map[string]string{"rate": number(p.Rate), "seed": whole(p.Seed)}
}

// Gamma arrivals come at gamma distributed intervals. They are burstier than Poisson arrivals if Shape is
// below 1, more even if Shape is above 1, and Poisson arrivals if Shape is 1.
type Gamma struct {
	Rate  float64 // mean requests per second, above 0
	Shape float64 // above 0; vLLM calls it burstiness
	Seed  uint64
}

// Times returns the schedule of n requests.
func (g Gamma) Times(n int) ([]time.Duration, error) {
	if !(g.Shape > 0) || math.IsInf(g.Shape, 0) {
		return nil, fmt.Errorf("gamma arrivals: shape %v: want above 0", g.Shape)
	}
	r := seeded(g.Seed)
	return schedule(n, g.Rate, func() float64 { return gamma(r, g.Shape) })
}

// Name returns "gamma".
func (Gamma) Name() string { return "gamma" }

// Parameters returns rate, in requests per second, shape and seed.
func (g Gamma) Parameters() map[string]string {
	return map[string]string{"rate": number(g.Rate), "shape": number(g.Shape), "seed": whole(g.Seed)}
}

// seeded returns a source of random numbers for a seed. The constant makes these numbers differ from other
// numbers that the benchmark draws with the same seed, for example for prompts.
func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x6c6c6d62656e6368)) }

// schedule turns n-1 intervals, of any scale, into n instants. The first instant is 0, and the others are
// scaled so that the mean rate is exactly rate. Two seeds therefore give loads with the same rate, which
// differ only in the intervals.
func schedule(n int, rate float64, interval func() float64) ([]time.Duration, error) {
	if !(rate > 0) || math.IsInf(rate, 0) {
		return nil, fmt.Errorf("arrivals: rate %v requests per second: want above 0", rate)
	}
	if n < 1 {
		return nil, fmt.Errorf("arrivals: %d requests: want at least 1", n)
	}
	sums := make([]float64, n)
	for i := 1; i < n; i++ {
		sums[i] = sums[i-1] + interval()
	}
	total := sums[n-1]
	if n > 1 && !(total > 0) {
		return nil, errors.New("arrivals: all intervals are rounded to 0: want a gamma shape nearer to 1")
	}
	span := float64(n-1) / rate * float64(time.Second)
	if span > math.MaxInt64/2 {
		return nil, fmt.Errorf("arrivals: %d requests at %v per second take longer than a duration can hold", n, rate)
	}
	times := make([]time.Duration, n)
	for i := 1; i < n; i++ {
		times[i] = time.Duration(math.Round(sums[i] / total * span))
	}
	return times, nil
}

// gamma draws from the gamma distribution with the given shape and scale 1, by the method of Marsaglia and
// Tsang, "A Simple Method for Generating Gamma Variables" (ACM TOMS 26, 2000). A library might change its
// method. With this function, a seed always gives the same schedule.
func gamma(r *rand.Rand, shape float64) float64 {
	if shape < 1 { // section 6 of the paper
		return gamma(r, shape+1) * math.Pow(1-r.Float64(), 1/shape)
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-r.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}
