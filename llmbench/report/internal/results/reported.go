package results

import (
	"maps"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
)

// Add adds what the samples of a benchmark have reported in one unit, by sample and counted from 0. The name is the one in
// records. Figures of records stay as they are, since they are computed from the same requests.
func (d *Data) Add(name, unit string, values map[int]float64) {
	n := benchfile.ParseRunning(name)
	i := slices.IndexFunc(d.Rows, func(r *Row) bool { return r.Name == n.Full })
	if i < 0 {
		i, d.Rows = len(d.Rows), append(d.Rows, newRow(n))
	}
	row := d.Rows[i]
	if len(row.Values[unit]) > 0 {
		return
	}
	row.Units = append(row.Units, unit)
	for _, sample := range slices.Sorted(maps.Keys(values)) {
		row.Values[unit], row.samples[unit] = append(row.Values[unit], values[sample]), append(row.samples[unit], sample)
		row.count = max(row.count, sample+1)
	}
}
