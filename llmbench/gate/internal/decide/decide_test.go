package decide

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gotest.tools/v3/assert"
)

func flat(n int, v float64) []float64 { return each(n, func(int) float64 { return v }) }

// pairs returns a cell of pairs. In the cell lower is better.
func pairs(old, new []float64, margin float64) Cell {
	c := Cell{Old: old, New: new, Better: -1, Margin: margin}
	for i := range old {
		c.NewFirst = append(c.NewFirst, bits.OnesCount(uint(i))%2 == 1)
	}
	return c
}

// TestPairsAreExact compares p-values with their definition. For that it makes all exchanges of old
// and new in the samples themselves, and counts.
func TestPairsAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	statistic := func(c Cell) (s float64) {
		var sizes []float64
		for _, d := range c.differences() {
			if d != 0 {
				sizes = append(sizes, math.Abs(d))
			}
		}
		slices.Sort(sizes)
		limit := 0.0
		if k := len(sizes); k > 0 {
			limit = 2 * (sizes[k/2] + sizes[(k-1)/2]) / 2
		}
		squares := 0.0
		for _, d := range c.differences() {
			d = math.Copysign(min(math.Abs(d), limit), d)
			s += d
			squares += d * d
		}
		return s / math.Sqrt(squares*float64(len(c.Old)))
	}
	const n = 5
	for _, kinds := range []int{3, 1000} {
		for range 10 {
			var cells []Cell
			for range 3 {
				value := func(int) float64 { return float64(1 + r.IntN(kinds)) }
				cells = append(cells, pairs(each(n, value), each(n, value), 0))
			}
			got := testPairs(cells)
			want := make([]PValues, len(cells))
			top := 0 // the index of the cell with the largest statistic
			for i, c := range cells {
				if statistic(c) > statistic(cells[top]) {
					top = i
				}
			}
			adjusted := 0.0
			for mask := range 1 << n {
				largest := math.Inf(-1)
				for i, c := range cells {
					s := statistic(c.exchanged(uint64(mask)))
					largest = max(largest, s)
					if s >= statistic(c)-1e-9 {
						want[i].Worse += 1. / (1 << n)
					}
					if s <= statistic(c)+1e-9 {
						want[i].Less += 1. / (1 << n)
					}
				}
				if largest >= statistic(cells[top])-1e-9 {
					adjusted += 1. / (1 << n)
				}
			}
			for i := range cells {
				assert.Assert(t, math.Abs(got[i].Worse-want[i].Worse) < 1e-12 && math.Abs(got[i].Less-want[i].Less) < 1e-12, "%+v, want %+v", got[i], want[i])
				assert.Assert(t, got[i].Adjusted >= got[i].Worse && got[i].Adjusted >= got[top].Adjusted, "%+v", got)
			}
			assert.Assert(t, math.Abs(got[top].Adjusted-adjusted) < 1e-12, "%v, want %v", got[top].Adjusted, adjusted)
		}
	}
}

// TestFalseAlarmsAreExact compares equal versions. It goes through all orders that the rounds can
// have, or through as many as there are flips. In at most a share alpha of the orders a row may be
// a regression, whatever the values are. The same holds for a row that is shown to be no worse.
// This test does not depend on chance.
func TestFalseAlarmsAreExact(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	t.Parallel()
	for i, d := range disturbances {
		for _, c := range []struct {
			n, rows  int
			alpha    float64
			withheld bool // the slowest values are withheld
			amounts  bool // differences of values around 0 are compared
		}{{6, 1, 0.025, false, false}, {8, 3, 0.025, false, false}, {8, 12, 0.1, false, false}, {10, 3, 0.025, true, false}, {14, 2, 0.025, false, false}, {14, 2, 0.025, true, false}, {8, 3, 0.025, false, true}, {10, 3, 0.025, true, true}} {
			if c.n == 14 && i > 1 {
				continue // because this case takes long
			}
			s := setting{disturbance: d, rows: c.rows, n: c.n, sd: 0.01}
			cells := s.take(s.random(0), c.n)
			for i := range cells {
				if c.amounts {
					cells[i] = cells[i].amounts(100)
				}
			}
			f := flips(c.n)
			worse, less := 0, make([]int, c.rows)
			for way := range f.ways {
				all := make([]Cell, len(cells))
				for i, cell := range cells {
					all[i] = cell.exchanged(f.pattern(way))
					if c.withheld {
						all[i] = all[i].without(cell.slowest(3))
					}
				}
				alarm := false
				for i, p := range Test(all, len(all)) {
					alarm = alarm || AtMost(p.Adjusted, c.alpha)
					if AtMost(p.Less, c.alpha) {
						less[i]++
					}
				}
				if alarm {
					worse++
				}
			}
			limit := c.alpha * float64(f.ways)
			assert.Assert(t, float64(worse) <= limit && (worse > 0 || d.name != "normal"), "%s, %+v: %d orders", d.name, c, worse)
			if d.name != "no variance" { // without variance, new is shown to be no worse in all orders
				assert.Assert(t, float64(slices.Max(less)) <= limit, "%s, %+v: %d orders", d.name, c, less)
			}
		}
	}
}

