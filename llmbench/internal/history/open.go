package history

import "slices"

// open returns the moves of a cause that are not gone. A figure that no run of the last remembered nights has is not
// open. If the configuration has changed since, the figure's newest series counts.
func (c *checker) open(cause Cause, night int) []Move {
	newest := map[figure]int{}
	for id, s := range c.series {
		f := figure{s.cell.Row, s.cell.Unit}
		if before, ok := newest[f]; !ok || c.lastNight(id) > c.lastNight(before) {
			newest[f] = id
		}
	}
	return slices.DeleteFunc(slices.Clone(cause.Moves), func(m Move) bool {
		id, ok := newest[m.figure]
		if !m.finding.Shared && (!ok || c.lastNight(id) < night-remembered) {
			return true
		}
		return c.watch.Gone(m.finding, id)
	})
}
