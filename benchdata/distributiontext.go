package benchdata

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

// ParseLength parses a distribution of lengths in tokens, from 1 to 134,217,728. These are the forms:
//
//	512                    always 512
//	128..255               the whole numbers from 128 to 255, all equally likely; also uniform(128,255)
//	normal(512,128)        mean and standard deviation in tokens
//	lognormal(512,0.6)     median in tokens, and standard deviation of the natural logarithm. The mean is
//	                       median * exp(sigma^2/2), here 613
//	exponential(512)       mean in tokens
//	gamma(512,2)           mean in tokens, and shape. Shape 1 is exponential; a larger one is more even
//	mix(3*64,1*normal(2048,256))
//	                       several distributions by weight: here 3 of 4 lengths are 64
//
// A range at the end of the parameters truncates a distribution: lognormal(512,0.6,16..8192). Lengths outside of the
// range do not occur, and the others keep their ratios, as if a length were drawn until it is in the range. So no
// length is at an end of the range more often than beside it. Either end may be missing: normal(128,64,..256).
// The range changes the mean. Without a range, lengths are at least 1.
//
// A length k stands for the interval from k-0.5 to k+0.5 of a continuous distribution. README.md has the formulas of the
// cumulative probabilities, which are the methods CDF of [distuv.Normal], [distuv.LogNormal], [distuv.Exponential] and
// [distuv.Gamma] (https://pkg.go.dev/gonum.org/v1/gonum/stat/distuv). In terms of their fields, the median m of a
// lognormal distribution is Mu = ln(m), the mean m of an exponential one is Rate = 1/m, and the mean m of a gamma
// distribution with the shape s is Alpha = s and Beta = s/m.
//
// Errors say what is wrong with the text and what is allowed.
func ParseLength(text string) (*Distribution, error) {
	return parseDistribution(text, quantity{1, mostTokens, leastPlain, fmt.Sprintf("a whole number of tokens from 1 to %d", mostTokens), parseNumber, formatNumber})
}

// ParseCount parses a distribution of counts from 1 to 1,000, such as the turns of conversations, in the forms of
// [ParseLength].
func ParseCount(text string) (*Distribution, error) {
	return parseDistribution(text, quantity{1, mostCount, leastPlain, fmt.Sprintf("a whole number from 1 to %d", mostCount), parseNumber, formatNumber})
}

// ParseTime parses a distribution of times from 0 to 24 hours, in the forms of [ParseLength] with times as in
// [time.ParseDuration]: 1s, 100ms..2s, normal(1s,200ms), lognormal(2s,0.5,..30s), exponential(500ms), gamma(2s,4).
// Its numbers are microseconds.
func ParseTime(text string) (*Distribution, error) {
	return parseDistribution(text, quantity{0, mostTime.Microseconds(), 1, fmt.Sprintf("a time like 500ms from 0s to %v, in whole microseconds", mostTime), parseTime, formatTime})
}

// A quantity is what the numbers of a distribution are.
type quantity struct {
	least, most int64
	smallest    float64 // parameter, such as a mean
	one         string  // what a single number is, for errors
	parse       func(text string) (number float64, ok bool)
	format      func(number float64) string
}

// mostTime is the longest time of a distribution.
const mostTime = 24 * time.Hour

// mostCount is the largest count of a distribution.
const mostCount = 1000

func parseNumber(text string) (float64, bool) {
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil && !math.IsNaN(x) && !math.IsInf(x, 0)
}

