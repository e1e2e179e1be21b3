package compare

import (
	"fmt"
	"slices"
	"strings"
)

// paragraph says how the two systems compare. The parameter comparisons is the number of pairs of systems in the
// whole answer.
func (p *pair) paragraph(first *pair, slo string, comparisons int) string {
	says := p.faster()
	if lost := p.unanswered(); lost != "" {
		says = append(says, lost)
	}
	family := p.family(first, comparisons)
	said, sure, _ := p.sure(family)
	if token := first.sooner(); token != "" {
		if earlier, _, later := first.split(); sure != Preliminary && len(earlier)+len(later) > 0 && !first.decides(family) {
			token += ", which may be chance"
		}
		says = append(says, token)
	}
	if slo != "" {
		says = append(says, slo)
	}
	says = append(says, said)
	switch {
	case p.doubts == p.all:
		says = append(says, "The figures are in doubt: see the warnings")
	case p.doubts > 0:
		says = append(says, fmt.Sprintf("%d of %d loads %s not judged because figures are in doubt", p.doubts, p.all, map[bool]string{true: "is", false: "are"}[p.doubts == 1]))
	}
	return strings.Join(says, ". ") + "."
}

// family returns the number of tests of an answer with so many comparisons.
func (p *pair) family(first *pair, comparisons int) int {
	tests := 1 // of all loads together
	if len(p.strata) > 1 {
		tests++ // of each load
	}
	if len(first.strata) > 0 {
		tests++ // of the TTFT
	}
	return tests * comparisons
}

// faster says at which loads each of the systems is faster, and by how much.
func (p *pair) faster() (says []string) {
	ahead, even, behind := p.split()
	if len(ahead)+len(behind) == 0 {
		low, high := fmt.Sprintf("%.3f", slices.Min(p.ratios)), fmt.Sprintf("%.3f", slices.Max(p.ratios))
		what := "are about equally fast"
		if p.sign < 0 {
			what = "have about equal latency"
		}
		said := strings.TrimSpace(fmt.Sprintf("%s and %s %s %s", p.names[0], p.names[1], what, p.where(even))) + ": the ratio is " + low
		if low != high {
			said += " to " + high
		}
		return []string{said}
	}
	if len(ahead) > 0 {
		says = append(says, p.lead(0, ahead))
	}
	switch {
	case len(behind) > 0 && len(ahead) == 0:
		says = append(says, p.lead(1, behind))
	case len(behind) > 0:
		says = append(says, capital(p.where(behind))+" "+p.names[1]+" "+p.ahead(behind))
	}
	if len(even) > 0 {
		says = append(says, capital(p.where(even))+" both are about equal")
	}
	return says
}

// lead says that a system is the better one at some loads.
func (p *pair) lead(better int, at []int) string {
	name, other := p.names[better], p.names[1-better]
	r := p.better(at[0])
	switch {
	case len(at) == 1 && p.sign < 0:
		return join(fmt.Sprintf("%s answers in %.2f times the latency of %s", name, r, other), p.where(at))
	case len(at) == 1 && r < 1.1:
		return join(fmt.Sprintf("%s is %.0f %% faster than %s", name, 100*(r-1), other), p.where(at))
	case len(at) == 1:
		return join(fmt.Sprintf("%s is %.2f times as fast as %s", name, r, other), p.where(at))
	case p.sign < 0:
		return fmt.Sprintf("%s answers sooner than %s %s: in %s", name, other, p.where(at), p.values(at))
	}
	return fmt.Sprintf("%s is faster than %s %s: %s", name, other, p.where(at), p.values(at))
}

// ahead is the predicate of a sentence about the system that is the better one at some loads.
func (p *pair) ahead(at []int) string {
	r := p.better(at[0])
	switch {
	case len(at) == 1 && p.sign < 0:
		return fmt.Sprintf("answers in %.2f times the latency", r)
	case len(at) == 1 && r < 1.1:
		return fmt.Sprintf("is %.0f %% ahead", 100*(r-1))
	case len(at) == 1:
		return fmt.Sprintf("is %.2f times as fast", r)
	case p.sign < 0:
		return "answers sooner: in " + p.values(at)
	}
	return "is faster: " + p.values(at)
}

// better returns the ratio at a load, as the better system's multiple of the other's value.
func (p *pair) better(i int) float64 {
	r := p.ratios[i]
	if p.sign > 0 && r < 1 || p.sign < 0 && r > 1 {
		return 1 / r
	}
	return r
}

// values says the ratios at some loads: at the first, the middle and the last one if there are many.
func (p *pair) values(at []int) string {
	of := " times"
	if p.sign < 0 {
		of = " times the latency"
	}
	var ratios []float64
	for _, i := range at {
		ratios = append(ratios, p.better(i))
	}
	if slices.Max(ratios) < Equal*slices.Min(ratios) {
		return fmt.Sprintf("%.2f%s", meanOf(ratios), of)
	}
	if len(at) > 3 {
		at = []int{at[0], at[(len(at)-1)/2], at[len(at)-1]}
	}
	var said []string
	for n, i := range at {
		text := fmt.Sprintf("%.2f", p.better(i))
		if n == 0 {
			text += of
		}
		if p.loads[i] == 1 && !Open(p.key) {
			text += " for one"
		} else {
			text += " at " + number(p.loads[i])
		}
		said = append(said, text)
	}
	return strings.Join(said, ", ")
}

// unanswered says how many requests the systems did not answer. It returns "" if each system answered more than 99 %
// at each load.
func (p *pair) unanswered() string {
	var said []string
	for i, shares := range p.lost {
		var at []int
		var those []float64
		for j, share := range shares {
			if share >= 0.01 {
				at, those = append(at, j), append(those, share)
			}
		}
		if len(at) == 0 {
			continue
		}
		amount := fmt.Sprintf("%.0f %%", 100*slices.Max(those))
		if slices.Min(those) < slices.Max(those) {
			amount = "up to " + amount
		}
		if len(said) == 0 {
			said = append(said, join(fmt.Sprintf("%s did not answer %s of the requests", p.names[i], amount), p.where(at)))
		} else {
			said = append(said, join(fmt.Sprintf("%s %s", p.names[i], amount), p.where(at)))
		}
	}
	return strings.Join(said, ", and ")
}

// sooner says how much later or sooner the first token of the first system comes. It returns "" if no TTFT is known.
func (p *pair) sooner() string {
	if len(p.ratios) == 0 {
		return ""
	}
	earlier, even, later := p.split()
	amount := func(at []int) string {
		var ratios []float64
		for _, i := range at {
			ratios = append(ratios, p.ratios[i])
		}
		low, high := slices.Min(ratios), slices.Max(ratios)
		switch r := meanOf(ratios); {
		case high > 1.2*low:
			return fmt.Sprintf("takes %.2f to %.2f times as long", low, high)
		case r >= 1.5 || r <= 1/1.5:
			return fmt.Sprintf("takes %.2f times as long", r)
		case r > 1:
			return fmt.Sprintf("comes %.0f %% later", 100*(r-1))
		default:
			return fmt.Sprintf("comes %.0f %% sooner", 100*(1-r))
		}
	}
	said := "The first token of " + p.names[0] + " "
	switch {
	case len(earlier)+len(later) == 0:
		return said + "comes at about the same time"
	case len(earlier) > 0 && len(later) > 0:
		return said + amount(earlier) + " " + p.where(earlier) + ", and " + amount(later) + " " + p.where(later)
	case len(even) > 0:
		return said + amount(append(earlier, later...)) + " " + p.where(append(earlier, later...))
	}
	return said + amount(append(earlier, later...))
}
