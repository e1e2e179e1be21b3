package benchdata

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"
)

// mustParse returns the distribution of lengths in text.
func mustParse(t testing.TB, text string) *Distribution {
	t.Helper()
	d, err := ParseLength(text)
	assert.NilError(t, err, text)
	return d
}

// draws returns n numbers.
func draws(d *Distribution, n int, seed uint64) []float64 {
	random := rand.New(rand.NewPCG(seed, 0))
	all := make([]float64, n)
	for i := range all {
		all[i] = float64(d.Draw(random))
	}
	return all
}

// TestDrawsFollowTheFormula compares the moments and the quantiles of 100,000 draws with the formulas of the distribution.
func TestDrawsFollowTheFormula(t *testing.T) {
	const n = 100_000
	mixed := distuv.NewCategorical([]float64{0, 0, 0, 3, 0, 0, 0, 0, 0, 1}, nil)
	for _, tt := range []struct {
		text      string
		mean, dev float64
		quantile  func(p float64) float64
	}{
		{"512", 512, 0, func(float64) float64 { return 512 }},
		{"uniform(101,300)", 200.5, math.Sqrt((200*200 - 1) / 12.0), func(p float64) float64 { return math.Ceil(100 + 200*p) }},
		{"normal(512,64)", 512, 64, distuv.Normal{Mu: 512, Sigma: 64}.Quantile},
		{"lognormal(512,0.6)", 512 * math.Exp(0.18), distuv.LogNormal{Mu: math.Log(512), Sigma: 0.6}.StdDev(), distuv.LogNormal{Mu: math.Log(512), Sigma: 0.6}.Quantile},
		{"exponential(512)", 512.5, 512, distuv.Exponential{Rate: 1.0 / 512}.Quantile}, // 0 is redrawn
		{"gamma(512,2)", 512, 512 / math.Sqrt2, distuv.Gamma{Alpha: 2, Beta: 2.0 / 512}.Quantile},
		{"mix(3*4,1*10)", mixed.Mean() + 1, math.Sqrt(6.75), func(p float64) float64 {
			if p <= 0.75 {
				return 4
			}
			return 10
		}},
		{"mix(1*normal(1000,100),1*normal(3000,100))", 2000, math.Hypot(1000, 100), func(p float64) float64 {
			if p < 0.5 {
				return distuv.Normal{Mu: 1000, Sigma: 100}.Quantile(2 * p)
			}
			return distuv.Normal{Mu: 3000, Sigma: 100}.Quantile(2*p - 1)
		}},
		// The normal distribution from -1 to 2 standard deviations: https://en.wikipedia.org/wiki/Truncated_normal_distribution
		{"normal(1000,100,900..1200)", 1000 + 100*(phi(-1)-phi(2))/(distuv.UnitNormal.CDF(2)-distuv.UnitNormal.CDF(-1)), 72.7, func(p float64) float64 {
			low, high := distuv.UnitNormal.CDF(-1.005), distuv.UnitNormal.CDF(2.005)
			return 1000 + 100*distuv.UnitNormal.Quantile(low+p*(high-low))
		}},
	} {
		all := draws(mustParse(t, tt.text), n, 1)
		mean, dev := stat.MeanStdDev(all, nil)
		near := func(what string, got, want, tolerance float64) {
			t.Helper()
			assert.Check(t, math.Abs(got-want) <= tolerance, "%s: the %s of %d draws is %.4g: want %.4g ± %.2g", tt.text, what, n, got, want, tolerance)
		}
		near("mean", mean, tt.mean, 4*tt.dev/math.Sqrt(n))
		near("standard deviation", dev, tt.dev, 0.02*tt.dev)
		slices.Sort(all)
		for _, p := range []float64{0.01, 0.1, 0.25, 0.4, 0.6, 0.9, 0.99} {
			// The quantile of a share that is 4 standard errors away, and half a token for the rounding.
			e := 4 * math.Sqrt(p*(1-p)/n)
			got := all[int(p*n)]
			low, high := tt.quantile(max(p-e, 1e-9)), tt.quantile(min(p+e, 1-1e-9))
			assert.Check(t, got >= low-0.51 && got <= high+0.51, "%s: quantile %v of %d draws is %v: want %.4g to %.4g", tt.text, p, n, got, low, high)
		}
	}
}

