package decide

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"
)

const alpha = 0.025 // gate.DefaultAlpha

// A disturbance is what happens to the values of a comparison. The values are 100 times the
// product of a factor that all rows of a process share and a factor of the row alone.
type disturbance struct {
	name string
	// shared returns the factors that all rows share, of n processes in the order in
	// which they run.
	shared func(r *rand.Rand, n int) []float64
	// own returns one factor of one row. sd is its relative standard deviation.
	own func(r *rand.Rand, sd float64) float64
}

func each(n int, f func(i int) float64) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = f(i)
	}
	return all
}

func steady(r *rand.Rand, n int) []float64 { return each(n, func(int) float64 { return 1 }) }

func normal(r *rand.Rand, sd float64) float64 { return 1 + sd*r.NormFloat64() }

// heavy is Student's t with 3 degrees of freedom, whose variance is 3.
func heavy(r *rand.Rand, sd float64) float64 {
	var chi float64
	for range 3 {
		z := r.NormFloat64()
		chi += z * z
	}
	return math.Exp(sd / math.Sqrt(3) * r.NormFloat64() / math.Sqrt(chi/3))
}

// tied is normal noise in steps of one standard deviation.
func tied(r *rand.Rand, sd float64) float64 { return 1 + sd*math.Round(r.NormFloat64()) }

// linear is a drift of 10 % from the first process to the last.
func linear(r *rand.Rand, n int) []float64 {
	return each(n, func(i int) float64 { return 1 + 0.1*float64(i)/float64(n) })
}

// sine returns a drift with an amplitude of 10 %, a period of the given number of processes and
// a random phase.
func sine(period float64) func(r *rand.Rand, n int) []float64 {
	return func(r *rand.Rand, n int) []float64 {
		phase := r.Float64()
		return each(n, func(i int) float64 { return 1 + 0.1*math.Sin(2*math.Pi*(float64(i)/period+phase)) })
	}
}

// autoregressive returns noise of a standard deviation sd whose correlation between successive
// processes is rho.
func autoregressive(rho, sd float64) func(r *rand.Rand, n int) []float64 {
	return func(r *rand.Rand, n int) []float64 {
		v := r.NormFloat64()
		return each(n, func(int) float64 {
			factor := 1 + sd*v
			v = rho*v + math.Sqrt(1-rho*rho)*r.NormFloat64()
			return factor
		})
	}
}

// states is a machine with two states, of which one is 10 % slower. It changes its state
// before a process with a probability of 15 %.
func states(r *rand.Rand, n int) []float64 {
	slow := r.IntN(2)
	return each(n, func(int) float64 {
		if r.Float64() < 0.15 {
			slow = 1 - slow
		}
		return 1 + 0.1*float64(slow)
	})
}

// disturbances are the lines of the tables in the doc comment of package gate.
var disturbances = []disturbance{
	{"normal", steady, normal},
	{"heavy tails", steady, heavy},
	{"ties", steady, tied},
	{"no variance", steady, func(*rand.Rand, float64) float64 { return 1 }},
	{"linear drift", linear, normal},
	{"AR(1) 0.5, sd 2%", autoregressive(0.5, 0.02), normal},
	{"AR(1) 0.9, sd 5%", autoregressive(0.9, 0.05), normal},
	{"two states", states, normal},
	{"period 40", sine(40), normal},
	{"period 20", sine(20), normal},
	{"period 12", sine(12), normal},
	{"period 8", sine(8), normal},
	{"period 7", sine(7), normal},
	{"period 6", sine(6), normal},
	{"period 5", sine(5), normal},
	{"period 4", sine(4), normal},
	{"period 3", sine(3), normal},
	{"period 2", sine(2), normal},
}

// A setting is one kind of comparison. Lower is better in every second row, and higher in
// the others.
type setting struct {
	disturbance
	rows, n, max int
	sd           float64 // of the rows' own factors
	margin       float64
	worse        float64 // the share by which the first row is worse
	noisy        float64 // sd of the last row if not 0
}

