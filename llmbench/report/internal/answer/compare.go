package answer

import (
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/columns"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compare"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// compared returns what a comparison of a group's systems tells. Says is nil if no two systems have a load in
// common. If the systems have different kinds of load, only the systems with the most frequent
// kind are compared.
func compared(g *systems.Group, slo systems.SLO) (best Told) {
	for _, key := range append(slices.Clone(compare.LoadKeys), "") {
		all := slices.DeleteFunc(slices.Clone(g.Systems), func(s *systems.System) bool { return s.Found || s.Load != key })
		units := columns.Throughput
		if compare.Open(key) {
			units = columns.Latency
		}
		units = common(all, units)
		c := compare.Of(key, measurements(all, units, slo), slo.Share)
		if c == nil || len(c.Order) <= len(best.Compared) {
			continue
		}
		best = Told{Kind: Comparison, Group: g, Says: c.Says, By: units, Adds: c.Adds, Short: c.Short}
		for i, said := range best.Says {
			if strings.HasPrefix(said, "the gateway ") { // other sentences begin with the name of a system
				best.Says[i] = human.Capital(said)
			}
		}
		for _, i := range c.Order {
			best.Compared = append(best.Compared, all[i])
		}
	}
	return best
}

// common returns the first of the units that all systems have, or all units if there is none.
func common(all []*systems.System, units []string) []string {
	for i, unit := range units {
		has := func(s *systems.System) bool {
			return slices.ContainsFunc(s.Rows, func(r *results.Row) bool { return len(r.Values[unit]) > 0 })
		}
		if !slices.ContainsFunc(all, func(s *systems.System) bool { return !has(s) }) {
			return units[i : i+1 : i+1]
		}
	}
	return units
}

// measurements returns what was measured of systems, in the units that are common to them.
func measurements(all []*systems.System, units []string, slo systems.SLO) (measured []compare.System) {
	units = common(all, units)
	for _, s := range all {
		of := compare.System{Name: s.Name, Work: s.Work()}
		for _, r := range s.Rows {
			p := compare.Point{}
			_, p.Load = r.Load()
			if _, unit := r.Spread(units...); unit != "" {
				p.Unit, p.Speed, p.Doubt = unit, r.Values[unit], r.Doubt(unit) != ""
			}
			if _, unit := r.Spread(columns.FirstToken...); unit != "" && r.Doubt(unit) == "" {
				p.TTFT = r.Values[unit]
			}
			p.Added = added(r)
			p.PerCore = r.Values[sample.PerCore]
			p.Kept, p.Known = slo.Kept(r)
			p.Lost = systems.Lost(r)
			of.Points = append(of.Points, p)
		}
		if !slices.ContainsFunc(of.Points, func(p compare.Point) bool { return len(p.Added) > 0 }) { // all may be in doubt
			for i, r := range s.Rows {
				of.Points[i].Added = compare.AddedOf(func(unit string) []float64 { return r.Values[unit] })
			}
		}
		measured = append(measured, of)
	}
	return measured
}

// added returns what a row says that a gateway adds to latencies, without figures in doubt.
func added(r *results.Row) []compare.Added {
	return compare.AddedOf(func(unit string) []float64 {
		if r.Doubt(unit) != "" {
			return nil
		}
		return r.Values[unit]
	})
}
