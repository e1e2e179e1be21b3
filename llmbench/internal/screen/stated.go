package screen

import (
	"maps"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compare"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/stated"
)

// stated returns what follows from what each server said about itself.
func (o *Overview) stated() (lines []string) {
	var servers [][]*row
	for _, r := range o.rows {
		i := slices.IndexFunc(servers, func(of []*row) bool { return maps.Equal(of[0].settings, r.settings) })
		if i < 0 {
			i, servers = len(servers), append(servers, nil)
		}
		servers[i] = append(servers[i], r)
	}
	for _, of := range servers {
		var loads []stated.Load
		for _, r := range of {
			_, keys := r.parts()
			key, v := compare.LoadOf(func(key string) string { return keys[key] })
			load := stated.Load{Name: compare.Load(key, v), Setting: func(key string) string { return r.settings[key] }, Figure: func(unit string) (float64, bool) {
				v, known := r.median(unit)
				return v, known && !slices.Contains(r.doubted, unit)
			}}
			if !compare.Open(key) {
				load.Users = v
			}
			loads = append(loads, load)
		}
		for _, line := range stated.Lines(loads) {
			lines = appendNew(lines, line)
		}
	}
	return lines
}
