package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// DefaultShare is the share of the requests that must keep the limits in BenchmarkSLO.
const DefaultShare = 0.95

// Lost returns the share of all requests that got no answer, for [Point].Lost. failed and shed are fail-% and shed-%.
func Lost(failed, shed float64) float64 { return (failed + shed) / 100 }

// Kept returns the share of all requests that kept the SLO, for [Point].Kept. good and rate are good-req/s and
// req/s, which count successful requests; rate must be above 0. lost is the result of [Lost].
func Kept(good, rate, lost float64) float64 { return good / rate * (1 - lost) }

// A reach is up to which load systems keep the SLO.
type reach struct {
	names       []string
	gaps        bool      // of a load below these it is unknown
	met, missed float64   // the highest load up to which each load keeps the SLO, and the lowest that misses it; -1 if there is none
	unknown     []float64 // the loads at which it is unknown whether the SLO is kept, although they were measured
}

// Limit says up to which load systems keep the SLO, and which load would tell the limit more precisely. A load keeps
// the SLO if at least the given share of its requests does. Limit returns "" if that is known of no load.
func Limit(key string, all []System, share float64) string {
	var reaches []*reach
	for i := range all {
		r := reachOf(&all[i], share)
		if r == nil {
			continue
		}
		same := slices.IndexFunc(reaches, func(o *reach) bool { return o.met == r.met && o.missed == r.missed && o.gaps == r.gaps })
		if same < 0 {
			reaches = append(reaches, r)
		} else {
			reaches[same].names = append(reaches[same].names, r.names...)
			reaches[same].unknown = append(reaches[same].unknown, r.unknown...)
		}
	}
	if len(reaches) == 0 {
		return ""
	}
	unmissed := func(r *reach) float64 { // infinite if no load misses the SLO
		if r.missed < 0 {
			return math.Inf(1)
		}
		return r.missed
	}
	slices.SortStableFunc(reaches, func(a, b *reach) int {
		return cmp.Or(cmp.Compare(b.met, a.met), cmp.Compare(unmissed(b), unmissed(a)))
	})
	var said []string
	for i, r := range reaches {
		next := r.next(key)
		if next != "" && len(reaches) > 1 {
			next = " (" + next + ")"
		} else if next != "" {
			next = ": " + next
		}
		said = append(said, r.says(key, len(reaches) == 1 && len(r.names) == len(all), i == 0)+next)
	}
	return strings.Join(said, "; ")
}

// reachOf returns the reach of a system, or nil if it is unknown of each load.
func reachOf(s *System, share float64) *reach {
	r := &reach{names: []string{s.Name}, met: -1, missed: -1}
	known, gap := false, false
	for _, p := range s.Points {
		if !p.Known {
			r.unknown = append(r.unknown, p.Load)
		}
		switch {
		case r.missed >= 0:
		case !p.Known:
			gap = true
		case p.Kept >= share:
			r.met, known, r.gaps = p.Load, true, gap
		default:
			r.missed, known, r.gaps = p.Load, true, gap
		}
	}
	if !known || len(s.Points) < 2 {
		return nil
	}
	r.gaps = r.gaps || r.missed < 0 && gap
	return r
}

// says returns a clause about the systems. The first clause of a sentence names the SLO.
func (r *reach) says(key string, everyone, first bool) string {
	n := len(r.names)
	who, s := r.names[n-1], "s"
	switch {
	case everyone && n == 1 && who == "":
		who = "the server"
	case everyone && n == 2:
		who, s = "both", ""
	case everyone && n > 2:
		who, s = "all", ""
	case n > 1:
		who, s = enumerate(r.names), ""
	}
	es, what := "", "it"
	if s != "" {
		es = "es"
	}
	if first {
		what = "the SLO"
	}
	if everyone && r.names[0] != who {
		who = capital(who)
	}
	switch {
	case r.missed < 0 && r.gaps:
		return fmt.Sprintf("%s meet%s %s at each load at which it is known, up to %s", who, s, what, Load(key, r.met))
	case r.met < 0 && r.gaps:
		return fmt.Sprintf("%s miss%s %s at %s, and lower loads are not known", who, es, what, Load(key, r.missed))
	case r.missed < 0:
		return fmt.Sprintf("%s meet%s %s at each load, up to %s", who, s, what, Load(key, r.met))
	case r.met < 0:
		return fmt.Sprintf("%s miss%s %s even at %s", who, es, what, Load(key, r.missed))
	}
	return fmt.Sprintf("%s meet%s %s at %s and miss%s it at %s", who, s, what, Load(key, r.met), es, number(r.missed))
}

// Next says which loads to measure next, so that it is known more precisely up to which load each system keeps the SLO.
// The arguments are those of [Limit].
func Next(key string, all []System, share float64) (loads []string) {
	for i := range all {
		r := reachOf(&all[i], share)
		if r == nil {
			continue
		}
		text := ""
		switch load := r.load(key); {
		case math.IsInf(load, 1):
			text = "more than " + Load(key, r.met)
		case load > 0:
			text = fmt.Sprintf("%.4g %s", load, noun(key, load))
		}
		if text != "" && !slices.Contains(loads, text) {
			loads = append(loads, text)
		}
	}
	return loads
}

// next says which load to measure next, or "".
func (r *reach) next(key string) string {
	switch load := r.load(key); {
	case math.IsInf(load, 1):
		return "measure more"
	case load > 0:
		return fmt.Sprintf("measure %.4g next", load)
	}
	return ""
}

// load returns the load to measure next: infinite for any that is higher than the measured ones, or 0 for none. The load
// is never one that was measured.
func (r *reach) load(key string) float64 {
	switch {
	case r.missed < 0:
		return math.Inf(1)
	case r.met < 0 || r.missed < 1.1*r.met:
		return 0
	}
	measured := append([]float64{r.met, r.missed}, r.unknown...)
	slices.Sort(measured)
	middle := math.Sqrt(r.met * r.missed)
	best := 0.0
	for i, high := range measured[1:] {
		low := measured[i]
		mid := round(key, math.Sqrt(low*high))
		if low < r.met || high > r.missed || slices.Contains(measured, mid) || mid < low || mid > high {
			continue
		}
		if best == 0 || math.Abs(math.Log(mid/middle)) < math.Abs(math.Log(best/middle)) {
			best = mid
		}
	}
	return best
}

// round returns a load of about the given size: a whole number of users, or a rate with two digits.
func round(key string, load float64) float64 {
	if !Open(key) {
		return math.Round(load)
	}
	unit := math.Pow(10, math.Floor(math.Log10(load))-1)
	if !(unit > 0) {
		return load
	}
	return math.Round(load/unit) * unit
}