// amounts returns c with the values less zero, and as amounts.
func (c Cell) amounts(zero float64) Cell {
	less := func(xs []float64) []float64 { return each(len(xs), func(i int) float64 { return xs[i] - zero }) }
	c.Old, c.New, c.Amounts = less(c.Old), less(c.New), true
	return c
}

// slowest returns the rounds in which one of the n largest values of c occurs.
func (c Cell) slowest(n int) (rounds []int) {
	all := slices.Sorted(slices.Values(slices.Concat(c.Old, c.New)))
	for i := range c.Old {
		if max(c.Old[i], c.New[i]) >= all[len(all)-n] {
			rounds = append(rounds, i)
		}
	}
	return rounds
}

// without returns c without the pairs of the given rounds.
func (c Cell) without(rounds []int) Cell {
	left := c
	left.Old, left.New, left.Rounds = nil, nil, []int{}
	for i := range c.Old {
		if !slices.Contains(rounds, i) {
			left.Old, left.New, left.Rounds = append(left.Old, c.Old[i]), append(left.New, c.New[i]), append(left.Rounds, i)
		}
	}
	return left
}

// pattern returns the rounds that a way exchanges. Each round is a bit.
func (f *flipSet) pattern(way int) (p uint64) {
	for i, block := range f.blocks {
		p |= uint64(block[way]) << (8 * i)
	}
	return p
}

// exchanged returns c after old and new were exchanged in the rounds whose bits are set in pattern.
func (c Cell) exchanged(pattern uint64) Cell {
	x := Cell{Old: slices.Clone(c.Old), New: slices.Clone(c.New), NewFirst: slices.Clone(c.NewFirst), Better: c.Better, Margin: c.Margin, Amounts: c.Amounts}
	for i := range x.Old {
		if pattern>>i&1 == 1 {
			x.Old[i], x.New[i], x.NewFirst[i] = x.New[i], x.Old[i], !x.NewFirst[i]
		}
	}
	return x
}

// TestGroup checks two properties of the set of ways. Exchanging in one way and then in another
// must again be a way of the set. No two rounds may always be exchanged together.
func TestGroup(t *testing.T) {
	for _, n := range []int{5, 12, 13, 25, 64} {
		f := flips(n)
		ways := map[uint64]bool{}
		for way := range f.ways {
			ways[f.pattern(way)] = true
		}
		assert.Equal(t, len(ways), f.ways)
		for i := range 1000 {
			a, b := f.pattern(i*7919%f.ways), f.pattern(i*104729%f.ways)
			assert.Assert(t, ways[a^b], "%d rounds: %b and %b", n, a, b)
		}
		for i := range n {
			for j := range i {
				together := 0
				for way := range f.ways {
					p := f.pattern(way)
					together += int(^(p>>i ^ p>>j) & 1)
				}
				assert.Equal(t, together, f.ways/2, "rounds %d and %d of %d", i, j, n)
			}
		}
	}
}

// TestFlips checks the sums after exchanges. It does so for all exchanges, and for a random part of
// them.
func TestFlips(t *testing.T) {
	for _, n := range []int{1, 8, 9, 12, 20} {
		f := flips(n)
		assert.Equal(t, f.ways, min(1<<n, maxFlips))
		values := each(n, func(i int) float64 { return math.Pow(3, float64(i)) })
		got := make([]float64, f.ways)
		f.sums(values, got)
		seen := map[float64]bool{}
		for way, sum := range got {
			want := 0.0
			for i, v := range values {
				if f.blocks[i/8][way]>>(i%8)&1 == 1 {
					v = -v
				}
				want += v
			}
			assert.Equal(t, sum, want)
			seen[sum] = true
		}
		assert.Equal(t, got[0], (math.Pow(3, float64(n))-1)/2)
		assert.Equal(t, len(seen), f.ways)
	}
}

