package bisect

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Options describe what a Search looks for.
type Options struct {
	Commits int       // the number of commits after the good one, 1 or more; the last is the bad one
	Margin  float64   // the largest difference that is allowed, 0 or more; like all differences, a logarithm
	Alpha   float64   // the largest probability that a commit is named that is not worse than its predecessor by more than Margin
	First   []float64 // differences of the bad commit from the good one, at least five, whose median is more than Margin
}

// A Comparison names two commits to measure as a pair. Commits are numbered from 0, the good one.
type Comparison struct {
	Old     int  `json:"old"`
	New     int  `json:"new"`
	Confirm bool `json:"confirm,omitempty"` // Old is the predecessor of New that can be measured; otherwise Old is 0
}

// A Search is the state of a bisection. All its methods are functions of the pairs and skipped commits that were
// added, so a search can be continued by adding them again in the same order.
type Search struct {
	options Options
	grid    grid
	zeal    float64
	tables  map[Comparison]*table
	bets    map[Comparison]*bet
	skipped []bool
	kernels []*kernel // by index of the scale; nil until needed

	// What update computes:
	probability []float64 // that a commit is the first worse one, indexed by commit
	levels      []float64 // the probabilities of grid.worse as the level of the bad commit
	scale       int       // index of the most probable scale
}

// Enough is the probability at which a candidate is compared with its predecessor.
const Enough = 0.9

// Sure is the probability that a commit must have to be named, besides its confirmation.
const Sure = 0.95

// New returns a Search, or an error if the first pairs are too few or do not show that the bad commit is worse.
func New(o Options) (*Search, error) {
	level, scale := center(o.First)
	switch {
	case len(o.First) < 5:
		return nil, fmt.Errorf("%d pairs of the good and the bad commit: want at least 5", len(o.First))
	case !(level > o.Margin):
		return nil, errors.New("the bad commit is not worse than the good one by more than the margin")
	}
	s := &Search{options: o, grid: newGrid(o.First, o.Margin), zeal: (level - o.Margin) / (scale * scale),
		tables: map[Comparison]*table{}, bets: map[Comparison]*bet{}, skipped: make([]bool, o.Commits+1)}
	s.kernels = make([]*kernel, len(s.grid.scales))
	bad := Comparison{New: o.Commits}
	s.tables[bad] = s.grid.newTable()
	for _, x := range o.First {
		s.grid.add(s.tables[bad], x)
	}
	s.update()
	return s, nil
}

// Add adds the difference of a pair.
func (s *Search) Add(c Comparison, worse float64) {
	if s.tables[c] == nil {
		s.tables[c] = s.grid.newTable()
	}
	s.grid.add(s.tables[c], worse)
	if c.Confirm {
		if s.bets[c] == nil {
			share := 0.8
			if n := len(s.bets); n > 0 {
				share = 0.2 / math.Pow(2, float64(n))
			}
			s.bets[c] = &bet{alpha: share * s.options.Alpha}
		}
		s.bets[c].add(worse-s.options.Margin, s.zeal)
	}
	s.update()
}

// Skip says that a commit cannot be measured. The good and the bad commit cannot be skipped.
func (s *Search) Skip(commit int) { s.skipped[commit] = true }

// Pairs returns the differences that were added for a comparison.
func (s *Search) Pairs(c Comparison) []float64 {
	if t := s.tables[c]; t != nil {
		return t.pairs
	}
	return nil
}

// Probability returns the probability that a commit is the first one that is worse than allowed.
func (s *Search) Probability(commit int) float64 { return s.probability[commit] }

// Noise returns the standard deviation of a pair, estimated from all pairs so far.
func (s *Search) Noise() float64 { return s.grid.scales[s.scale] }

// worse returns the probability that a commit is worse than allowed.
func (s *Search) worse(commit int) (p float64) {
	for _, q := range s.probability[:commit+1] {
		p += q
	}
	return min(p, 1)
}

// update computes the probabilities from all pairs.
func (s *Search) update() {
	n := s.options.Commits
	keys := s.keys()
	perLevel := len(s.grid.worse)
	logs := make([]float64, 0, len(s.grid.scales)*perLevel*n) // of each scale, level and first worse commit
	for scale := range s.grid.scales {
		for level := range s.grid.worse {
			at := make([]float64, n+2) // differences of neighbors: the sum of at[:k+1] is the likelihood of first worse commit k
			for _, c := range keys {
				t := s.tables[c]
				ok, worse := t.allOK[scale], t.allWorse[scale][level]
				// The change is between Old and New if the first worse commit is one of Old+1 to New. In a pair
				// with the good commit, that is the state of New.
				at[0] += ok
				at[c.Old+1] += worse - ok
				at[c.New+1] += ok - worse
			}
			sum := at[0]
			for k := 1; k <= n; k++ {
				sum += at[k]
				logs = append(logs, sum)
			}
		}
	}
	largest, total := slices.Max(logs), 0.0
	for i, l := range logs {
		logs[i] = math.Exp(l - largest)
		total += logs[i]
	}
	s.probability, s.levels = make([]float64, n+1), make([]float64, perLevel)
	scales := make([]float64, len(s.grid.scales))
	for i, p := range logs {
		p /= total
		s.probability[1+i%n] += p
		s.levels[i/n%perLevel] += p
		scales[i/n/perLevel] += p
	}
	s.scale = slices.Index(scales, slices.Max(scales))
}

