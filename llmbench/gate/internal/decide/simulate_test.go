package decide

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"
)

const alpha = 0.025 // must be equal to gate.DefaultAlpha

// A disturbance says how the values of a comparison vary. A value is 100 times two factors: one
// that all rows of a process share, and one of the row itself.
type disturbance struct {
	name string
	// shared returns the factors that all rows of a process share, for n processes in the order in
	// which they run.
	shared func(r *rand.Rand, n int) []float64
	// own returns one factor of a row itself. The relative standard deviation of such factors is
	// sd.
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

// heavy draws from Student's t distribution with 3 degrees of freedom, whose variance is 3.
func heavy(r *rand.Rand, sd float64) float64 {
	var chi float64
	for range 3 {
		z := r.NormFloat64()
		chi += z * z
	}
	return math.Exp(sd / math.Sqrt(3) * r.NormFloat64() / math.Sqrt(chi/3))
}

// tied is normal noise that is rounded to steps of one standard deviation.
func tied(r *rand.Rand, sd float64) float64 { return 1 + sd*math.Round(r.NormFloat64()) }

// linear is a drift of 10 % from the first process to the last.
func linear(r *rand.Rand, n int) []float64 {
	return each(n, func(i int) float64 { return 1 + 0.1*float64(i)/float64(n) })
}

// sine returns a periodic drift with an amplitude of 10 % and a random phase. The period is a
// number of processes.
func sine(period float64) func(r *rand.Rand, n int) []float64 {
	return func(r *rand.Rand, n int) []float64 {
		phase := r.Float64()
		return each(n, func(i int) float64 { return 1 + 0.1*math.Sin(2*math.Pi*(float64(i)/period+phase)) })
	}
}

// autoregressive returns noise with the standard deviation sd. The correlation of successive
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

// states simulates a machine that is either fast or 10 % slower. Before each process it changes
// from one to the other with a probability of 15 %.
func states(r *rand.Rand, n int) []float64 {
	slow := r.IntN(2)
	return each(n, func(int) float64 {
		if r.Float64() < 0.15 {
			slow = 1 - slow
		}
		return 1 + 0.1*float64(slow)
	})
}

// disturbed returns noise in which one of 20 values is 30 % larger.
func disturbed(r *rand.Rand, sd float64) float64 {
	if r.IntN(20) == 0 {
		return 1.3 * normal(r, sd)
	}
	return normal(r, sd)
}

// disturbedProcesses simulates machines on which one of 20 processes has values that are all 30 %
// larger.
func disturbedProcesses(r *rand.Rand, n int) []float64 {
	return each(n, func(int) float64 { return disturbed(r, 0) })
}

// disturbances holds the lines of the tables in the doc comment of package gate.
var disturbances = []disturbance{
	{"normal", steady, normal},
	{"heavy tails", steady, heavy},
	{"disturbed rows", steady, disturbed},
	{"disturbed processes", disturbedProcesses, normal},
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

// A setting is one kind of comparison. In every second row lower is better. In the others higher is
// better.
type setting struct {
	disturbance
	rows, n, max int
	sd           float64 // the standard deviation of the rows' own factors
	margin       float64
	worse        float64 // the share by which the first row is worse
	noisy        float64 // if not 0, the standard deviation of the last row
}

// random returns the random numbers of a comparison. They differ from setting to setting.
func (s setting) random(seed int) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprint(h, s.name, s.rows, s.n, s.max, s.sd, s.margin, s.worse, s.noisy)
	return rand.New(rand.NewPCG(h.Sum64(), uint64(seed)))
}

// take draws the samples of n rounds, whose order is random.
func (s setting) take(r *rand.Rand, n int) []Cell {
	shared, order, cells := s.shared(r, 2*n), make([]bool, n), make([]Cell, s.rows)
	for i := range order {
		order[i] = r.IntN(2) == 1
	}
	for i := range cells {
		c := Cell{Better: 2*(i%2) - 1, Margin: s.margin, NewFirst: order, Old: make([]float64, n), New: make([]float64, n)}
		sd, worse := s.sd, 0.0
		if s.noisy != 0 && i == len(cells)-1 {
			sd = s.noisy
		}
		if i == 0 {
			worse = s.worse
		}
		for round, newFirst := range order {
			old, new := 100*shared[2*round]*s.own(r, sd), 100*shared[2*round+1]*s.own(r, sd)
			if newFirst {
				old, new = new, old
			}
			c.Old[round], c.New[round] = old, new*(1+worse)
		}
		cells[i] = c
	}
	return cells
}

// simulateAB simulates benchgate ab. It adds rounds of samples in random order, and decides as
// benchgate ab does, until the decision is settled. It returns the decisions about the rows, and
// the number of rounds.
func simulateAB(r *rand.Rand, s setting) ([]Decision, int) {
	p := NewPlan(s.n, s.max, alpha)
	cells := s.take(r, p.Rounds)
	for n := 1; ; n++ {
		if all, settled := Decide(first(cells, n), len(cells), n, p, Rules{Quiet: true}); settled {
			return all, n
		}
	}
}

// first returns cells with only their first n rounds.
func first(cells []Cell, n int) []Cell {
	part := slices.Clone(cells)
	for i, c := range part {
		part[i].Old, part[i].New, part[i].NewFirst = c.Old[:n], c.New[:n], c.NewFirst[:n]
	}
	return part
}

// An outcome is the result of many simulated comparisons. Each field but rounds is a share of these
// comparisons.
type outcome struct {
	alarms   float64 // in which a row is a regression although it is not worse than its margin
	found    float64 // in which the first row is a regression
	noWorse  float64 // in which the first row is shown to be no worse
	tooNoisy float64 // in which no row is a regression, and some row is too noisy
	rounds   float64 // the mean number of rounds
}

// simulate simulates comparisons. The seeds begin at 0.
func (s setting) simulate(trials int) (total outcome) {
	var mu sync.Mutex
	parallel(0, trials, func(seed int) {
		var o outcome
		o.add(s, seed)
		mu.Lock()
		defer mu.Unlock()
		total = outcome{total.alarms + o.alarms, total.found + o.found, total.noWorse + o.noWorse, total.tooNoisy + o.tooNoisy, total.rounds + o.rounds}
	})
	n := float64(trials)
	return outcome{total.alarms / n, total.found / n, total.noWorse / n, total.tooNoisy / n, total.rounds / n}
}

// parallel calls f with successive seeds, of which the first is given. It uses all processors.
func parallel(first, trials int, f func(seed int)) {
	var group sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		group.Go(func() {
			for trial := w; trial < trials; trial += workers {
				f(first + trial)
			}
		})
	}
	group.Wait()
}