func TestTest(t *testing.T) {
	const separate = 1. / 64
	for _, c := range []struct {
		Cell
		paired, unpaired float64
	}{
		{Cell{Old: flat(6, 100), New: flat(6, 100), Better: -1}, 1, 1},
		{Cell{Old: flat(6, 100), New: flat(6, 101), Better: -1}, separate, 0},
		{Cell{Old: flat(6, 100), New: flat(6, 99), Better: -1}, 1, 1},
		{Cell{Old: flat(6, 100), New: flat(6, 99), Better: +1}, separate, 0},
		{Cell{Old: flat(6, 100), New: flat(6, 101), Better: +1}, 1, 1},
		// Worse by exactly the margin is allowed, although 1.15*100 < 115 in floating point.
		{Cell{Old: flat(6, 100), New: flat(6, 115), Better: -1, Margin: 0.15}, 1, 1},
		{Cell{Old: flat(6, 100e-9), New: flat(6, 115*1e-9), Better: -1, Margin: 0.15}, 1, 1},
		{Cell{Old: flat(6, 100), New: flat(6, 115.1), Better: -1, Margin: 0.15}, separate, 0},
		{Cell{Old: flat(6, 100), New: flat(6, 98), Better: +1, Margin: 0.02}, 1, 1},
		{Cell{Old: flat(6, 100), New: flat(6, 97.9), Better: +1, Margin: 0.02}, separate, 0},
		// If the old values are 0, only 0 is allowed.
		{Cell{Old: flat(6, 0), New: flat(6, 0), Better: -1, Margin: 0.02}, 1, 1},
		{Cell{Old: flat(6, 0), New: flat(6, 3), Better: -1, Margin: 0.02}, separate, 0},
		// Amounts may be 0 or negative. Worse by exactly the margin is allowed.
		{Cell{Old: flat(6, 0), New: flat(6, 0), Better: -1, Margin: 0.5, Amounts: true}, 1, 1},
		{Cell{Old: flat(6, -0.1), New: flat(6, 0.4), Better: -1, Margin: 0.5, Amounts: true}, 1, 1},
		{Cell{Old: flat(6, -0.1), New: flat(6, 0.41), Better: -1, Margin: 0.5, Amounts: true}, separate, 0},
		{Cell{Old: flat(6, 100), New: flat(6, 99.4), Better: +1, Margin: 0.5, Amounts: true}, separate, 0},
		{Cell{Old: flat(6, 100), New: flat(6, 100.6), Better: +1, Margin: 0.5, Amounts: true}, 1, 1},
	} {
		got := Test([]Cell{c.Cell}, 1)[0]
		assert.Assert(t, math.Abs(got.Worse-c.unpaired) < 1e-12, "%+v: %+v, want %v", c.Cell, got, c.unpaired)
		c.NewFirst = pairs(c.Old, c.New, 0).NewFirst
		got = Test([]Cell{c.Cell}, 1)[0]
		assert.Assert(t, math.Abs(got.Worse-c.paired) < 1e-12, "%+v: %+v, want %v", c.Cell, got, c.paired)
	}
	// These values are tiny and huge.
	for _, unit := range []float64{1e-300, 1e149} {
		c := Cell{Old: []float64{1 * unit, 2 * unit, 3 * unit, 4 * unit, 5 * unit, 6 * unit}, New: []float64{3 * unit, 4 * unit, 5 * unit, 6 * unit, 7 * unit, 12 * unit}, Better: -1}
		got := Test([]Cell{c}, 1)[0]
		assert.Assert(t, 0.05 < got.Worse && got.Worse < 0.07, "unit %v: %+v", unit, got)
	}
	// One failure in six samples proves nothing.
	got := Test([]Cell{{Old: flat(6, 0), New: []float64{0, 0, 0, 0, 0, 3}, Better: -1}}, 1)[0]
	assert.Assert(t, got.Worse > 0.1, "%+v", got)
	// The p-value is also adjusted for cells that are missing.
	got = Test([]Cell{{Old: []float64{1, 2, 3, 4, 5, 6}, New: []float64{3, 4, 5, 6, 7, 12}, Better: -1}}, 3)[0]
	assert.Assert(t, math.Abs(got.Worse+got.Less-1) < 1e-12 && math.Abs(got.Adjusted-3*got.Worse) < 1e-12, "%+v", got)
}