// phi is the density of the standard normal distribution.
func phi(x float64) float64 { return distuv.UnitNormal.Prob(x) }

// goldenTexts are the distributions whose draws must be equal on all machines.
var goldenTexts = []string{
	"512", "1..1000", "normal(512,128)", "normal(128,64,100..)", "lognormal(512,0.6)", "lognormal(512,1.5,16..8192)",
	"exponential(512)", "gamma(512,2)", "gamma(512,0.5,..4096)", "mix(3*64,1*lognormal(2048,0.5),0.5*300..400)",
}

// TestDrawsGolden checks that a seed gives the same numbers on every machine.
func TestDrawsGolden(t *testing.T) {
	var b strings.Builder
	for _, text := range goldenTexts {
		all := draws(mustParse(t, text), 10_000, 7)
		sum := 0.0
		for _, x := range all {
			sum += x
		}
		fmt.Fprintf(&b, "%s: %v; sum of 10,000: %v\n", text, all[:16], sum)
	}
	for _, text := range []string{"500ms", "exponential(500ms)", "lognormal(2s,0.5,..30s)"} {
		d, err := ParseTime(text)
		assert.NilError(t, err)
		random := rand.New(rand.NewPCG(7, 0))
		fmt.Fprintf(&b, "%s: %v %v\n", text, time.Duration(d.Draw(random))*time.Microsecond, time.Duration(d.Draw(random))*time.Microsecond)
	}
	golden.Assert(t, b.String(), "draws.golden")
}

// TestDrawsAreRobust checks that draws do not depend on the last bits of a probability, which differ between machines:
// the cumulative probability at each drawn number, and just below, is far from the drawn step.
func TestDrawsAreRobust(t *testing.T) {
	for _, text := range goldenTexts {
		d := mustParse(t, text)
		for _, p := range d.parts {
			if p.below == nil {
				continue
			}
			for k := p.low; k < min(p.high, 10_000); k++ {
				scaled := p.below(k) * (1 << 32)
				apart := math.Abs(scaled - math.Floor(scaled) - 0.5)
				assert.Assert(t, apart > 1e-5 || scaled < 1e-5, "%s: the probability of numbers up to %d is %v steps", text, k, scaled)
			}
		}
	}
}