// falseAlarms returns what simulate(trials).alarms would be for equal versions, with seeds from
// first on. It takes less time.
func (s setting) falseAlarms(first, trials int) float64 {
	var alarms atomic.Int64
	parallel(first, trials, func(seed int) {
		if s.raisesAlarm(seed) {
			alarms.Add(1)
		}
	})
	return float64(alarms.Load()) / float64(trials)
}

// raisesAlarm reports whether some row is a regression at one of the looks.
func (s setting) raisesAlarm(seed int) bool {
	p := NewPlan(s.n, s.max, alpha)
	cells := s.take(s.random(seed), p.Rounds)
	return slices.ContainsFunc(p.Looks, func(l Look) bool { return rejectsAny(first(cells, l.Samples), l.Alpha) })
}

// rejectsAny reports whether testPairs finds a regression at alpha. That is so if the row with the
// largest statistic is a regression. The function ends as soon as too many exchanges give a
// statistic that is as large. A few rows are usually enough for that.
func rejectsAny(cells []Cell, alpha float64) bool {
	tests := make([]pairedTest, len(cells))
	top := math.Inf(-1)
	for i, c := range cells {
		tests[i] = newPairedTest(c.differences())
		top = max(top, tests[i].statistic)
	}
	f := flips(len(cells[0].Old))
	flipped, reached, count := make([]float64, f.ways), make([]bool, f.ways), 0
	for _, t := range tests {
		if math.IsInf(t.statistic, -1) {
			continue
		}
		f.sums(t.differences, flipped)
		for way, v := range flipped {
			if v >= top-rounding && !reached[way] {
				reached[way] = true
				count++
			}
		}
		if !AtMost(float64(count)/float64(f.ways), alpha) {
			return false
		}
	}
	return count > 0
}

