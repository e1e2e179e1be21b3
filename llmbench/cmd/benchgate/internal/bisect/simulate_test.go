package bisect

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
)

var simulated = flag.Int("simulated", 0, "simulate this `number` of bisections for each line of TestSimulate's table")

// A world is a scenario of TestSimulate: 30 commits, of which one is worse than the one before it.
type world struct {
	name     string
	step     float64 // how much worse that commit is, as a share
	margin   float64 // how much worse is allowed, as a share
	noise    float64 // the standard deviation of one sample, as a share
	outliers float64 // the probability that a sample is 30 % worse
	skipped  float64 // the probability that a commit does not build
	second   float64 // a later commit is worse by this share, too
	found    int     // want the right commit in at least this number of 20 bisections
	slow     bool    // simulated only with -simulated
}

const worldCommits = 30

var worlds = []world{
	{name: "5%, noise 1%", step: 0.05, margin: 0.02, noise: 0.01, found: 19, slow: true},
	{name: "5%, noise 2%", step: 0.05, margin: 0.02, noise: 0.02, found: 19},
	{name: "3%, noise 1%", step: 0.03, margin: 0.01, noise: 0.01, found: 19, slow: true},
	{name: "3%, noise 2%", step: 0.03, margin: 0.01, noise: 0.02, found: 19},
	{name: "5%, noise 2%, outliers", step: 0.05, margin: 0.02, noise: 0.02, outliers: 0.05, found: 17, slow: true},
	{name: "5%, noise 2%, 3 of 10 do not build", step: 0.05, margin: 0.02, noise: 0.02, skipped: 0.3, found: 19},
	{name: "5%, then 5%, noise 2%", step: 0.05, margin: 0.02, noise: 0.02, second: 0.05, found: 17, slow: true},
	{name: "1% and 1.5%, margin 2%, noise 1%", step: 0.01, margin: 0.02, noise: 0.01, second: 0.015, found: 0, slow: true},
}

// A simulation is one history of commits.
type simulation struct {
	world
	rng           *rand.Rand
	first, second int // the commits that are worse than the one before
	skipped       [worldCommits + 1]bool
}

func (w world) simulation(seed uint64) *simulation {
	s := &simulation{world: w, rng: rand.New(rand.NewPCG(seed, 7))}
	s.first = 1 + s.rng.IntN(worldCommits)
	if w.second > 0 {
		s.first = 1 + s.rng.IntN(worldCommits-1)
		s.second = s.first + 1 + s.rng.IntN(worldCommits-s.first)
	}
	for i := 1; i < worldCommits; i++ {
		s.skipped[i] = s.rng.Float64() < w.skipped && i != s.first && i != s.first-1
	}
	return s
}

// sample measures a commit once.
func (s *simulation) sample(commit int) float64 {
	v := 100 * math.Exp(s.noise*s.rng.NormFloat64())
	if commit >= s.first {
		v *= 1 + s.step
	}
	if s.second > 0 && commit >= s.second {
		v *= 1 + s.world.second
	}
	if s.rng.Float64() < s.outliers {
		v *= 1.3
	}
	return v
}

func (s *simulation) pair(old, new int) float64 { return math.Log(s.sample(new) / s.sample(old)) }

// An end is the result of one way to bisect.
type end struct {
	commit int // 0 if none was named
	pairs  int
	builds int
}

// noisy bisects as benchgate bisect does.
func (s *simulation) noisy(t *testing.T) end {
	verdict, first := s.full(t, worldCommits)
	e := end{pairs: len(first), builds: 2}
	if verdict != gate.Regression {
		return e
	}
	search, err := New(Options{Commits: worldCommits, Margin: math.Log1p(s.margin), Alpha: gate.DefaultAlpha, First: first})
	if err != nil {
		return e
	}
	built := map[int]bool{0: true, worldCommits: true}
	for e.pairs < 400 {
		c, ok := search.Next(func(commit int) float64 {
			if built[commit] {
				return 1
			}
			return 2 // a build takes as long as a pair
		})
		if !ok {
			break
		}
		if s.skipped[c.New] {
			search.Skip(c.New)
			continue
		}
		built[c.Old], built[c.New] = true, true
		search.Add(c, s.pair(c.Old, c.New))
		e.pairs++
	}
	e.builds = len(built)
	if c, ok := search.Named(); ok {
		e.commit = c.New
	}
	return e
}