// TestTrim compares a trimmed mean and its standard error with values that were computed from the
// definition.
func TestTrim(t *testing.T) {
	got := trim([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 1000})
	// This is the mean of 2 … 9. The variance of 2, 2, 3, …, 8, 9, 9 is 66.5/9.
	assert.Assert(t, got.mean == 5.5 && got.free == 6 && math.Abs(got.squared-66.5/(8*7)) < 1e-12, "%+v", got)
	got = trim([]float64{1, 2, 3, 4})
	assert.Assert(t, got.mean == 2.5 && got.free == 3 && math.Abs(got.squared-5./12) < 1e-12, "%+v", got)
}

// TestBound checks that the bound is within the margin exactly when the test says that the row is
// no worse.
func TestBound(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	within := 0
	for i := range 400 {
		n := 6 + i%10
		c := pairs(each(n, func(int) float64 { return 100 * normal(r, 0.02) }), each(n, func(int) float64 { return 101 * normal(r, 0.02) }), 0.02)
		if i%2 == 1 {
			c.Better = +1
		}
		switch {
		case i%4 < 2:
			c.NewFirst = nil
		case i%8 < 4:
			c = c.without(c.slowest(1))
		}
		if i%3 == 0 {
			c = c.amounts(100)
			c.Margin = 2
		}
		bound, less := c.Bound(alpha), Test([]Cell{c}, 1)[0].Less
		if -float64(c.Better)*bound < c.Margin {
			within++
		}
		assert.Equal(t, -float64(c.Better)*bound < c.Margin, less <= alpha, "%+v: bound %v, p %v", c, bound, less)
	}
	assert.Assert(t, within > 50 && within < 350, "%d of 400 within the margin", within)
	assert.Assert(t, math.IsNaN(pairs(flat(4, 1), flat(4, 2), 0).Bound(alpha)), "four pairs")
	assert.Assert(t, math.Abs(pairs(flat(6, 100), flat(6, 103), 0.05).Bound(alpha)-0.03) < 1e-12)
}

// TestBoundCovers checks that the true change is worse than the bound in at most a share alpha of
// the comparisons.
func TestBoundCovers(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 8))
	const trials = 2000
	for _, paired := range []bool{true, false} {
		beyond := 0
		for range trials {
			c := pairs(each(10, func(int) float64 { return 100 * normal(r, 0.02) }), each(10, func(int) float64 { return 103 * normal(r, 0.02) }), 0.02)
			if !paired {
				c.NewFirst = nil
			}
			if c.Bound(alpha) < 0.03 {
				beyond++
			}
		}
		assert.Assert(t, float64(beyond)/trials <= limit(trials), "paired %t: %d of %d", paired, beyond, trials)
	}
}

func TestHolm(t *testing.T) {
	for _, c := range []struct {
		ps     []float64
		family int
		want   []float64
	}{
		{nil, 3, []float64{}},
		{[]float64{0.01}, 1, []float64{0.01}},
		// This is the example of R's p.adjust(c(0.01, 0.04, 0.03), "holm").
		{[]float64{0.01, 0.04, 0.03}, 3, []float64{0.03, 0.06, 0.06}},
		{[]float64{0.01, 0.01, 0.5, 1}, 4, []float64{0.04, 0.04, 1, 1}},
		// Tests that are not in ps are counted too.
		{[]float64{0.01, 0.02}, 10, []float64{0.1, 0.18}},
	} {
		got := holm(c.ps, c.family)
		if diff := cmp.Diff(c.want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Errorf("holm(%v, %d) mismatch (-want +got):\n%s", c.ps, c.family, diff)
		}
	}
}