func formatNumber(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func parseTime(text string) (float64, bool) {
	d, err := time.ParseDuration(text)
	return float64(d) / float64(time.Microsecond), err == nil
}

func formatTime(x float64) string { return time.Duration(x * float64(time.Microsecond)).String() }

// A continuous distribution has parameters, of which the first is a quantity.
type continuous struct {
	name string
	// parameters are the names of the parameters. A parameter that begins with a capital is a quantity, and any other one
	// a plain number.
	parameters []string
	cdf        func(p []float64) func(x float64) float64
}

// continuousDistributions lists them in the order in which errors name them.
var continuousDistributions = []continuous{
	{"normal", []string{"MEAN", "DEVIATION"}, func(p []float64) func(float64) float64 {
		return distuv.Normal{Mu: p[0], Sigma: p[1]}.CDF
	}},
	{"lognormal", []string{"MEDIAN", "sigma"}, func(p []float64) func(float64) float64 {
		d := distuv.LogNormal{Mu: math.Log(p[0]), Sigma: p[1]}
		return func(x float64) float64 { return d.CDF(max(x, 0)) }
	}},
	{"exponential", []string{"MEAN"}, func(p []float64) func(float64) float64 {
		return distuv.Exponential{Rate: 1 / p[0]}.CDF
	}},
	{"gamma", []string{"MEAN", "shape"}, func(p []float64) func(float64) float64 {
		return distuv.Gamma{Alpha: p[1], Beta: p[1] / p[0]}.CDF
	}},
}

// leastPlain and mostPlain bound the parameters that are plain numbers.
const (
	leastPlain = 0.001
	mostPlain  = 1000
)

// form returns how the distribution is written.
func (c continuous) form() string {
	return c.name + "(" + strings.ToUpper(strings.Join(c.parameters, ",")) + ")"
}

// forms lists how distributions are written.
func forms() string {
	all := []string{"LOW..HIGH", "uniform(LOW,HIGH)"}
	for _, c := range continuousDistributions {
		all = append(all, c.form())
	}
	return strings.Join(append(all, "mix(WEIGHT*DISTRIBUTION,...)"), ", ")
}

func parseDistribution(text string, q quantity) (*Distribution, error) {
	d, err := q.distribution(strings.TrimSpace(text), 0)
	if err != nil {
		return nil, err
	}
	return &d, nil
}

// deepest is how deep mixtures may contain mixtures.
const deepest = 4

// distribution parses a distribution that is inside depth mixtures.
func (q quantity) distribution(text string, depth int) (d Distribution, err error) {
	if low, high, isRange := strings.Cut(text, ".."); isRange && !strings.Contains(text, "(") {
		return q.uniform(low, high)
	}
	name, rest, called := strings.Cut(text, "(")
	if !called {
		k, err := q.whole(text)
		if err != nil {
			return d, fmt.Errorf("%w, or one of %s", err, forms())
		}
		return Distribution{q.format(float64(k)), []part{{share: 1, low: k, high: k}}}, nil
	}
	inner, closed := strings.CutSuffix(rest, ")")
	if !closed {
		return d, fmt.Errorf("%q does not end with a parenthesis: want one of %s", text, forms())
	}
	arguments, err := splitList(inner)
	if err != nil {
		return d, err
	}
	name = strings.TrimSpace(name)
	i := slices.IndexFunc(continuousDistributions, func(c continuous) bool { return c.name == name })
	switch {
	case name == "mix" && depth == deepest:
		return d, fmt.Errorf("mixtures inside %d others: want at most %d", depth, deepest-1)
	case name == "mix":
		return q.mix(arguments, depth)
	case name == "uniform" && len(arguments) == 2:
		return q.uniform(arguments[0], arguments[1])
	case name == "uniform":
		return d, fmt.Errorf("uniform has %d parameters: want uniform(LOW,HIGH)", len(arguments))
	case i < 0:
		return d, fmt.Errorf("%q is no distribution: want one of %s", name, forms())
	}
	return q.continuous(continuousDistributions[i], arguments)
}

// splitList splits a text at the commas that are not within parentheses, and removes the spaces around each element.
// It returns an error if parentheses are not paired.
func splitList(text string) (elements []string, err error) {
	depth, begin := 0, 0
	for i, c := range text {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			elements = append(elements, strings.TrimSpace(text[begin:i]))
			begin = i + 1
		}
		if depth < 0 {
			break
		}
	}
	if depth != 0 {
		return nil, fmt.Errorf("%q has parentheses without a partner: want pairs", text)
	}
	return append(elements, strings.TrimSpace(text[begin:])), nil
}

// whole parses a single number.
func (q quantity) whole(text string) (int64, error) {
	x, ok := q.parse(strings.TrimSpace(text))
	if !ok || x != math.Trunc(x) || x < float64(q.least) || x > float64(q.most) {
		return 0, errors.New("want " + q.one)
	}
	return int64(x), nil
}

// ends parses the two ends of a range. A missing end is the least or the largest number.
func (q quantity) ends(first, last string) (low, high int64, err error) {
	low, high = q.least, q.most
	if strings.TrimSpace(first) != "" {
		low, err = q.whole(first)
	}
	if err == nil && strings.TrimSpace(last) != "" {
		high, err = q.whole(last)
	}
	if err == nil && low > high {
		err = errors.New("want the smaller number first")
	}
	if err != nil {
		err = fmt.Errorf("the range %s..%s: %w", strings.TrimSpace(first), strings.TrimSpace(last), err)
	}
	return low, high, err
}

