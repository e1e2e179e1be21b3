package screen

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compare"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A pairing holds the two systems of a benchmark.
type pairing struct {
	load    string // the key of the load
	systems []map[string]string
	rows    [][]*row // of each system
}

// comparisons returns a paragraph for each benchmark that measured exactly two systems, as reports have it.
func (o *Overview) comparisons() (says []string) {
	var order []string
	by := map[string]*pairing{}
	for _, r := range o.rows {
		base, keys := r.parts()
		of := func(key string) string { return keys[key] }
		load, _ := compare.LoadOf(of)
		delete(keys, load)
		id := strings.Join([]string{base, compare.Work(of), keys["model"], load}, "\x00")
		if by[id] == nil {
			by[id] = &pairing{load: load}
			order = append(order, id)
		}
		p := by[id]
		i := slices.IndexFunc(p.systems, func(s map[string]string) bool { return maps.Equal(s, keys) })
		if i < 0 {
			i = len(p.systems)
			p.systems, p.rows = append(p.systems, keys), append(p.rows, nil)
		}
		p.rows[i] = append(p.rows[i], r)
	}
	for _, id := range order {
		if c := by[id].compare(); c != nil {
			base, _, _ := strings.Cut(id, "\x00")
			says = append(says, base+": "+strings.Join(c.Says, " "))
		}
	}
	return says
}

// compare compares the systems, or returns nil if there are not two.
func (p *pairing) compare() *compare.Comparison {
	if len(p.systems) != 2 {
		return nil
	}
	units := []string{sample.OutputRate, sample.RequestRate}
	if compare.Open(p.load) {
		units = []string{sample.P50E2E}
	}
	withheld := func(r *row) bool {
		return len(r.point(p.load, units).Added) == 0 && slices.ContainsFunc(r.withheld, func(w Withheld) bool { return strings.HasPrefix(w.Unit, "added-") })
	}
	if slices.ContainsFunc(slices.Concat(p.rows...), withheld) { // the question is what the one adds, and the answer is withheld
		return nil
	}
	var all []compare.System
	for i, keys := range p.systems {
		s := compare.System{Name: label(keys, p.systems[1-i])}
		for _, r := range p.rows[i] {
			s.Points = append(s.Points, r.point(p.load, units))
		}
		slices.SortStableFunc(s.Points, func(a, b compare.Point) int { return int(math.Copysign(1, a.Load-b.Load)) })
		all = append(all, s)
	}
	return compare.Of(p.load, all, compare.DefaultShare)
}

// label names a system by what distinguishes it from another one.
func label(keys, other map[string]string) string {
	var words []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if keys[key] != other[key] {
			words = append(words, compare.Label(key, keys[key]))
		}
	}
	if len(words) == 0 {
		for _, key := range slices.Sorted(maps.Keys(other)) {
			if keys[key] == "" {
				return "without " + key
			}
		}
	}
	return strings.Join(words, " ")
}

// point returns what a row says about a load.
func (r *row) point(load string, units []string) (p compare.Point) {
	_, value, _ := strings.Cut(r.name, "/"+load+"=")
	value, _, _ = strings.Cut(value, "/")
	p.Load, _ = strconv.ParseFloat(value, 64)
	for _, unit := range units {
		if all, sound := r.figures[unit], r.sound[unit]; len(all) > 0 {
			p.Unit, p.Speed, p.Doubt = unit, sound, len(sound) == 0
			if p.Doubt {
				p.Speed = all
			}
			break
		}
	}
	p.TTFT = r.sound[sample.P50TTFT]
	p.Added = compare.AddedOf(func(unit string) []float64 { return r.figures[unit] })
	p.PerCore = r.figures[sample.PerCore]
	good, has := median(r.sound[sample.GoodRate])
	rate, also := r.median(sample.RequestRate)
	failed, _ := r.median(sample.FailShare)
	shed, _ := r.median(sample.ShedShare)
	p.Lost = compare.Lost(failed, shed)
	if has && also && rate > 0 && !r.scaled {
		p.Known, p.Kept = true, compare.Kept(good, rate, p.Lost)
	}
	return p
}
