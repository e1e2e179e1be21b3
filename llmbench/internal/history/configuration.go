package history

import (
	"cmp"
	"fmt"
	"slices"

	"golang.org/x/perf/benchproc"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
)

// compareConfigurations adds to the report how the configuration differs from the machine's previous run.
func (c *checker) compareConfigurations(night int) {
	run, r := c.nights[night], c.report
	if night == 0 {
		r.Epochs = append(r.Epochs, fmt.Sprintf("the first run of machine %q", run.Machine))
		return
	}
	have := map[benchproc.Key]Cell{}
	for _, cell := range run.Cells {
		have[cell.Row] = cell
	}
	changes := map[string]int{}
	var order []string
	seen := map[benchproc.Key]bool{}
	for _, cell := range c.nights[night-1].Cells {
		now, ok := have[cell.Row]
		if ok && !seen[cell.Row] && now.Config != cell.Config {
			for _, f := range benchproc.NonSingularFields([]benchproc.Key{cell.Config, now.Config}) {
				text := fmt.Sprintf("%s: %s, before %s", f.Name, cmp.Or(now.Config.Get(f), "none"), cmp.Or(cell.Config.Get(f), "none"))
				if changes[text]++; changes[text] == 1 {
					order = append(order, text)
				}
			}
		}
		seen[cell.Row] = true
	}
	for _, text := range order {
		r.Epochs = append(r.Epochs, fmt.Sprintf("%s (%s)", text, numbers.Count(changes[text], "benchmark")))
	}
	for id, s := range c.series {
		if all := c.present[id]; s.epoch > 0 && len(all) == 1 && all[0] == night {
			r.Epochs = append(r.Epochs, fmt.Sprintf("%s: a unit with same= differs from before", c.reader.shortName(s.cell.Row)))
		}
	}
	slices.Sort(r.Epochs)
	r.Epochs = slices.Compact(r.Epochs)
}
