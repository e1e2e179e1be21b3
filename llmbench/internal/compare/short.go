package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/robust"
)

// A Short is the first paragraph of a comparison in a few words.
type Short struct {
	Sentence string // at most MaxWords words, unless the names of the systems are long
	Winner   string // the system that is the better one wherever the two differ; "" if there is none
	Where    string // if there is no winner: who is ahead where, or that they are about equal
	Sure     Sure
	Why      string // what Sure is based on, such as "ahead in 16 of 16 pairs of runs, p = 0.029"
	Next     string // what to measure next to be sure; "" if nothing is missing
}

// MaxWords is the largest number of words of a short sentence.
const MaxWords = 20

// Sure says how sure the differences between two systems are.
type Sure string

// These are the values of Sure.
const (
	Shown       Sure = "more than chance"
	Partly      Sure = "in part more than chance"
	Preliminary Sure = "preliminary"
	Chance      Sure = "may be chance"
	Doubtful    Sure = "in doubt"
	Same        Sure = "no difference is shown"
)

// short says in a few words how two of all systems compare, or, if others lead too, which systems lead. The parameter
// family is the number of tests of the answer.
func (p *pair) short(family int, all []*System) (s Short) {
	_, s.Sure, s.Why = p.sure(family)
	if p.doubts == p.all {
		s.Sure, s.Why = Doubtful, "see the warnings"
	}
	if s.Sure == Preliminary {
		s.Next = fmt.Sprintf("make %d fresh runs of each", max(p.needed(family), Fewest))
	}
	ahead, even, behind := p.split()
	if s.Sure == Chance && len(ahead)+len(behind) == 0 {
		s.Sure = Same
	}
	before := ""
	switch {
	case s.Sure == Preliminary, s.Sure == Chance, s.Sure == Doubtful:
		before = capital(string(s.Sure)) + ": "
	case len(all) > 2:
		before = fmt.Sprintf("Of %d systems, ", len(all))
	}
	var forms []string // the longest first
	leaders, loads := leaders(all, p.sign)
	switch {
	case len(all) > 2 && (len(leaders) > 1 || len(leaders) == 1 && !slices.Contains(p.names[:], leaders[0].name)):
		var parts []string
		for _, l := range leaders {
			parts = append(parts, l.name+" "+p.within(l.loads, loads))
		}
		s.Where = "on the load, see the table"
		s.Why = fmt.Sprintf("%s against %s: %s", p.names[0], p.names[1], s.Why)
		last := leaders[len(leaders)-1]
		forms = []string{fmt.Sprintf("of %d systems the fastest is %s", len(all), strings.Join(parts, ", and "))}
		if len(leaders) > 1 {
			forms = append(forms, fmt.Sprintf("of %d systems %d lead, %s %s and %s %s", len(all), len(leaders), leaders[0].name, p.within(leaders[0].loads, loads), last.name, p.within(last.loads, loads)))
		}
		forms = append(forms, fmt.Sprintf("which of %d systems leads depends on the load", len(all)))
		if before = strings.TrimSuffix(before, fmt.Sprintf("Of %d systems, ", len(all))); before == "" {
			for i := range forms {
				forms[i] = capital(forms[i])
			}
		}
	case len(ahead)+len(behind) == 0:
		what := "are about equally fast"
		if p.sign < 0 {
			what = "have about equal latency"
		}
		s.Where = "about equal"
		forms = []string{join(fmt.Sprintf("%s and %s %s", p.names[0], p.names[1], what), p.every(even))}
	case len(ahead) > 0 && len(behind) > 0:
		s.Where = fmt.Sprintf("%s %s, %s %s", p.names[0], p.where(ahead), p.names[1], p.where(behind))
		forms = []string{
			fmt.Sprintf("%s is %s %s; %s is %s %s", p.names[0], p.amount(ahead, "–", ""), p.where(ahead), p.names[1], p.amount(behind, "–", ""), p.where(behind)),
			fmt.Sprintf("%s leads %s, and %s %s", p.names[0], p.where(ahead), p.names[1], p.where(behind)),
			fmt.Sprintf("%s leads at %d loads, and %s at %d", p.names[0], len(ahead), p.names[1], len(behind)),
		}
	default:
		i, at := 0, ahead
		if len(ahead) == 0 {
			i, at = 1, behind
		}
		s.Winner = p.names[i]
		said := fmt.Sprintf("%s is %s", s.Winner, p.amount(at, " to ", p.names[1-i]))
		forms = []string{join(said, p.every(at)), said}
		if len(even) > 0 {
			forms = slices.Insert(forms, 0, forms[0]+"; elsewhere both are about equal")
		}
	}
	for _, form := range forms {
		if s.Sentence = before + form; words(s.Sentence) <= MaxWords {
			return s
		}
	}
	if s.Sentence = forms[len(forms)-1]; !strings.HasPrefix(before, "Of ") {
		s.Sentence = before + s.Sentence // a doubt is never left out
	}
	return s
}

