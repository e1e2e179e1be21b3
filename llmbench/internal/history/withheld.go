package history

import (
	"math"
	"slices"

	"golang.org/x/perf/benchproc"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
)

// withheldShare is the part of the promised rate of false alarms for figures that were withheld.
const withheldShare = 0.2

// withheld finds out why figures of the night were withheld, as units with withheld= in their Unit lines say. It is an
// alarm if the reason is the server's doing, and if the last runs, with the night and its reruns, have the reason so much
// more often than the runs before that chance does not explain it. One night of one benchmark is no alarm: after 31 nights
// without the reason, the second night with it is one.
func (c *checker) withheld(night int) {
	var rows []benchproc.Key
	all := map[benchproc.Key]bool{} // the benchmarks, which share the rate of false alarms
	for _, cell := range c.nights[night].Cells {
		all[cell.Row] = true
	}
	for _, cell := range c.nights[night].Cells {
		rule := c.rules[cell.Unit]
		if rule.Withheld == "" || cell.Value <= 0 || slices.Contains(rows, cell.Row) {
			continue
		}
		rows = append(rows, cell.Row)
		w, chance := c.countWithheld(night, cell)
		if w == nil {
			continue
		}
		text := c.reader.shortName(cell.Row) + ": " + w.Text("the server", c.unit(cell.Unit))
		c.report.Withheld = append(c.report.Withheld, text)
		if rule.Withheld == "server" && chance <= withheldShare/c.options.Nights/float64(len(all)) {
			c.report.withheldAlarm = append(c.report.withheldAlarm, text)
		}
	}
}

// countWithheld counts the runs with the reason of the cell: new are the last runs, all of which have it, and old are the
// runs before, back to the newest accepted night. chance is the probability that the runs with the reason are just the
// last ones, if their order is random. w is nil if no figure of a gated unit is missing in the night that the runs before
// had.
func (c *checker) countWithheld(night int, cell Cell) (w *gate.Withheld, chance float64) {
	has := func(r *Run, unit string) bool {
		return slices.ContainsFunc(r.Cells, func(x Cell) bool { return x.Row == cell.Row && x.Unit == unit && x.Value > 0 })
	}
	rule := c.rules[cell.Unit]
	w = &gate.Withheld{By: rule.Withheld, Says: rule.Says}
	for _, again := range c.reruns[c.nights[night].Name] {
		if has(again, cell.Unit) {
			w.New++
		}
		w.OfNew++
	}
	var lost []string // gated units that the night lacks
	from := max(0, night-remembered, c.accepted()+1)
	gated, _ := c.rulesLost(from, night)
	for n := from; n < night; n++ {
		for _, x := range c.nights[n].Cells {
			if x.Row == cell.Row && (gated[x.Unit] || c.rules[x.Unit].Gated) && !has(c.nights[night], x.Unit) {
				lost = append(lost, x.Unit)
			}
		}
	}
	if len(lost) == 0 {
		return nil, 1
	}
	last := true // all nights so far have the reason
	for n := night; n >= from; n-- {
		with := has(c.nights[n], cell.Unit)
		last = last && with
		switch {
		case last:
			w.New, w.OfNew = w.New+1, w.OfNew+1
		case with:
			w.Old, w.OfOld = w.Old+1, w.OfOld+1
		case slices.ContainsFunc(lost, func(unit string) bool { return has(c.nights[n], unit) }):
			w.OfOld++
		}
	}
	if w.New < w.OfNew {
		return w, 1 // a rerun does not have the reason
	}
	chance = 1
	for i := range w.OfNew {
		chance *= float64(w.New+w.Old-i) / float64(w.OfNew+w.OfOld-i)
	}
	return w, math.Min(1, chance)
}
