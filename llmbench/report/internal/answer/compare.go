package answer

import (
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/columns"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compare"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// compared returns what a comparison of a group's systems tells. Says is nil if no two systems have a load in
// common. If the systems have different kinds of load, only the systems with the most frequent
// kind are compared.
func compared(g *systems.Group, slo systems.SLO) (best Told) {
	for _, key := range append(slices.Clone(compare.Loads), "") {
		all := slices.DeleteFunc(slices.Clone(g.Systems), func(s *systems.System) bool { return s.Found || s.Load != key })
		units := columns.Throughput
		if compare.Open(key) {
			units = columns.Latency
		}
		c := compare.Of(key, measurements(all, units, slo), slo.Share)
		if c == nil || len(c.Order) <= len(best.Compared) {
			continue
		}
		best = Told{Kind: Comparison, Group: g, Says: c.Says, By: units, Adds: c.Adds, Short: c.Short}
		for _, i := range c.Order {
			best.Compared = append(best.Compared, all[i])
		}
	}
	return best
}

// measurements returns what was measured of systems, in one of the units for all if they have one in
// common.
func measurements(all []*systems.System, units []string, slo systems.SLO) (measured []compare.System) {
	for _, unit := range units {
		common := true
		for _, s := range all {
			common = common && slices.ContainsFunc(s.Rows, func(r *results.Row) bool { return len(r.Values[unit]) > 0 })
		}
		if common {
			units = []string{unit}
			break
		}
	}
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
			p.Added = compare.AddedOf(func(unit string) []float64 { return r.Values[unit] })
			p.PerCore = r.Values[sample.PerCore]
			p.Kept, p.Known = slo.Kept(r)
			p.Lost = systems.Lost(r)
			of.Points = append(of.Points, p)
		}
		measured = append(measured, of)
	}
	return measured
}