// A leader is a system that is the best one at some loads.
type leader struct {
	name  string
	loads []float64
}

// leaders returns the systems whose median is the best one at some load, and more than about equal to the next one, with
// these loads. The order is the order of their first loads. It also returns all loads of which at least two systems have a
// sound value.
func leaders(all []*System, sign float64) (found []leader, common []float64) {
	var loads []float64
	for _, s := range all {
		for _, p := range s.Points {
			loads = append(loads, p.Load)
		}
	}
	slices.Sort(loads)
	for _, load := range slices.Compact(loads) {
		best, most, next := "", 0.0, 0.0
		for _, s := range all {
			i := slices.IndexFunc(s.Points, func(p Point) bool { return p.Load == load && len(p.Speed) > 0 && !p.Doubt })
			if i < 0 {
				continue
			}
			v := math.Pow(robust.Median(s.Points[i].Speed), sign) // more is better
			if v > most {
				best, most, next = s.Name, v, most
			} else {
				next = max(next, v)
			}
		}
		if next == 0 {
			continue
		}
		common = append(common, load)
		if most <= Equal*next {
			continue
		}
		i := slices.IndexFunc(found, func(l leader) bool { return l.name == best })
		if i < 0 {
			i, found = len(found), append(found, leader{name: best})
		}
		found[i].loads = append(found[i].loads, load)
	}
	return found, common
}

// within says at which of all loads something holds. The loads need not be loads of the pair.
func (p *pair) within(loads, all []float64) string {
	first, n := slices.Index(all, loads[0]), len(loads)
	if n > 1 && slices.Equal(loads, all[first:first+n]) {
		return fmt.Sprintf("at %s to %s", number(loads[0]), Load(p.key, loads[n-1]))
	}
	var said []string
	for _, load := range loads[:n-1] {
		said = append(said, number(load))
	}
	return "at " + enumerate(append(said, Load(p.key, loads[n-1])))
}

func words(text string) int { return len(strings.Fields(text)) }

// every says at which loads something holds. If a load of one of the systems is left out, it is not every load.
func (p *pair) every(at []int) string {
	if len(at) == len(p.loads) && len(at) > 1 && !p.partial() {
		return "at every load"
	}
	return p.where(at)
}

// amount says by how much the better system is ahead at some loads, such as "16 to 21 % faster than other".
func (p *pair) amount(at []int, to, other string) string {
	low, high := math.Inf(1), 0.0
	for _, i := range at {
		r := p.better(i)
		if p.sign < 0 {
			r = 1 / r
		}
		low, high = min(low, r), max(high, r)
	}
	span := func(format string, low, high float64) string {
		from, until := fmt.Sprintf(format, low), fmt.Sprintf(format, high)
		if from == until {
			return from
		}
		return from + to + until
	}
	switch {
	case p.sign < 0:
		return strings.TrimSuffix(span("%.0f", 100*(1-1/low), 100*(1-1/high))+" % quicker to answer than "+other, " than ")
	case high >= 2:
		return strings.TrimSuffix(span("%.1f", low, high)+" times as fast as "+other, " as ")
	}
	return strings.TrimSuffix(span("%.0f", 100*(low-1), 100*(high-1))+" % faster than "+other, " than ")
}

// shortAdds says in a few words what a gateway adds to the latencies of the server behind it.
func shortAdds(key string, s *System) (short Short) {
	for _, p := range s.Points {
		if len(p.Added) == 0 {
			continue
		}
		short.Sure, short.Why = Shown, "95 % confidence"
		var parts []string
		for _, a := range p.Added {
			if !a.Confident {
				short.Sure, short.Why, short.Next = Preliminary, "no interval", "make six rounds (-benchtime=8x)"
			}
			parts = append(parts, fmt.Sprintf("%s ms to %s", Milliseconds(a.Mid), a.To))
		}
		where := ""
		if key != "" {
			where = ", at " + Load(key, p.Load)
		}
		for n := min(2, len(parts)); n > 0; n-- {
			if short.Sentence = capital(gateway(s)) + " adds " + enumerate(parts[:n]) + where; words(short.Sentence) <= MaxWords {
				break
			}
		}
		return short
	}
	return short
}
