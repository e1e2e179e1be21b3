package arrivals

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Stages are arrivals whose rate changes with time. The stages follow one another. Within a stage the rate
// is constant, or it rises or falls.
//
// The instants come from a process of rate 1 on a transformed time scale. The transformed time is the
// integral of the rate, which is the expected number of requests so far (Çinlar, "Introduction to
// Stochastic Processes", 1975, section 4.7). The number of requests therefore depends on the rates alone.
// The seed only changes the intervals.
type Stages struct {
	Stages []Stage
	// Shape is the shape parameter of the gamma distribution from which the intervals on the transformed time
	// scale are drawn. 0 means 1, which is a Poisson process. +Inf makes the intervals even.
	Shape float64
	Seed  uint64
}

// A Stage is a part of [Stages], or of [Users], where its rates are numbers of users.
type Stage struct {
	For  time.Duration // duration of the stage, above 0
	Rate float64       // requests per second at the beginning; 0 is a pause, or the start of a linear ramp
	Ramp Ramp          // how the rate changes during the stage
	To   float64       // requests per second at the end of the stage, if it is a ramp
}

// A Ramp is the way in which a rate changes during a stage.
type Ramp string

// The ramps.
const (
	Flat        Ramp = ""            // the rate is constant
	Linear      Ramp = "linear"      // changes by the same difference each second
	Exponential Ramp = "exponential" // changes by the same factor each second; neither rate may be 0
)

// maxStaged is the maximum number of requests in all stages together.
const maxStaged = 1e9

// Requests returns the number of requests in all stages together. It returns an error if a stage is
// invalid.
func (s Stages) Requests() (int, error) {
	total, length := 0.0, 0.0
	for i, g := range s.Stages {
		if err := g.check(); err != nil {
			return 0, fmt.Errorf("stage %d: %w", i+1, err)
		}
		total += g.requests()
		length += float64(g.For)
	}
	switch {
	case len(s.Stages) == 0:
		return 0, errors.New("stages: none: want at least one")
	case !(s.Stages[len(s.Stages)-1].requests() > 0):
		return 0, errors.New("stages: the last one has no request: want a rate above 0")
	case length > math.MaxInt64/2:
		return 0, fmt.Errorf("stages: %.4g s in total: want at most %.4g s", length/1e9, math.MaxInt64/2/1e9)
	case total > maxStaged:
		return 0, fmt.Errorf("stages: %.4g requests: want at most %g", total, maxStaged)
	}
	return max(1, int(math.Ceil(total-roundedRequests))), nil
}

// roundedRequests is the largest rounding error of the sum of the stages' requests.
const roundedRequests = 1e-6

// MeanRate returns the mean rate over all stages, in requests per second: the number of requests divided by
// the total duration.
func (s Stages) MeanRate() float64 {
	requests, seconds := 0.0, 0.0
	for _, g := range s.Stages {
		requests += g.requests()
		seconds += g.For.Seconds()
	}
	return requests / seconds
}

// Times returns the schedule of the first n requests. It returns an error if n is more than
// [Stages.Requests].
func (s Stages) Times(n int) ([]time.Duration, error) {
	all, err := s.Requests()
	if err != nil {
		return nil, err
	}
	if n > all {
		return nil, fmt.Errorf("stages: %d requests: want at most %d", n, all)
	}
	var clock Process = Poisson{Rate: 1, Seed: s.Seed}
	switch {
	case math.IsInf(s.Shape, 1):
		clock = Constant{Rate: 1}
	case s.Shape != 0 && s.Shape != 1:
		clock = Gamma{Rate: 1, Shape: s.Shape, Seed: s.Seed}
	}
	times, err := clock.Times(n)
	if err != nil {
		return nil, fmt.Errorf("stages: %w", err)
	}
	// The index of the stage of the current request, the time at which the stage begins, and the number of
	// requests in the stages before it.
	stage, begin, before := 0, time.Duration(0), 0.0
	for i, at := range times {
		for stage < len(s.Stages)-1 && at.Seconds() >= before+s.Stages[stage].requests()-roundedRequests {
			before += s.Stages[stage].requests()
			begin += s.Stages[stage].For
			stage++
		}
		g := s.Stages[stage]
		within := time.Duration(math.Round(g.when(max(0, at.Seconds()-before)) * float64(time.Second)))
		times[i] = begin + min(within, g.For)
	}
	return times, nil
}

// Name returns "stages".
func (Stages) Name() string { return "stages" }

// Parameters returns stages (in the form that [ParseStages] reads), shape (1 if s.Shape is 0) and seed.
func (s Stages) Parameters() map[string]string {
	return map[string]string{"stages": textOf(s.Stages), "shape": number(cmp.Or(s.Shape, 1)), "seed": whole(s.Seed)}
}

