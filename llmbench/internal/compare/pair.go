package compare

import (
	"math"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/robust"
)

// A System is what was measured of a server.
type System struct {
	Name   string
	Work   string  // what the server was asked to do; systems with different work are not compared
	Points []Point // one for each load, the smallest load first
}

// A Point has what was measured at a load. The values of several runs are in the order of the runs.
type Point struct {
	Load  float64   // 0 if the load is unknown
	Unit  string    // the unit of Speed; points with different units are not compared
	Speed []float64 // in a closed loop the throughput, in an open loop the E2E latency; nil if unknown
	TTFT  []float64 // nil if unknown, or if it may be wrong
	Doubt bool      // Speed may be wrong
	Known bool      // Kept is known
	Kept  float64   // the share of the requests that kept the SLO, from 0 to 1
	Lost  float64   // the share of the requests that were shed or failed, from 0 to 1
	Added []Added   // what the system adds to the latencies of the system behind it; nil if that was not measured
	// PerCore is how many requests the system serves in a second of CPU time; nil if unknown.
	PerCore []float64
}

// An Added is how much longer a latency is through a system than without it.
type Added struct {
	To       string // what takes longer, such as "the first token"
	Interval        // in milliseconds
	// P99 is the 99th percentile in milliseconds, if HasP99 is true.
	P99    float64
	HasP99 bool
}

// Open reports whether a load is a rate of arrivals. Otherwise it is a number of users.
func Open(key string) bool { return key == "rate" || key == "qps" }

// A pair is two systems that are compared by a metric at the loads that both have.
type pair struct {
	key    string
	names  [2]string
	loads  []float64
	ratios []float64 // the ratio of the medians at each load
	strata []stratum
	lost   [2][]float64 // of each system, the share of the requests that it did not answer at each load
	sign   float64      // 1 if more is better, or -1
	doubts int          // the number of loads that are left out because a value is in doubt
	all    int          // the number of all loads that both have
	left   int          // the number of loads of one or both of the systems that are not in loads
}

// speeds compares two systems by what makes a system fast.
func speeds(key string, a, b *System) *pair {
	p := pairOf(key, a, b, func(p *Point) []float64 { return p.Speed }, func(p *Point) bool { return p.Doubt })
	if p.sign = 1; Open(key) {
		p.sign = -1
	}
	return p
}

// firstTokens compares two systems by the TTFT.
func firstTokens(key string, a, b *System) *pair {
	p := pairOf(key, a, b, func(p *Point) []float64 { return p.TTFT }, func(*Point) bool { return false })
	p.sign = -1
	return p
}

// pairOf compares two systems at each load that both have. Loads with a value in doubt are left out, unless all are
// in doubt.
func pairOf(key string, a, b *System, of func(*Point) []float64, doubtful func(*Point) bool) *pair {
	p := &pair{key: key, names: [2]string{a.Name, b.Name}}
	inDoubt := *p
	if a.Work != b.Work {
		return p
	}
	for i := range a.Points {
		j := slices.IndexFunc(b.Points, func(q Point) bool { return q.Load == a.Points[i].Load })
		if j < 0 {
			continue
		}
		x, y := &a.Points[i], &b.Points[j]
		if len(of(x)) == 0 || len(of(y)) == 0 || x.Unit != y.Unit {
			continue
		}
		mx, my := robust.Median(of(x)), robust.Median(of(y))
		if mx <= 0 || my <= 0 {
			continue
		}
		to := p
		if doubtful(x) || doubtful(y) {
			to = &inDoubt
		}
		to.loads, to.ratios, to.strata = append(to.loads, x.Load), append(to.ratios, mx/my), append(to.strata, stratum{of(x), of(y)})
		to.lost[0], to.lost[1] = append(to.lost[0], x.Lost), append(to.lost[1], y.Lost)
	}
	n, doubts := len(p.loads)+len(inDoubt.loads), len(inDoubt.loads)
	if len(p.loads) == 0 {
		*p = inDoubt
	}
	p.all, p.doubts = n, doubts
	loads := map[float64]bool{}
	for _, q := range slices.Concat(a.Points, b.Points) {
		loads[q.Load] = true
	}
	p.left = len(loads) - len(p.loads)
	return p
}

// partial reports whether a load of one of the systems is left out: because a value is in doubt or was withheld, or because
// only one of them has the load.
func (p *pair) partial() bool { return p.left > 0 }

// mean returns the geometric mean of the ratios.
func (p *pair) mean() float64 { return meanOf(p.ratios) }

func meanOf(ratios []float64) float64 {
	sum := 0.0
	for _, r := range ratios {
		sum += math.Log(r)
	}
	return math.Exp(sum / float64(len(ratios)))
}

// Equal is the largest ratio at which systems count as about equal.
const Equal = 1.02

// split returns the indexes of the loads at which the first system is the better one, those at which both are about
// equal, and those at which the second system is the better one. If the first system seems to be better at some loads and the second one
// at others, a load whose interval does not say which one is better counts as about equal.
func (p *pair) split() (ahead, even, behind []int) {
	if ahead, even, behind = p.splitBy(func(int) bool { return false }); len(ahead) == 0 || len(behind) == 0 {
		return ahead, even, behind
	}
	return p.splitBy(func(i int) bool { return RatioOf(p.strata[i].a, p.strata[i].b).Undecided() })
}

// splitBy is split in which the loads for which equal returns true count as about equal.
func (p *pair) splitBy(equal func(i int) bool) (ahead, even, behind []int) {
	for i, r := range p.ratios {
		if p.sign < 0 {
			r = 1 / r
		}
		switch {
		case r >= 1/Equal && r <= Equal || equal(i):
			even = append(even, i)
		case r > Equal:
			ahead = append(ahead, i)
		default:
			behind = append(behind, i)
		}
	}
	return ahead, even, behind
}
