package answer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
)

// A metric is what systems are compared by. Its value comes from the first unit in units that both
// rows have.
type metric struct {
	units []string
	sign  float64 // 1: higher is better, -1: lower is better
	says  string  // the format of a sentence, for the better system, the ratio and the other system
	equal string  // the name of the metric
}

// In a closed loop, the throughput at equal loads tells which system is faster. In an open loop,
// the throughput is only the rate of the arrivals, so the latency tells which system is faster.
var (
	throughput = metric{systems.Throughput, 1, "%s gives %s times the throughput of %s", "throughput"}
	latency    = metric{[]string{"p50-e2e-ns", "mean-e2e-ns"}, -1, "%s takes %s times the latency of %s", "latency"}
	firstToken = metric{[]string{"p50-ttft-ns", "mean-ttft-ns"}, -1, "the TTFT of %s is %s times that of %s", "TTFT"}
)

// significant is the largest p-value at which a difference counts as real. It holds for all
// comparisons of an answer together.
const significant = 0.05

// A pair is two systems that are compared at equal loads.
type pair struct {
	loads  []float64
	load   string
	ratios []float64 // the ratio of the medians at each load
	strata []stratum
	doubts int // the number of loads that are left out because a value is in doubt
	all    int // the number of all loads
}

// pairOf compares two systems by a metric, at each load that both have.
func pairOf(a, b *systems.System, m metric) (p pair) {
	var inDoubt pair
	for _, rows := range systems.Shared(a, b) {
		for _, unit := range m.units {
			x, y := rows[0].Values[unit], rows[1].Values[unit]
			if len(x) == 0 || len(y) == 0 {
				continue
			}
			mx, my := results.SpreadOf(x).Mid, results.SpreadOf(y).Mid
			if mx <= 0 || my <= 0 {
				break
			}
			to := &p
			if rows[0].Doubt(unit) != "" || rows[1].Doubt(unit) != "" {
				to = &inDoubt
			}
			load, v := rows[0].Load()
			to.load = load
			to.loads, to.ratios, to.strata = append(to.loads, v), append(to.ratios, mx/my), append(to.strata, stratum{x, y})
			break
		}
	}
	all, doubts := len(p.loads)+len(inDoubt.loads), len(inDoubt.loads)
	if len(p.loads) == 0 {
		p = inDoubt
	}
	p.all, p.doubts = all, doubts
	return p
}

// ratio returns the geometric mean of the ratios.
func (p *pair) ratio() float64 {
	sum := 0.0
	for _, r := range p.ratios {
		sum += math.Log(r)
	}
	return math.Exp(sum / float64(len(p.ratios)))
}

// spoken returns the ratio in words, with its range over the loads.
func (p *pair) spoken() string {
	low, high := times(slices.Min(p.ratios)), times(slices.Max(p.ratios))
	if low == high {
		return low
	}
	return fmt.Sprintf("%s (%s to %s)", times(p.ratio()), low, high)
}

// where returns in words at which loads the pair was compared.
func (p *pair) where() string {
	switch n := len(p.loads); {
	case p.load == "":
		return "at this load"
	case n == 1:
		return "at " + p.load + " " + loadText(p.load, p.loads[0])
	default:
		return fmt.Sprintf("at equal %s, %s to %s", p.load, chart.Brief(slices.Min(p.loads)), loadText(p.load, slices.Max(p.loads)))
	}
}

// A judgement says whether a difference is certain.
type judgement struct {
	sure bool
	says string
}

// judge returns how certain it is that the first system differs from the second. The parameter comparisons
// is the number of comparisons in the whole answer.
func (p *pair) judge(comparisons int, sign float64) judgement {
	chanceIs, atBest := chanceOf(p.strata)
	switch k := float64(comparisons); {
	case !slices.ContainsFunc(p.strata, func(s stratum) bool { return max(len(s.a), len(s.b)) > 1 }) || atBest*k > significant:
		return judgement{false, "cannot tell whether that is more than chance: " + p.samples() + " each"}
	default:
		wins, pairs := ahead(p.strata)
		if sign < 0 {
			wins = pairs - wins
		}
		q := min(1, chanceIs*k)
		start := "each sample is a fresh start"
		if len(p.strata) > 1 {
			start = "each sample at each load is a fresh start" // samples at different loads that share one start are not independent
		}
		said := fmt.Sprintf("ahead in %s of %s pairs of samples, %s if %s", chart.Brief(wins), chart.Brief(pairs), chance(q), start)
		return judgement{q <= significant, said}
	}
}

// apart tests each load by itself, and returns in words at which loads the systems differ by more
// than chance. It is needed when each system is the better one at some loads: then a test of all
// loads together does not show a difference.
func (p *pair) apart(comparisons int) string {
	var sure []string
	for i, s := range p.strata {
		if q, _ := chanceOf([]stratum{s}); q*float64(comparisons*len(p.strata)) <= significant {
			sure = append(sure, chart.Brief(p.loads[i]))
		}
	}
	if len(sure) == 0 {
		return "cannot tell whether that is more than chance: " + p.samples() + " at each load"
	}
	return fmt.Sprintf("more than chance at %s %s, if each sample is a fresh start", p.load, strings.Join(sure, ", "))
}

