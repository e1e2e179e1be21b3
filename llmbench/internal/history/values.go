package history

import (
	"fmt"
	"math"
	"slices"

	"golang.org/x/perf/benchproc"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/history/internal/watch"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/robust"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// values returns the night's input for the watch: the values of the gated units of all sound benchmarks.
func (c *checker) values(night int) []watch.Value {
	run := c.nights[night]
	var values []watch.Value
	for _, group := range byBenchmark(run) {
		epoch, why := c.epoch(group, run)
		if why != "" {
			c.report.Unsound = append(c.report.Unsound, c.reader.shortName(group[0].Row)+": "+why)
			continue
		}
		for _, cell := range group {
			rule := c.rules[cell.Unit]
			if !rule.Gated || rule.Points {
				continue
			}
			if cell.Value <= 0 {
				why := fmt.Sprintf("%s: %s is %v: want more than 0", c.reader.shortName(cell.Row), c.unit(cell.Unit), cell.Value)
				cell.Value = 0
				if _, before := c.ids[series{cell, epoch}]; before && !(rule.Amount && rule.Better == "lower") { // 0 may be right where it is good
					c.report.Unsound = append(c.report.Unsound, why)
				} else {
					c.report.LeftOut = append(c.report.LeftOut, why)
				}
				continue
			}
			x := sign(rule) * math.Log(cell.Value)
			cell.Value = 0
			v := watch.Value{Series: c.id(series{cell, epoch}), X: x}
			for _, again := range c.reruns[run.Name] {
				if value, ok := again.value(cell); ok && value > 0 {
					v.Reruns = append(v.Reruns, sign(rule)*math.Log(value))
				}
			}
			c.present[v.Series] = append(c.present[v.Series], night)
			values = append(values, v)
		}
	}
	return values
}

// value returns the run's value for the benchmark, configuration and unit of cell, if the run has one.
func (r *Run) value(cell Cell) (float64, bool) {
	for _, c := range r.Cells {
		if c.Row == cell.Row && c.Config == cell.Config && c.Unit == cell.Unit {
			return c.Value, true
		}
	}
	return 0, false
}

// byBenchmark groups the run's cells by benchmark and configuration, in the order of the file.
func byBenchmark(run *Run) [][]Cell {
	index := map[[2]benchproc.Key]int{}
	var groups [][]Cell
	for _, c := range run.Cells {
		key := [2]benchproc.Key{c.Row, c.Config}
		i, ok := index[key]
		if !ok {
			i = len(groups)
			index[key] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], c)
	}
	return groups
}

// epoch returns the number of the epoch to which a benchmark's result belongs: the newest epoch whose values of
// the units with same= agree with the result, or else a new epoch. If the result is not sound, why is the
// reason.
func (c *checker) epoch(group []Cell, run *Run) (number int, why string) {
	if run.Failed {
		return 0, "a benchmark of the run failed"
	}
	watched := make([]float64, len(c.equal)) // as in package gate, a missing value counts as 0
	for _, cell := range group {
		if cell.Unit == sample.FailShare && cell.Value > 100*c.options.MaxFail {
			return 0, fmt.Sprintf("fail-%% is %v: want at most %v", cell.Value, 100*c.options.MaxFail)
		}
		if i, ok := slices.BinarySearch(c.equal, cell.Unit); ok {
			watched[i] = cell.Value
		}
	}
	key := Cell{Row: group[0].Row, Config: group[0].Config}
	epochs := c.epochs[key]
	number = len(epochs) - 1
	for number >= 0 && c.unlike(watched, epochs[number]) {
		number--
	}
	if number < 0 {
		number = len(epochs)
		epochs = append(epochs, make(epoch, len(c.equal)))
		c.epochs[key] = epochs
	}
	for i, unit := range c.equal {
		before := epochs[number][i]
		if rule := c.rules[unit]; rule.Points && len(before) > 0 {
			if drop := (watched[i] - robust.Median(before)) * sign(rule) / 100; drop > rule.Margin {
				return 0, fmt.Sprintf("%s is %.4g, but the median of %s is %.4g: want a loss of at most %.4g percentage points",
					c.unit(unit), watched[i], numbers.Count(len(before), "earlier run"), robust.Median(before), 100*rule.Margin)
			}
		}
	}
	for i := range c.equal {
		all := append(epochs[number][i], watched[i])
		epochs[number][i] = all[max(0, len(all)-51):]
	}
	return number, ""
}

// unlike reports whether the values of any unit with same= differ from the epoch's values.
func (c *checker) unlike(watched []float64, e epoch) bool {
	for i, unit := range c.equal {
		if c.rules[unit].Same() && c.rules[unit].Unlike(watched[i], robust.Median(e[i]), unit) {
			return true
		}
	}
	return false
}