// keys returns the comparisons with pairs, in a fixed order, so that rounding errors are the same each time.
func (s *Search) keys() []Comparison {
	return slices.SortedFunc(maps.Keys(s.tables), func(a, b Comparison) int {
		last := -1
		if a.Confirm {
			last = 1
		}
		return cmp.Or(a.New-b.New, a.Old-b.Old, last)
	})
}

// candidate returns the comparison of the most probable candidate with its predecessor, and its probability. If
// commits are skipped, New and the skipped commits before it are one candidate.
func (s *Search) candidate() (best Comparison, p float64) {
	old := 0
	before := 0.0
	for commit := 1; commit <= s.options.Commits; commit++ {
		if s.skipped[commit] {
			continue
		}
		if now := s.worse(commit); now-before > p || best.New == 0 {
			best, p = Comparison{old, commit, true}, now-before
		}
		old, before = commit, s.worse(commit)
	}
	return best, p
}

// Named returns the comparison that confirmed which commit is the first worse one: New, or one of the skipped
// commits between Old and New. If ok is false, no commit can be named yet.
func (s *Search) Named() (c Comparison, ok bool) {
	c, p := s.candidate()
	b := s.bets[c]
	return c, b != nil && b.won && p >= Sure
}

// Next returns the pair to measure next. cost is the cost of a pair with a commit, in any unit, above 0. If ok
// is false, a commit is named, or no further pair can tell more.
func (s *Search) Next(cost func(commit int) float64) (c Comparison, ok bool) {
	c, p := s.candidate()
	b := s.bets[c]
	won := b != nil && b.won
	if won && p >= Sure {
		return c, false
	}
	commit, bits := s.informative(cost)
	if !won && (p >= Enough || b != nil && p >= 0.5 || bits < 1e-6) {
		return c, true
	}
	return Comparison{New: commit}, bits >= 1e-6
}

// newChannel returns the channel for what is known now.
func (s *Search) newChannel() *channel {
	if s.kernels[s.scale] == nil {
		s.kernels[s.scale] = s.grid.kernel(s.Noise())
	}
	return &channel{grid: s.grid, levels: s.levels, scale: s.scale, kernel: s.kernels[s.scale]}
}

// informative returns the commit whose comparison with the good commit has the largest expected information per
// cost, and the information in bits.
func (s *Search) informative(cost func(commit int) float64) (commit int, bits float64) {
	ch := s.newChannel()
	best := 0.0
	for c := 1; c < s.options.Commits; c++ {
		worse := s.worse(c)
		if s.skipped[c] || entropy(worse)/cost(c) <= best { // a pair cannot tell more than the entropy
			continue
		}
		information := ch.information(s.tables[Comparison{New: c}], worse)
		if gain := information / cost(c); gain > best {
			commit, bits, best = c, information, gain
		}
	}
	return commit, bits
}

// entropy returns the entropy of a state with probability p, in bits.
func entropy(p float64) float64 {
	if !(p > 0 && p < 1) {
		return 0
	}
	return -p*math.Log2(p) - (1-p)*math.Log2(1-p)
}

// Needed returns about how many further pairs are needed to name a commit. It is infinite if the noise allows no
// answer.
func (s *Search) Needed() float64 {
	var open, before float64 // open is the entropy of the first worse commit
	for commit := 1; commit <= s.options.Commits; commit++ {
		if s.skipped[commit] {
			continue
		}
		now := s.worse(commit)
		if p := now - before; p > 0 {
			open -= p * math.Log2(p)
		}
		before = now
	}
	pairs := 0.0
	c, p := s.candidate()
	if _, bits := s.informative(func(int) float64 { return 1 }); p < Enough {
		pairs = open / bits
	}
	left := -math.Log(0.8 * s.options.Alpha)
	if b := s.bets[c]; b != nil {
		left = max(0, b.needed()-b.wealth)
	}
	return pairs + left/max(0, s.newChannel().growth(s.zeal, s.options.Margin))
}