// A row that is worse is hardly ever a pass, and of equal versions hardly ever a row is said to have too few samples.
func TestTooFew(t *testing.T) {
	const rows, trials = 12, 200
	random := rand.New(rand.NewPCG(9, 9))
	for _, newFirst := range [][]bool{nil, make([]bool, 10)} {
		count := func(sd, worse float64) (of map[Outcome]int) {
			of = map[Outcome]int{}
			for range trials {
				cells := make([]Cell, rows)
				for i := range cells {
					c := Cell{Better: -1, Margin: 0.02, NewFirst: newFirst}
					for range 10 {
						c.Old = append(c.Old, 100*(1+sd*random.NormFloat64()))
						c.New = append(c.New, 100*(1+sd*random.NormFloat64()))
						if i == 0 {
							c.New[len(c.New)-1] *= 1 + worse
						}
					}
					cells[i] = c
				}
				all, _ := Decide(cells, rows, 10, NewPlan(0, 0, 0.025), Rules{Quiet: true})
				of[all[0].Outcome]++
			}
			return of
		}
		equal := count(0.01, 0)
		assert.Assert(t, equal[TooFew]+equal[TooNoisy] <= trials/50, "%v", equal)
		worse := count(0.015, 0.05)
		assert.Assert(t, worse[TooFew] > trials/10 && worse[Pass]+worse[NoWorse] <= trials/10, "%v", worse)
	}
}

func TestMinSamples(t *testing.T) {
	assert.Equal(t, MinSamples(0.025, 2), 7)
	assert.Equal(t, MinSamples(0.025, 200), 7)
	assert.Equal(t, MinSamples(0.001, 3), 11)
	assert.Equal(t, MinSamples(0.00026, 3), 12)
	for alpha, want := range map[float64]int{0.025: 6, 0.5: 4, 0.05: 5, 0.02: 6, 0.005: 8, 0.001: 10} {
		assert.Equal(t, MinSamples(alpha, 1), want, "alpha %v", alpha)
		// The minimum number of pairs is enough for a row without noise, even beside a hundred
		// noisy rows.
		r := rand.New(rand.NewPCG(1, 1))
		cells := []Cell{pairs(flat(want, 100), flat(want, 150), 0)}
		for range 100 {
			cells = append(cells, pairs(each(want, func(int) float64 { return normal(r, 0.1) }), each(want, func(int) float64 { return normal(r, 0.1) }), 0))
		}
		assert.Assert(t, AtMost(Test(cells, len(cells))[0].Adjusted, max(alpha, 1./16)), "alpha %v", alpha)
	}
}

func TestNewPlan(t *testing.T) {
	for _, c := range []struct {
		planned, most int
		alpha         float64
		want          []Look
	}{
		{0, 0, 0.025, []Look{{0, 0.025}}},
		{10, 0, 0.025, []Look{{8, 0.005}, {10, 0.02}}},
		{9, 0, 0.025, []Look{{8, 0.005}, {9, 0.02}}},
		{8, 0, 0.025, []Look{{8, 0.025}}}, // 1/2^7 > 0.005
		{20, 10, 0.025, []Look{{16, 0.005}, {20, 0.02}}},
		{10, 25, 0.025, []Look{{8, 0.005}, {10, 0.005}, {14, 0.005}, {20, 0.005}, {25, 0.005}}},
		{10, 60, 0.028, []Look{{8, 0.004}, {10, 0.004}, {14, 0.004}, {20, 0.004}, {28, 0.004}, {40, 0.004}, {60, 0.004}}},
		{1, 1, 0.025, []Look{{1, 0.025}}},
	} {
		p := NewPlan(c.planned, c.most, c.alpha)
		if diff := cmp.Diff(c.want, p.Looks, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Errorf("NewPlan(%d, %d, %v) mismatch (-want +got):\n%s", c.planned, c.most, c.alpha, diff)
		}
		sum := 0.0
		for _, l := range p.Looks {
			sum += l.Alpha
		}
		assert.Assert(t, math.Abs(sum-c.alpha) < 1e-12, "the levels of %+v add up to %v", p, sum)
	}
}

