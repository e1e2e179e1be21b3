package bisect

import (
	"math"
	"math/rand/v2"
	"testing"

	"gotest.tools/v3/assert"
)

// options describe 8 commits, of which the last is about 5 % worse than the good one.
func options() Options {
	return Options{Commits: 8, Margin: 0.02, Alpha: 0.025, First: []float64{0.05, 0.06, 0.04, 0.052, 0.048}}
}

func equalCosts(int) float64 { return 1 }

// bisect takes pairs of a program that is worse from commit first on, until the search ends.
func bisect(t *testing.T, s *Search, first int) (taken []Comparison) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		c, ok := s.Next(equalCosts)
		if !ok {
			return taken
		}
		worse := 0.005 * rng.NormFloat64()
		if c.Old < first && first <= c.New {
			worse += 0.05
		}
		s.Add(c, worse)
		taken = append(taken, c)
	}
	t.Fatal("200 pairs were not enough")
	return nil
}

func TestEachCommitIsFound(t *testing.T) {
	for first := 1; first <= 8; first++ {
		s, err := New(options())
		assert.NilError(t, err)
		taken := bisect(t, s, first)
		c, ok := s.Named()
		assert.Assert(t, ok)
		assert.Equal(t, c, Comparison{first - 1, first, true})
		assert.Assert(t, s.Probability(first) >= Sure)
		assert.Assert(t, len(taken) < 30, "%d pairs", len(taken))
	}
}

func TestProbabilities(t *testing.T) {
	s, err := New(options())
	assert.NilError(t, err)
	sum := func() (sum float64) {
		for k := 1; k <= 8; k++ {
			sum += s.Probability(k)
		}
		return sum
	}
	for k := 1; k <= 8; k++ {
		assert.Assert(t, math.Abs(s.Probability(k)-1.0/8) < 1e-9)
	}
	c, ok := s.Next(equalCosts)
	assert.Assert(t, ok)
	assert.Equal(t, c, Comparison{New: 4}) // halves the candidates
	s.Add(c, 0.05)
	assert.Assert(t, math.Abs(sum()-1) < 1e-9)
	assert.Assert(t, s.Probability(4) > 0.2 && s.Probability(5) < 0.02, "%v", s.probability)
	s.Add(c, 0)
	assert.Assert(t, s.Probability(4) < 0.2 && s.Probability(5) > 0.02, "%v", s.probability)
	// A disturbed pair says little.
	before := s.Probability(4)
	s.Add(c, 0.9)
	assert.Assert(t, s.Probability(4) < 0.25 && s.Probability(4) > before/4, "%v", s.probability)
}

// TestCost checks that a commit that takes long to build is measured only if it tells that much more.
func TestCost(t *testing.T) {
	s, err := New(options())
	assert.NilError(t, err)
	c, _ := s.Next(func(commit int) float64 {
		if commit == 4 {
			return 10
		}
		return 1
	})
	assert.Equal(t, c.New == 3 || c.New == 5, true, "%v", c)
}

// TestSkipped checks that skipped commits are one candidate with the next commit that can be measured.
func TestSkipped(t *testing.T) {
	s, err := New(options())
	assert.NilError(t, err)
	for _, commit := range []int{3, 4} {
		s.Skip(commit)
	}
	for _, c := range bisect(t, s, 4) {
		assert.Assert(t, c.New != 3 && c.New != 4 && c.Old != 3 && c.Old != 4)
	}
	c, ok := s.Named()
	assert.Assert(t, ok)
	assert.Equal(t, c, Comparison{2, 5, true})
}

// TestContinued checks that a search that was stopped goes on as if it had not been.
func TestContinued(t *testing.T) {
	whole, err := New(options())
	assert.NilError(t, err)
	taken := bisect(t, whole, 3)
	again, err := New(options())
	assert.NilError(t, err)
	at := map[Comparison]int{}
	for _, c := range taken {
		next, ok := again.Next(equalCosts)
		assert.Assert(t, ok)
		assert.Equal(t, next, c)
		again.Add(c, whole.Pairs(c)[at[c]])
		at[c]++
	}
	assert.DeepEqual(t, again.probability, whole.probability)
}

// TestBet checks that a bet on a commit that is worse by exactly the margin is hardly ever won, at whatever pair
// one looks, also with outliers.
func TestBet(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	const trials = 4000
	won := 0
	for range trials {
		b := &bet{alpha: 0.025}
		for range 100 {
			x := rng.NormFloat64()
			if rng.IntN(20) == 0 {
				x *= 10
			}
			b.add(x, 1)
		}
		if b.won {
			won++
		}
	}
	assert.Assert(t, float64(won) <= 0.025*trials+3*math.Sqrt(0.025*trials), "%d of %d", won, trials)
	b := &bet{alpha: 0.025}
	b.add(0, 1)
	assert.Equal(t, b.wealth, 0.0)
}

func TestOptions(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"4 pairs of the good and the bad commit: want at least 5":               func(o *Options) { o.First = o.First[:4] },
		"the bad commit is not worse than the good one by more than the margin": func(o *Options) { o.Margin = 0.06 },
	} {
		o := options()
		change(&o)
		_, err := New(o)
		assert.Error(t, err, want)
	}
}

// TestNeeded checks that the estimate grows with the noise.
func TestNeeded(t *testing.T) {
	before := 0.0
	for _, noise := range []float64{0.001, 0.01, 0.03, 0.1} {
		o := options()
		for i, sign := range []float64{-1, -0.7, 0, 0.7, 1} {
			o.First[i] = 0.05 + sign*noise
		}
		s, err := New(o)
		assert.NilError(t, err)
		needed := s.Needed()
		assert.Assert(t, needed > before, "%v after %v", needed, before)
		before = needed
	}
	assert.Assert(t, before > 50, "%v", before)
}