// uniform parses a uniform distribution.
func (q quantity) uniform(first, last string) (d Distribution, err error) {
	if strings.TrimSpace(first) == "" || strings.TrimSpace(last) == "" {
		return d, errors.New("a range of equally likely numbers has two ends: want LOW..HIGH")
	}
	low, high, err := q.ends(first, last)
	return Distribution{q.format(float64(low)) + ".." + q.format(float64(high)), []part{{share: 1, low: low, high: high}}}, err
}

// leastMass is the smallest share of a distribution that a range may leave. The difference of two cumulative
// probabilities is then exact enough.
const leastMass = 1e-6

// continuous parses the parameters of a continuous distribution.
func (q quantity) continuous(c continuous, arguments []string) (d Distribution, err error) {
	low, high, limit := q.least, q.most, ""
	if first, last, isRange := strings.Cut(arguments[len(arguments)-1], ".."); isRange {
		if low, high, err = q.ends(first, last); err != nil {
			return d, fmt.Errorf("%s: %w", c.name, err)
		}
		if strings.TrimSpace(first) != "" {
			limit = q.format(float64(low)) + ".."
		}
		if strings.TrimSpace(last) != "" {
			limit = cmp.Or(limit, "..") + q.format(float64(high))
		}
		arguments = arguments[:len(arguments)-1]
	}
	if len(arguments) != len(c.parameters) {
		return d, fmt.Errorf("%s has %d parameters: want %s, and a range like 16..8192 or nothing after them", c.name, len(arguments), c.form())
	}
	values, texts := make([]float64, len(arguments)), make([]string, len(arguments), len(arguments)+1)
	for i, name := range c.parameters {
		if values[i], texts[i], err = q.parameter(name, arguments[i]); err != nil {
			return d, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	if limit != "" {
		texts = append(texts, limit)
	}
	cdf := c.cdf(values)
	before := cdf(float64(low) - 0.5)
	mass := cdf(float64(high)+0.5) - before
	if !(mass >= leastMass) {
		return d, fmt.Errorf("%s: fewer than one of a million numbers is from %s to %s: want a range with more of them", c.name, q.format(float64(low)), q.format(float64(high)))
	}
	below := func(k int64) float64 { return (cdf(float64(k)+0.5) - before) / mass }
	return Distribution{c.name + "(" + strings.Join(texts, ",") + ")", []part{{share: 1, low: low, high: high, below: below}}}, nil
}

// parameter parses a parameter of a continuous distribution, and returns its value and its text.
func (q quantity) parameter(name, text string) (float64, string, error) {
	if name == strings.ToLower(name) {
		x, ok := parseNumber(text)
		if !ok || x < leastPlain || x > mostPlain {
			return 0, "", fmt.Errorf("%s is %q: want a number from %g to %g", name, text, leastPlain, float64(mostPlain))
		}
		return x, formatNumber(x), nil
	}
	x, ok := q.parse(text)
	if !ok || x < q.smallest || x > float64(q.most) {
		return 0, "", fmt.Errorf("%s is %q: want from %s to %s", strings.ToLower(name), text, q.format(q.smallest), q.format(float64(q.most)))
	}
	return x, q.format(x), nil
}

// leastWeight and mostWeight bound the weights of a mixture.
const (
	leastWeight = 1e-6
	mostWeight  = 1e9
)

// mix parses a mixture.
func (q quantity) mix(arguments []string, depth int) (d Distribution, err error) {
	var texts []string
	sum := 0.0
	for _, argument := range arguments {
		weight, of, weighted := strings.Cut(argument, "*")
		w, ok := parseNumber(strings.TrimSpace(weight))
		if !weighted || !ok || w < leastWeight || w > mostWeight {
			return d, fmt.Errorf("mix: %q: want WEIGHT*DISTRIBUTION, with a weight from %g to %g", argument, leastWeight, float64(mostWeight))
		}
		one, err := q.distribution(strings.TrimSpace(of), depth+1)
		if err != nil {
			return d, fmt.Errorf("mix: %q: %w", argument, err)
		}
		for _, p := range one.parts {
			p.share *= w
			d.parts = append(d.parts, p)
		}
		texts = append(texts, formatNumber(w)+"*"+one.text)
		sum += w
	}
	for i := range d.parts {
		d.parts[i].share /= sum
	}
	d.text = "mix(" + strings.Join(texts, ",") + ")"
	return d, nil
}