// TestDecided checks cells that are decided before the end. Such a cell must not be a regression at
// the end, even if all further rounds are as bad as possible.
func TestDecided(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	p := NewPlan(10, 0, alpha)
	checked := 0
	for trial := range 300 {
		c := pairs(each(10, func(int) float64 { return 100 * normal(r, 0.01) }), each(10, func(int) float64 { return 100 * normal(r, 0.01) }), 0.005)
		var withheld []int
		if trial%2 == 1 {
			withheld = Cell{Old: c.Old[:5], New: c.New[:5]}.slowest(1)
		}
		for n := 2; n < 10; n++ {
			part := Cell{Old: c.Old[:n], New: c.New[:n], Better: -1, Margin: c.Margin, NewFirst: c.NewFirst[:n]}
			if !p.decided(part.without(withheld), n) {
				continue
			}
			for _, worse := range []float64{1.01, 1.02, 1.05, 2, 100} {
				full := c
				full.New = append([]float64{}, c.New...)
				for i := n; i < 10; i++ {
					full.New[i] = c.Old[i] * worse
				}
				checked++
				if got := Test([]Cell{full.without(withheld)}, 1)[0].Worse; AtMost(got, p.Final()) {
					t.Errorf("decided after %d rounds, and p is %v after further rounds that are %v times as long", n, got, worse)
				}
			}
			break
		}
	}
	assert.Assert(t, checked > 500, "%d", checked)
}

// TestInTurns checks that no drift is taken from the differences of samples that took turns.
func TestInTurns(t *testing.T) {
	c := pairs(each(8, func(i int) float64 { return float64(100 + 10*i) }), each(8, func(i int) float64 { return float64(101 + 10*i) }), 0)
	plain, steady := c.bothDifferences()
	assert.Assert(t, !slices.Equal(plain, steady))
	for _, c := range []Cell{c, c.Reversed()} {
		c.InTurns = true
		plain, steady := c.Reversed().bothDifferences()
		assert.DeepEqual(t, plain, steady)
		assert.DeepEqual(t, c.Reversed().differences(), plain)
	}
}

// TestDetectable simulates changes of the size that Detectable typically has for equal
// versions, and counts how often the changes are found. With heavy tails, fewer changes are
// found than Power states in some settings: Detectable is an approximation.
func TestDetectable(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	t.Parallel()
	const trials = 400
	for i, d := range disturbances[:2] {
		for _, c := range []struct {
			n, rows int
			margin  float64
			paired  bool
		}{{10, 1, 0, true}, {10, 12, 0.02, true}, {15, 40, 0.005, true}, {8, 12, 0.02, false}, {10, 1, 0, false}, {20, 40, 0.02, false}, {60, 40, 0, false}} {
			r := rand.New(rand.NewPCG(uint64(i), uint64(c.n)))
			cells := func(worse float64) []Cell {
				all := make([]Cell, c.rows)
				for j := range all {
					all[j] = pairs(each(c.n, func(int) float64 { return d.own(r, 0.02) }), each(c.n, func(int) float64 { return d.own(r, 0.02) }), c.margin)
					if !c.paired {
						all[j].NewFirst = nil
					}
				}
				for j := range all[0].New {
					all[0].New[j] *= 1 + worse
				}
				return all
			}
			change := 0.0
			for range 100 {
				change += cells(0)[0].Detectable(c.rows, 0, alpha) / 100
			}
			found := 0.0
			for range trials {
				if AtMost(Test(cells(change), c.rows)[0].Adjusted, alpha) {
					found += 1. / trials
				}
			}
			t.Logf("%s, %+v: %+.2f%% is found in %.1f%%", d.name, c, 100*change, 100*found)
			assert.Assert(t, found >= Power-0.12-0.06*float64(i) && found <= Power+0.12, "%s, %+v: a change of %v is found in %v of trials", d.name, c, change, found)
		}
	}
	for _, c := range []struct {
		Cell
		want float64
	}{
		{pairs(flat(6, 7), flat(6, 7), 0.05), 0.05}, // every change that exceeds the margin
		{pairs(flat(6, 0), flat(6, 0), 0.05), math.NaN()},
		{Cell{Old: flat(6, 7), New: flat(6, 7), Better: +1, Margin: 0.05}, -0.05},
		{Cell{Old: flat(6, 0), New: flat(6, 0), Better: -1, Margin: 0.05}, math.NaN()},
	} {
		got := c.Detectable(1, 0, alpha)
		assert.Assert(t, math.Abs(got-c.want) < 1e-12 || math.IsNaN(got) && math.IsNaN(c.want), "%+v: %v", c.Cell, got)
	}
}

func TestWanted(t *testing.T) {
	assert.Equal(t, Wanted(10, 0.04, 0.02), 40)
	assert.Equal(t, Wanted(10, 0.04, 0), 0)
	assert.Equal(t, Wanted(10, math.NaN(), 0.1), 0)
}