func TestParseDistribution(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"512", "512"},
		{" 128 .. 255 ", "128..255"},
		{"uniform(128, 255)", "128..255"},
		{"normal( 128, 32.50 )", "normal(128,32.5)"},
		{"lognormal(512,0.60,16..8192)", "lognormal(512,0.6,16..8192)"},
		{"lognormal(512,0.6,16..)", "lognormal(512,0.6,16..)"},
		{"normal(9,2,007..1e2)", "normal(9,2,7..100)"},
		{"normal(9,2,..)", "normal(9,2)"},
		{"exponential(1e3, ..9000)", "exponential(1000,..9000)"},
		{"mix(3*64, 1*normal(9,2), 0.5*mix(1*5,1*6))", "mix(3*64,1*normal(9,2),0.5*mix(1*5,1*6))"},
	} {
		d := mustParse(t, tt.text)
		assert.Equal(t, d.String(), tt.want)
		assert.Equal(t, mustParse(t, tt.want).String(), tt.want)
	}
	_, constant := mustParse(t, "mix(1*5,2*5)").Constant()
	assert.Assert(t, constant)
	think, err := ParseTime("exponential(0.5s,..1m)")
	assert.NilError(t, err)
	assert.Equal(t, think.String(), "exponential(500ms,..1m0s)")
	none, err := ParseTime("0s")
	assert.NilError(t, err)
	assert.Equal(t, none.Draw(rand.New(rand.NewPCG(1, 1))), int64(0))

	const whole = "want a whole number of tokens from 1 to 134217728"
	for _, tt := range []struct{ text, want string }{
		{"", whole + ", or one of LOW..HIGH, uniform(LOW,HIGH), normal(MEAN,DEVIATION), lognormal(MEDIAN,SIGMA), exponential(MEAN), gamma(MEAN,SHAPE), mix(WEIGHT*DISTRIBUTION,...)"},
		{"0", whole},
		{"1.5", whole},
		{"NaN", whole},
		{"zipf(1.2)", `"zipf" is no distribution: want one of LOW..HIGH, `},
		{"normal(5,1)x", `"normal(5,1)x" does not end with a parenthesis: want one of`},
		{"normal(5,1))", `"5,1)" has parentheses without a partner: want pairs`},
		{"200..100", "the range 200..100: want the smaller number first"},
		{"0..100", "the range 0..100: " + whole},
		{"100..", "a range of equally likely numbers has two ends: want LOW..HIGH"},
		{"uniform(1,2,3)", "uniform has 3 parameters: want uniform(LOW,HIGH)"},
		{"normal(512)", "normal has 1 parameters: want normal(MEAN,DEVIATION), and a range like 16..8192 or nothing after them"},
		{"normal(512,0)", `normal: deviation is "0": want from 0.001 to 134217728`},
		{"lognormal(512,-1)", `lognormal: sigma is "-1": want a number from 0.001 to 1000`},
		{"lognormal(-1,1)", `lognormal: median is "-1": want from 0.001 to 134217728`},
		{"gamma(512,1e9)", `gamma: shape is "1e9": want a number from 0.001 to 1000`},
		{"normal(10,1,500..600)", "normal: fewer than one of a million numbers is from 500 to 600: want a range with more of them"},
		{"normal(10,1,0..600)", "normal: the range 0..600: " + whole},
		{"mix(64,128)", `mix: "64": want WEIGHT*DISTRIBUTION, with a weight from 1e-06 to 1e+09`},
		{"mix(0*64)", `mix: "0*64": want WEIGHT*DISTRIBUTION`},
		{"mix(1*normal(5))", `mix: "1*normal(5)": normal has 1 parameters: want`},
		{"mix(1*mix(1*mix(1*mix(1*mix(1*5)))))", "mixtures inside 4 others: want at most 3"},
	} {
		_, err := ParseLength(tt.text)
		assert.ErrorContains(t, err, tt.want)
	}
	for _, tt := range []struct{ text, want string }{
		{"5", "want a time like 500ms from 0s to 24h0m0s, in whole microseconds, or one of LOW..HIGH"},
		{"25h", "want a time like 500ms from 0s to 24h0m0s"},
		{"5ns", "in whole microseconds"},
		{"exponential(0s)", `exponential: mean is "0s": want from 1µs to 24h0m0s`},
		{"2s..1s", "the range 2s..1s: want the smaller number first"},
	} {
		_, err := ParseTime(tt.text)
		assert.ErrorContains(t, err, tt.want)
	}
	_, err = ParseCount("1001")
	assert.Error(t, err, "want a whole number from 1 to 1000, or one of "+forms())
}

// TestReadmeDistributions checks that the distributions in README.md can be parsed.
func TestReadmeDistributions(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	assert.NilError(t, err)
	all := regexp.MustCompile("[`=\"]((?:uniform|normal|lognormal|exponential|gamma|mix)\\([a-z0-9.,*()]+\\)|[0-9]+[.][.][0-9]+)[`,\"]").FindAllSubmatch(readme, -1)
	assert.Assert(t, len(all) > 20, "%d", len(all))
	for _, m := range all {
		mustParse(t, string(m[1]))
	}
}

// FuzzParseLength checks that any text gives an error of one line, or a distribution whose text gives the same
// distribution, and whose numbers are in its range.
func FuzzParseLength(f *testing.F) {
	for _, text := range goldenTexts {
		f.Add(text, uint64(1))
	}
	f.Add("mix(1*mix(1e-6*5,2*gamma(0.001,0.001,1..)),3*exponential(1e8))", uint64(2))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		d, err := ParseLength(text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") && !strings.Contains(text, "\n") {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		again, err := ParseLength(d.String())
		if err != nil || again.String() != d.String() {
			t.Fatalf("%q is %q, which is %v, %v", text, d, again, err)
		}
		low, high := d.bounds()
		random, same := rand.New(rand.NewPCG(seed, 0)), rand.New(rand.NewPCG(seed, 0))
		for range 20 {
			k := d.Draw(random)
			if k < low || k > high || low < 1 || high > mostTokens {
				t.Errorf("%q: %d is not in %d..%d", text, k, low, high)
			}
			if other := again.Draw(same); other != k {
				t.Errorf("%q: %d, and %d the second time", text, k, other)
			}
		}
	})
}
