package answer

import (
	"fmt"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compare"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/stated"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
)

// statedBy returns what follows from what each server said about itself, with its name if there are several.
func statedBy(rows []*results.Row) (lines []string) {
	var servers [][]*results.Row
	index := map[string]int{}
	for _, r := range rows {
		id := fmt.Sprintf("%q %q %q", r.File, r.Key("backend"), results.Identity(r.Config))
		i, known := index[id]
		if !known {
			i, index[id] = len(servers), len(servers)
			servers = append(servers, nil)
		}
		servers[i] = append(servers[i], r)
	}
	var first []*results.Row
	for _, of := range servers {
		first = append(first, of[0])
	}
	labels := systems.Labels(first, compare.LoadKeys...)
	for i, of := range servers {
		var loads []stated.Load
		for _, r := range of {
			load := stated.Load{Name: at(r), Setting: r.Setting, Figure: func(unit string) (float64, bool) {
				v, _, known := sound(r, unit)
				return v, known
			}}
			if key, users := r.Load(); key != "" && !compare.Open(key) {
				load.Users = users
			}
			loads = append(loads, load)
		}
		for _, line := range stated.Lines(loads) {
			if len(servers) > 1 && labels[i] != "" {
				line = labels[i] + ": " + line
			}
			if !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	return lines
}