// simulateAB simulates benchgate ab: it adds rounds of samples in random order and decides
// as benchgate ab does, until the decision is settled. It returns the decisions about the
// rows, and the number of rounds.
func simulateAB(r *rand.Rand, s setting) ([]Decision, int) {
	p := NewPlan(s.n, s.max, alpha)
	shared := s.shared(r, 2*p.Rounds)
	cells := make([]Cell, s.rows)
	for i := range cells {
		cells[i] = Cell{Better: 2*(i%2) - 1, Margin: s.margin}
	}
	var order []bool
	for n := 1; ; n++ {
		newFirst := r.IntN(2) == 1
		order = append(order, newFirst)
		for i := range cells {
			c, sd, worse := &cells[i], s.sd, 0.0
			if s.noisy != 0 && i == len(cells)-1 {
				sd = s.noisy
			}
			if i == 0 {
				worse = s.worse
			}
			old, new := 100*shared[2*n-2]*s.own(r, sd), 100*shared[2*n-1]*s.own(r, sd)
			if newFirst {
				old, new = new, old
			}
			c.NewFirst = order
			c.Old, c.New = append(c.Old, old), append(c.New, new*(1+worse))
		}
		if all, settled := Decide(cells, len(cells), n, p, Rules{Quiet: true}); settled {
			return all, n
		}
	}
}

// An outcome is the result of many simulated comparisons, as shares of them.
type outcome struct {
	alarms   float64 // a row that is not worse than its margin is a regression
	found    float64 // the first row is a regression
	noWorse  float64 // the first row is shown to be no worse
	tooNoisy float64 // no row is a regression, and some row is too noisy
	rounds   float64 // mean
}

// simulate simulates comparisons with fixed seeds, on all processors.
func (s setting) simulate(trials int) outcome {
	var total outcome
	var mu sync.Mutex
	var group sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		group.Go(func() {
			var o outcome
			for trial := w; trial < trials; trial += workers {
				o.add(s, trial)
			}
			mu.Lock()
			defer mu.Unlock()
			total = outcome{total.alarms + o.alarms, total.found + o.found, total.noWorse + o.noWorse, total.tooNoisy + o.tooNoisy, total.rounds + o.rounds}
		})
	}
	group.Wait()
	n := float64(trials)
	return outcome{total.alarms / n, total.found / n, total.noWorse / n, total.tooNoisy / n, total.rounds / n}
}

// add simulates one comparison.
func (o *outcome) add(s setting, seed int) {
	all, rounds := simulateAB(rand.New(rand.NewPCG(uint64(seed), 0)), s)
	o.rounds += float64(rounds)
	alarm, noisy := false, false
	for i, d := range all {
		alarm = alarm || d.Outcome == Regression && (i > 0 || s.worse <= s.margin)
		noisy = noisy || d.Outcome == TooNoisy
	}
	switch {
	case all[0].Outcome == Regression:
		o.found++
	case all[0].Outcome == NoWorse:
		o.noWorse++
	}
	if alarm {
		o.alarms++
	}
	if noisy && !alarm && all[0].Outcome != Regression {
		o.tooNoisy++
	}
}

// limit returns the largest share that so many trials of an event with probability alpha may
// have: three standard errors more.
func limit(trials int) float64 { return alpha + 3*math.Sqrt(alpha/float64(trials)) }

// falseAlarms simulates comparisons of equal versions without a margin, for several numbers of
// rounds and standard deviations. It returns the share of false alarms of all, and the
// largest of them.
func falseAlarms(t *testing.T, d disturbance, rows int, ns []int, sds []float64, trials int) (mean, most float64) {
	cells := 0.0
	for _, n := range ns {
		for _, sd := range sds {
			got := setting{disturbance: d, rows: rows, n: n, sd: sd}.simulate(trials).alarms
			if got > limit(trials) {
				t.Errorf("%s, %d rows, %d rounds, sd %v: %v false alarms, want at most %v", d.name, rows, n, sd, got, limit(trials))
			}
			mean += got
			most = max(most, got)
			cells++
		}
	}
	return mean / cells, most
}

// full reports whether to simulate everything that the doc comment of package gate states, which
// takes long.
func full() bool { return os.Getenv("LLMBENCH_FULL") != "" }