// samples returns in words how many samples each system has at a load.
func (p *pair) samples() string {
	least, most := math.MaxInt, 0
	for _, s := range p.strata {
		least, most = min(least, len(s.a), len(s.b)), max(most, len(s.a), len(s.b))
	}
	if least != most {
		return fmt.Sprintf("%d to %d samples", least, most)
	}
	return human.Plural(most, "sample")
}

// A comparison says how systems differ at equal loads.
type comparison struct {
	says    []string          // how the best system compares with each of the others
	systems []*systems.System // the systems that are named, the best first
	units   []string          // the units of the metric that was compared
}

// compared compares systems. If no two systems have a load in common, the comparison has no
// sentences.
func compared(all []*systems.System) (c comparison) {
	m := throughput
	if slices.ContainsFunc(all, func(s *systems.System) bool { return results.Open(s.Load) }) {
		m = latency
	}
	var candidates []*systems.System
	for _, s := range all {
		for _, o := range all {
			if p := pairOf(s, o, m); o != s && len(p.loads) > 0 && !slices.Contains(candidates, s) {
				candidates = append(candidates, s)
			}
		}
	}
	if len(candidates) < 2 {
		return c
	}
	best := candidates[0]
	for _, s := range candidates[1:] {
		if p := pairOf(s, best, m); len(p.loads) > 0 && m.sign*math.Log(p.ratio()) > 0 {
			best = s
		}
	}
	type other struct {
		*systems.System
		pair
	}
	var others []other
	for _, s := range candidates {
		if p := pairOf(best, s, m); s != best && len(p.loads) > 0 {
			others = append(others, other{s, p})
		}
	}
	slices.SortStableFunc(others, func(a, b other) int { return cmp.Compare(m.sign*a.ratio(), m.sign*b.ratio()) })
	c.systems, c.units = append(c.systems, best), m.units
	for i, o := range others {
		if i == maxNamed {
			c.says = append(c.says, fmt.Sprintf("%d further systems are slower still.", len(others)-i))
			break
		}
		c.says = append(c.says, o.sentence(best, o.System, m, len(others)))
		c.systems = append(c.systems, o.System)
	}
	return c
}

// crossed says at which loads each system is the better one. It returns "" unless each system is
// ahead by more than 2 % at some load.
func (p *pair) crossed(best, o string, sign float64) string {
	var ahead, behind []string
	most, least := 1.0, 1.0
	for i, r := range p.ratios {
		if sign < 0 {
			r = 1 / r
		}
		switch at := chart.Brief(p.loads[i]); {
		case r > 1.02:
			ahead, most = append(ahead, at), max(most, r)
		case r < 1/1.02:
			behind, least = append(behind, at), min(least, r)
		}
	}
	if len(ahead) == 0 || len(behind) == 0 {
		return ""
	}
	return fmt.Sprintf("%s is ahead at %s %s by up to %.3g %%, %s at %s by up to %.3g %%", best, p.load, strings.Join(ahead, ", "), 100*(most-1), o, strings.Join(behind, ", "), 100*(1/least-1))
}

// sentence returns a sentence that compares two systems. The better one is named first.
func (p *pair) sentence(best, o *systems.System, m metric, comparisons int) string {
	j := p.judge(comparisons, m.sign)
	said := fmt.Sprintf(m.says+" %s", best.Name, p.spoken(), o.Name, p.where())
	more := j.says
	if !j.sure && p.small() {
		said = fmt.Sprintf("%s and %s have about equal %s %s: the ratio is %s", best.Name, o.Name, m.equal, p.where(), p.spoken())
	} else if !j.sure && j.says[0] == 'a' {
		more += ", which may be chance"
	}
	parts := []string{said + " (" + more + ")"}
	if crossed := p.crossed(best.Name, o.Name, m.sign); crossed != "" {
		parts = []string{fmt.Sprintf("which has the greater %s depends on the load: %s", m.equal, crossed)}
		if m.sign < 0 {
			parts = []string{fmt.Sprintf("which has the smaller %s depends on the load: %s", m.equal, crossed)}
		}
		parts[0] = capital(parts[0]) + " (" + p.apart(comparisons) + ")"
	}
	if t := pairOf(best, o, firstToken); len(t.loads) > 0 {
		said := fmt.Sprintf(firstToken.says, best.Name, t.spoken(), o.Name)
		if len(t.loads) < len(p.loads) {
			said += " " + t.where()
		}
		parts = append(parts, said)
	}
	switch {
	case p.doubts == p.all:
		parts = append(parts, "but the figures are in doubt")
	case p.doubts > 0:
		parts = append(parts, fmt.Sprintf("%d of %s left out because figures are in doubt", p.doubts, human.Plural(p.all, "load")))
	}
	return sentence(parts...)
}

// small reports whether the systems differ by less than 2 %.
func (p *pair) small() bool { return math.Abs(math.Log(p.ratio())) < math.Log(1.02) }