// plain bisects with a whole comparison at each step. A commit of which nothing is shown counts as good.
func (s *simulation) plain(t *testing.T) end {
	verdict, first := s.full(t, worldCommits)
	e := end{pairs: len(first), builds: 2}
	if verdict != gate.Regression {
		return e
	}
	good, bad := 0, worldCommits
	for {
		var between []int
		for i := good + 1; i < bad; i++ {
			if !s.skipped[i] {
				between = append(between, i)
			}
		}
		if len(between) == 0 {
			e.commit = bad
			return e
		}
		middle := between[len(between)/2]
		verdict, pairs := s.full(t, middle)
		e.pairs, e.builds = e.pairs+len(pairs), e.builds+1
		if verdict == gate.Regression {
			bad = middle
		} else {
			good = middle
		}
	}
}

// full compares a commit with the good one, as benchgate ab -n=10 -max=50 does, and returns the verdict and the
// pairs.
func (s *simulation) full(t *testing.T, commit int) (gate.Verdict, []float64) {
	o := gate.Options{Planned: 10, Max: 50, RequireQuiet: true}
	looks := map[int]bool{}
	for _, l := range o.Looks() {
		looks[l.Samples] = true
	}
	var old, new strings.Builder
	var pairs []float64
	for {
		a, b := s.sample(0), s.sample(commit)
		pairs = append(pairs, math.Log(b/a))
		for _, side := range []struct {
			text  *strings.Builder
			value float64
		}{{&old, a}, {&new, b}} {
			fmt.Fprintf(side.text, "BenchmarkX 1 %v x/op\nPASS\n", side.value)
		}
		o.NewFirst = append(o.NewFirst, s.rng.IntN(2) == 1)
		if !looks[len(pairs)] {
			continue
		}
		units := strings.NewReader(fmt.Sprintf("Unit x/op better=lower gate=%v%%\n", 100*s.margin))
		r, err := gate.Compare(gate.File{Name: "units", Data: units}, gate.File{Name: "old", Data: strings.NewReader(old.String())},
			gate.File{Name: "new", Data: strings.NewReader(new.String())}, o)
		assert.NilError(t, err)
		assert.Equal(t, len(r.Problems), 0, "%v", r.Problems)
		if r.Settled {
			return r.Verdict, pairs
		}
	}
}

// TestSimulate checks how often the right commit is found among 30, and that hardly ever another one is named.
// With -simulated=200 -v it prints the figures that HISTORY.md of package gate has.
func TestSimulate(t *testing.T) {
	n := *simulated
	if n == 0 {
		n = 20
	}
	w := tabwriter.NewWriter(t.Output(), 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tright\tanother\tnone\tpairs: median\t90%\tcommits built\tplain bisection: right\tanother\tnone\tpairs: median\t90%\tcommits built\t")
	for _, line := range worlds {
		if line.slow && *simulated == 0 {
			continue
		}
		var ways [2]tally
		for seed := range n {
			ways[0].add(line.simulation(uint64(seed)), (*simulation).noisy, t)
			if *simulated > 0 {
				ways[1].add(line.simulation(uint64(seed)), (*simulation).plain, t)
			}
		}
		fmt.Fprintf(w, "%s\t%s%s\n", line.name, ways[0].cells(n), ways[1].cells(n))
		assert.Check(t, ways[0].right*20 >= line.found*n, "%s: %d of %d", line.name, ways[0].right, n)
		// If the rate is exactly 2.5 %, chance exceeds this limit in one of 1,000 lines.
		promised := gate.DefaultAlpha * float64(n)
		assert.Check(t, float64(ways[0].another) <= promised+3.1*math.Sqrt(promised)+1, "%s: %d of %d", line.name, ways[0].another, n)
	}
	w.Flush()
}

// A tally counts ends.
type tally struct {
	right, another int
	pairs, builds  []int
}

func (a *tally) add(s *simulation, way func(*simulation, *testing.T) end, t *testing.T) {
	e := way(s, t)
	switch {
	case e.commit == 0:
	case e.commit == s.first && s.step > s.margin:
		a.right++
	default:
		a.another++
	}
	a.pairs, a.builds = append(a.pairs, e.pairs), append(a.builds, e.builds)
}

func (a *tally) cells(n int) string {
	if len(a.pairs) == 0 {
		return ""
	}
	slices.Sort(a.pairs)
	slices.Sort(a.builds)
	percent := func(k int) string { return fmt.Sprintf("%.0f%%", 100*float64(k)/float64(n)) }
	return fmt.Sprintf("%s\t%s\t%s\t%d\t%d\t%d\t", percent(a.right), percent(a.another), percent(n-a.right-a.another),
		a.pairs[n/2], a.pairs[n*9/10], a.builds[n/2])
}