// CheckCount returns an error unless the first n requests reach the last stage. Without this check, a pass
// of fewer requests would silently omit whole stages.
func (s Stages) CheckCount(n int) error {
	all, err := s.Requests()
	if err != nil {
		return err
	}
	before := 0.0
	for _, g := range s.Stages[:len(s.Stages)-1] {
		before += g.requests()
	}
	if float64(n-1) < before-roundedRequests {
		return fmt.Errorf("stages: %d requests end before the last of %d stages: want %d to %d", n, len(s.Stages), 1+int(math.Ceil(before-roundedRequests)), all)
	}
	return nil
}

// check returns an error if the stage is invalid.
func (g Stage) check() error {
	rate := func(r float64) bool { return r >= 0 && !math.IsInf(r, 0) }
	switch {
	case g.For <= 0:
		return fmt.Errorf("for %v: want above 0", g.For)
	case !rate(g.Rate) || !rate(g.To):
		return fmt.Errorf("rate %v to %v requests per second: want at least 0", g.Rate, g.To)
	case g.Ramp != Flat && g.Ramp != Linear && g.Ramp != Exponential:
		return fmt.Errorf("ramp %q: want %q, %q or nothing", g.Ramp, Linear, Exponential)
	case g.Ramp == Flat && g.To != 0 && g.To != g.Rate:
		return fmt.Errorf("rate %v to %v without a ramp: want %q or %q", g.Rate, g.To, Linear, Exponential)
	case g.Ramp == Exponential && (g.Rate == 0 || g.To == 0):
		return fmt.Errorf("exponential ramp from rate %v to %v: want both above 0", g.Rate, g.To)
	}
	return nil
}

// textOf returns stages in the form that [ParseStages] reads.
func textOf(stages []Stage) string {
	parts := make([]string, len(stages))
	for i, g := range stages {
		parts[i] = g.String()
	}
	return strings.Join(parts, ",")
}

// String returns g in the form that [ParseStages] reads.
func (g Stage) String() string {
	switch g.Ramp {
	case Linear:
		return fmt.Sprintf("%v..%v:%v", g.Rate, g.To, g.For)
	case Exponential:
		return fmt.Sprintf("%v..%v:%v:exp", g.Rate, g.To, g.For)
	}
	return fmt.Sprintf("%v:%v", g.Rate, g.For)
}

// growth returns the natural logarithm of the factor by which the rate of an exponential
// ramp changes each second.
func (g Stage) growth() float64 { return math.Log(g.To/g.Rate) / g.For.Seconds() }

// requests returns the integral of the rate over the stage.
func (g Stage) requests() float64 {
	t := g.For.Seconds()
	switch {
	case g.Ramp == Linear:
		return (g.Rate + g.To) / 2 * t
	case g.Ramp == Exponential && g.To != g.Rate:
		return (g.To - g.Rate) / g.growth()
	}
	return g.Rate * t
}

// when returns the time at which the integral of the rate reaches n requests, in seconds since the
// beginning of the stage. The stage must have at least n requests.
func (g Stage) when(n float64) float64 {
	switch {
	case n == 0:
		return 0
	case g.Ramp == Linear:
		// This solves Rate t + (To-Rate)/(2 For) t^2 = n. The form avoids the difference of two nearly
		// equal numbers, which would lose precision.
		return 2 * n / (g.Rate + math.Sqrt(max(0, g.Rate*g.Rate+2*n*(g.To-g.Rate)/g.For.Seconds())))
	case g.Ramp == Exponential && g.To != g.Rate:
		k := g.growth()
		return math.Log1p(n*k/g.Rate) / k
	}
	return n / g.Rate
}

// ParseStages reads stages in the form "10:1m,10..50:2m,50..5:1m:exp". Each stage is RATE:TIME with a
// constant rate, FROM..TO:TIME with a linear ramp, or FROM..TO:TIME:exp with an exponential ramp. Rates are
// in requests per second. A TIME is in the form of [time.ParseDuration].
func ParseStages(text string) ([]Stage, error) {
	all, err := parseStages(text)
	if err == nil {
		_, err = Stages{Stages: all}.Requests()
	}
	return all, err
}

// parseStages reads stages without checking their values.
func parseStages(text string) (all []Stage, err error) {
	for part := range strings.SplitSeq(text, ",") {
		g, err := parseStage(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("stage %q: %w", part, err)
		}
		all = append(all, g)
	}
	return all, nil
}

// parseStage reads one stage.
func parseStage(text string) (g Stage, err error) {
	rates, length, ok := strings.Cut(text, ":")
	if !ok {
		return g, errors.New("want NUMBER:TIME or FROM..TO:TIME")
	}
	from, to, ramp := strings.Cut(rates, "..")
	length, exp := strings.CutSuffix(length, ":exp")
	switch {
	case ramp && exp:
		g.Ramp = Exponential
	case ramp:
		g.Ramp = Linear
	case exp:
		return g, errors.New("exp without a ramp like 10..50")
	}
	if g.Rate, err = strconv.ParseFloat(from, 64); err != nil {
		return g, err
	}
	if ramp {
		if g.To, err = strconv.ParseFloat(to, 64); err != nil {
			return g, err
		}
	}
	g.For, err = time.ParseDuration(length)
	return g, err
}