// TestFalseAlarms compares equal versions without a margin, where false alarms are most
// frequent. With LLMBENCH_FULL set, it makes the table in the doc comment of package gate.
func TestFalseAlarms(t *testing.T) {
	if !full() {
		for _, d := range disturbances {
			falseAlarms(t, d, 3, []int{6, 10}, []float64{0.01}, 200)
		}
		falseAlarms(t, disturbances[0], 40, []int{6, 15}, []float64{0.01}, 60)
		return
	}
	counts := []int{1, 3, 12, 40, 200}
	var b strings.Builder
	fmt.Fprintf(&b, "%-18s", "gated rows")
	for _, rows := range counts {
		fmt.Fprintf(&b, "%7d", rows)
	}
	largest := 0.0
	for _, d := range disturbances {
		fmt.Fprintf(&b, "\n%-18s", d.name)
		for _, rows := range counts {
			trials := 1000
			if rows > 40 {
				trials = 250
			}
			mean, most := falseAlarms(t, d, rows, []int{6, 10, 25}, []float64{0.003, 0.05}, trials)
			fmt.Fprintf(&b, "%6.1f%%", 100*mean)
			largest = max(largest, most)
		}
	}
	t.Logf("largest share: %.1f%%", 100*largest)
	golden.Assert(t, b.String()+"\n", "false_alarms.golden")
}

// TestPower looks for a loss of 5 % in one row, if the margin is 2 %. With LLMBENCH_FULL set, it
// makes the table in the doc comment of package gate.
func TestPower(t *testing.T) {
	if !full() {
		for _, c := range []struct {
			s    setting
			want float64
		}{
			{setting{rows: 12, n: 10, sd: 0.01}, 0.9},
			{setting{rows: 200, n: 10, sd: 0.003}, 0.9},
			{setting{rows: 3, n: 10, max: 20, sd: 0.015}, 0.9},
		} {
			c.s.disturbance, c.s.margin, c.s.worse = disturbances[0], 0.02, 0.05
			o := c.s.simulate(100)
			assert.Assert(t, o.found >= c.want, "%+v: %+v", c.s, o)
			assert.Assert(t, o.alarms <= limit(100), "%+v: %+v", c.s, o)
		}
		return
	}
	var b strings.Builder
	sds := []float64{0.003, 0.01, 0.015, 0.02, 0.05}
	fmt.Fprintf(&b, "%-24s", "gated rows, rounds")
	for _, sd := range sds {
		fmt.Fprintf(&b, "%9s", fmt.Sprintf("sd %.1f%%", 100*sd))
	}
	for _, rows := range []int{1, 3, 12, 40, 200} {
		for _, n := range [][2]int{{6, 6}, {8, 8}, {10, 10}, {15, 15}, {25, 25}, {10, 25}} {
			label := fmt.Sprintf("%d, %d", rows, n[0])
			if n[1] > n[0] {
				label = fmt.Sprintf("%d, %d to %d", rows, n[0], n[1])
			}
			fmt.Fprintf(&b, "\n%-24s", label)
			for _, sd := range sds {
				o := setting{disturbance: disturbances[0], rows: rows, n: n[0], max: n[1], sd: sd, margin: 0.02, worse: 0.05}.simulate(200)
				fmt.Fprintf(&b, "%8.0f%%", 100*o.found)
			}
		}
	}
	golden.Assert(t, b.String()+"\n", "power.golden")
}