// add simulates one comparison, and adds its result.
func (o *outcome) add(s setting, seed int) {
	all, rounds := simulateAB(s.random(seed), s)
	o.rounds += float64(rounds)
	alarm, noisy := false, false
	for i, d := range all {
		alarm = alarm || d.Outcome == Regression && (i > 0 || s.worse <= s.margin)
		noisy = noisy || d.Outcome == TooNoisy || d.Outcome == TooFew
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

// limit returns the largest share of trials in which an event with probability alpha may happen. It
// is alpha plus three standard errors.
func limit(trials int) float64 { return alpha + 3*math.Sqrt(alpha/float64(trials)) }

// mostByChance returns the largest share that a cell may have if each of its trials has the
// probability alpha. It is large enough that the probability that any of the cells has a larger
// share is at most 1 % (by Bonferroni, and the binomial distribution).
func mostByChance(trials, cells int) float64 {
	term := math.Pow(1-alpha, float64(trials)) // the probability of k events
	tail := 1 - term                           // the probability of more than k events
	k := 0
	for ; tail > 0.01/float64(cells); k++ {
		term *= float64(trials-k) / float64(k+1) * alpha / (1 - alpha)
		tail -= term
	}
	return float64(k) / float64(trials)
}

// full reports whether to simulate everything that the doc comment of package gate reports. That
// takes long.
func full() bool { return os.Getenv("LLMBENCH_FULL") != "" }

// TestFalseAlarms compares equal versions. There is no margin, because then false alarms are most
// frequent. With LLMBENCH_FULL set, it makes the table in the doc comment of package gate.
//
// Many cells of a table are above alpha by chance. If a cell is above alpha by more than two
// standard errors, it is simulated again, with different random numbers and five times as many
// trials. Then only the second result counts. TestFalseAlarmsAreExact shows the same without
// chance.
func TestFalseAlarms(t *testing.T) {
	counts, ns, sds, trials := []int{1, 3, 12, 40, 200}, []int{6, 10, 15, 25}, []float64{0.003, 0.01, 0.05}, 2000
	if !full() {
		counts, ns, sds, trials = []int{3}, []int{6, 10}, []float64{0.01}, 200
	}
	cells := len(disturbances) * len(counts) * len(ns) * len(sds)
	again, largest, largestAgain := 0, 0.0, 0.0
	share := func(s setting) float64 {
		got := s.falseAlarms(0, trials)
		if got <= alpha+2*math.Sqrt(alpha/float64(trials)) {
			largest = max(largest, got)
			return got
		}
		again++
		second := s.falseAlarms(trials, 5*trials)
		t.Logf("%s, %d rows, %d rounds, sd %v: %.2f%%, again: %.2f%%", s.name, s.rows, s.n, s.sd, 100*got, 100*second)
		largestAgain = max(largestAgain, second)
		return second
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-20s", "gated rows")
	for _, rows := range counts {
		fmt.Fprintf(&b, "%7d", rows)
	}
	for _, d := range disturbances {
		fmt.Fprintf(&b, "\n%-20s", d.name)
		for _, rows := range counts {
			mean := 0.0
			for _, n := range ns {
				for _, sd := range sds {
					mean += share(setting{disturbance: d, rows: rows, n: n, sd: sd}) / float64(len(ns)*len(sds))
				}
			}
			fmt.Fprintf(&b, "%6.1f%%", 100*mean)
		}
		t.Logf("so far:\n%s", &b)
	}
	fmt.Fprintf(&b, "\n%d cells of %d trials: at most %.1f%%\n", cells-again, trials, 100*largest)
	fmt.Fprintf(&b, "%d cells of %d trials: at most %.1f%%\n", again, 5*trials, 100*largestAgain)
	assert.Assert(t, largestAgain <= mostByChance(5*trials, cells), "%s", &b)
	t.Logf("by chance at most %.2f%%", 100*mostByChance(5*trials, cells))
	if full() {
		golden.Assert(t, b.String(), "false_alarms.golden")
	}
}

// TestFasterAlarms compares falseAlarms with a simulation of benchgate ab.
func TestFasterAlarms(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	t.Parallel()
	for _, d := range disturbances {
		for _, n := range []int{6, 10} {
			s := setting{disturbance: d, rows: 3, n: n, sd: 0.01}
			assert.Equal(t, s.falseAlarms(0, 200), s.simulate(200).alarms, "%s, %d rounds", d.name, n)
		}
	}
	s := setting{disturbance: disturbances[0], rows: 40, n: 15, sd: 0.01}
	assert.Equal(t, s.falseAlarms(0, 100), s.simulate(100).alarms)
}

// TestPower looks for a loss of 5 % in one row. The margin is 2 %. With LLMBENCH_FULL set, it makes
// the table in the doc comment of package gate.
func TestPower(t *testing.T) {
	t.Parallel()
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

// TestDrift looks for a loss of 3 % in one row. The margin is 1 %, and the standard deviation is
// 0.5 %. It uses all disturbances, and also compares equal versions. With LLMBENCH_FULL set, it
// makes the table in the doc comment of package gate.
func TestDrift(t *testing.T) {
	if !full() {
		for _, d := range disturbances[10:12] { // those with periods of 40 and 20 processes
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
	fmt.Fprintf(&b, "%-20s%9s%9s%12s%12s%12s", "", "1 row", "12 rows", "10 to 25", "invented", "too noisy")
	for _, d := range disturbances {
		fmt.Fprintf(&b, "\n%-20s", d.name)
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

// TestNoisyRow has one row that is 30 % worse, and one that is too noisy for its margin. The
// regression must be found in spite of the noisy row.
func TestNoisyRow(t *testing.T) {
	for _, rows := range []int{2, 20, 40} {
		s := setting{disturbance: disturbances[0], rows: rows, n: 10, sd: 0.001, noisy: 0.05, margin: 0.02, worse: 0.3}
		assert.Equal(t, s.simulate(100).found, 1.0, "%d rows", rows)
	}
}

// TestEqualVersions compares equal versions whose noise is close to the margin. Most comparisons
// with ten rounds must be judged, and nearly all of those that may add rounds.
func TestEqualVersions(t *testing.T) {
	t.Parallel()
	s := setting{disturbance: disturbances[0], rows: 3, n: 10, sd: 0.015, margin: 0.02}
	o := s.simulate(200)
	t.Logf("10 rounds: %+v", o)
	assert.Assert(t, o.tooNoisy <= 0.3, "%+v", o)
	s.max = 25
	o = s.simulate(200)
	t.Logf("10 to 25 rounds: %+v", o)
	assert.Assert(t, o.tooNoisy <= 0.02, "%+v", o)
}

// TestWithheld makes the table about rows that lack values, in the doc comment of package gate. One
// of ten values is 30 % larger, and such values are withheld on both sides or on one side. If a
// side then lacks more than a fifth of its values, the comparison is refused, as in package gate.
func TestWithheld(t *testing.T) {
	const trials = 2000
	slow := disturbance{"", steady, func(r *rand.Rand, sd float64) float64 {
		if r.IntN(10) == 0 {
			return 1.3 * normal(r, sd)
		}
		return normal(r, sd)
	}}
	var b strings.Builder
	fmt.Fprintf(&b, "%-20s%10s%10s%10s%10s", "withheld", "refused", "equal", "2% worse", "5% worse")
	for _, c := range []struct {
		name     string
		old, new bool
	}{{"nothing", false, false}, {"on both sides", true, true}, {"only old", true, false}, {"only new", false, true}} {
		fmt.Fprintf(&b, "\n%-20s", c.name)
		for _, worse := range []float64{0, 0.02, 0.05} {
			s := setting{disturbance: slow, rows: 1, n: 10, sd: 0.01, margin: 0.02, worse: worse}
			var refused, found atomic.Int64
			parallel(0, trials, func(seed int) {
				cell := s.take(s.random(seed), s.n)[0]
				var old, new, rounds []int // the rounds that lack a value
				for i := range cell.Old {
					if c.old && cell.Old[i] > 115 {
						old, rounds = append(old, i), append(rounds, i)
					}
					if c.new && cell.New[i] > 115*(1+worse) {
						new, rounds = append(new, i), append(rounds, i)
					}
				}
				if 5*max(len(old), len(new)) > s.n {
					refused.Add(1)
				} else if rejectsAny([]Cell{cell.without(rounds)}, alpha) {
					found.Add(1)
				}
			})
			judged := trials - float64(refused.Load())
			if worse == 0 {
				fmt.Fprintf(&b, "%9.1f%%", 100*(1-judged/trials))
			}
			fmt.Fprintf(&b, "%9.1f%%", 100*float64(found.Load())/judged)
		}
	}
	golden.Assert(t, b.String()+"\n", "withheld.golden")
}

// TestUnpaired compares samples that are not pairs. Their numbers and their spreads differ. Without
// a margin, the share of false alarms must stay near the level. With LLMBENCH_FULL set, it finds
// the largest shares, which the doc comment of package gate reports.
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
		assert.Assert(t, got <= limit(trials/c.rows), "%+v: %v", c, got)
	}
}