// TestDrift looks for a loss of 3 % in one row, if the margin is 1 % and the standard
// deviation 0.5 %, under all disturbances, and compares equal versions. With LLMBENCH_FULL
// set, it makes the table in the doc comment of package gate.
func TestDrift(t *testing.T) {
	if !full() {
		for _, d := range disturbances[8:10] { // periods of 40 and 20 processes
			for _, rows := range []int{1, 12} {
				s := setting{disturbance: d, rows: rows, n: 10, sd: 0.005, margin: 0.01, worse: 0.03}
				o := s.simulate(100)
				assert.Assert(t, o.found >= 0.9, "%s, %d rows: %+v", d.name, rows, o)
				s.worse = 0
				assert.Equal(t, s.simulate(100).alarms, 0.0, "%s, %d rows", d.name, rows)
			}
		}
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-18s%9s%9s%12s%12s%12s", "", "1 row", "12 rows", "10 to 25", "invented", "too noisy")
	for _, d := range disturbances {
		fmt.Fprintf(&b, "\n%-18s", d.name)
		s := setting{disturbance: d, rows: 1, n: 10, sd: 0.005, margin: 0.01, worse: 0.03}
		fmt.Fprintf(&b, "%8.0f%%", 100*s.simulate(500).found)
		s.rows = 12
		fmt.Fprintf(&b, "%8.0f%%", 100*s.simulate(500).found)
		s.max = 25
		fmt.Fprintf(&b, "%11.0f%%", 100*s.simulate(500).found)
		s.max, s.worse = 0, 0
		equal := s.simulate(500)
		fmt.Fprintf(&b, "%11.1f%%%11.0f%%", 100*equal.alarms, 100*equal.tooNoisy)
	}
	golden.Assert(t, b.String()+"\n", "drift.golden")
}

// TestNoisyRow has a row that is 30 % worse beside a row that is too noisy for its margin: the
// regression is found all the same.
func TestNoisyRow(t *testing.T) {
	for _, rows := range []int{2, 20, 40} {
		s := setting{disturbance: disturbances[0], rows: rows, n: 10, sd: 0.001, noisy: 0.05, margin: 0.02, worse: 0.3}
		assert.Equal(t, s.simulate(100).found, 1.0, "%d rows", rows)
	}
}

// TestEqualVersions has equal versions whose noise is near the margin: most comparisons of
// ten rounds are judged, and nearly all that may go on.
func TestEqualVersions(t *testing.T) {
	s := setting{disturbance: disturbances[0], rows: 3, n: 10, sd: 0.015, margin: 0.02}
	o := s.simulate(200)
	t.Logf("10 rounds: %+v", o)
	assert.Assert(t, o.tooNoisy <= 0.3, "%+v", o)
	s.max = 25
	o = s.simulate(200)
	t.Logf("10 to 25 rounds: %+v", o)
	assert.Assert(t, o.tooNoisy <= 0.02, "%+v", o)
}

// TestUnpaired compares samples that are not pairs, of different numbers and spreads. The
// false alarms without a margin stay near the level. The doc comment of package gate states
// the largest shares with LLMBENCH_FULL set.
func TestUnpaired(t *testing.T) {
	trials := 2000
	if full() {
		trials = 100_000
	}
	for _, c := range []struct {
		n1, n2, rows int
		ratio        float64
	}{{30, 8, 1, 4}, {100, 10, 1, 5}, {30, 8, 1, 0.25}, {8, 30, 1, 4}, {10, 10, 1, 1}, {6, 6, 1, 1}, {10, 10, 12, 1}, {30, 8, 12, 4}, {100, 10, 12, 5}, {100, 10, 12, 1}, {30, 12, 40, 4}} {
		r := rand.New(rand.NewPCG(uint64(c.n1), uint64(c.n2)))
		alarms := 0
		for range trials / c.rows {
			cells := make([]Cell, c.rows)
			for i := range cells {
				cells[i] = Cell{Better: 2*(i%2) - 1,
					Old: each(c.n1, func(int) float64 { return normal(r, 0.01) }), New: each(c.n2, func(int) float64 { return normal(r, 0.01*c.ratio) })}
			}
			for _, p := range Test(cells, c.rows) {
				if AtMost(p.Adjusted, alpha) {
					alarms++
					break
				}
			}
		}
		got := float64(alarms) / float64(trials/c.rows)
		t.Logf("%d against %d samples, %v times the spread, %d rows: %.2f%%", c.n1, c.n2, c.ratio, c.rows, 100*got)
		most := limit(trials / c.rows)
		if c.rows > 1 { // at the small levels of Holm's method, the t-distribution is an approximation
			most += 0.01
		}
		assert.Assert(t, got <= most, "%+v: %v", c, got)
	}
}
