package distortion

import "time"

// activities holds the activity of each pass, by the number of the pass. They take at most about 4 MB, for
// any number of passes of any length: if they would take more, the slots become wider.
type activities struct {
	passes map[int]*activity
	slots  int // number of slots of all passes
}

// add adds a read of a pass. The read returned at the instant at.
func (a *activities) add(pass int, at, lag time.Duration) {
	if a.passes == nil {
		a.passes = map[int]*activity{}
	}
	p := a.passes[pass]
	if p == nil {
		p = &activity{width: firstWidth}
		a.passes[pass] = p
	}
	before := len(p.slots)
	p.add(at, lag)
	a.slots += len(p.slots) - before
	if len(p.slots) <= before || a.slots <= maxSlots {
		return
	}
	a.slots = 0
	for _, p := range a.passes {
		p.halve()
		a.slots += len(p.slots)
	}
}

// around returns the number of reads of a pass that returned within about one slot of the instant at, and
// the longest lag of these reads.
func (a *activities) around(pass int, at time.Duration) (reads int, longest time.Duration) {
	p := a.passes[pass]
	if p == nil {
		return 0, 0
	}
	return p.around(at)
}

// An activity says how late the reads of a pass were, by the instant at which they returned.
type activity struct {
	width time.Duration // of a slot
	slots []slot
}

// A slot describes the reads that returned within a period.
type slot struct {
	reads   int32
	longest time.Duration // longest lag of these reads
}

const (
	firstWidth = time.Millisecond
	maxSlots   = 1 << 18 // maximum for one pass, and approximately for all passes together
)

// add adds a read that returned at the instant at.
func (a *activity) add(at, lag time.Duration) {
	at = max(0, at)
	for at/a.width >= maxSlots {
		a.halve()
	}
	for int(at/a.width) >= len(a.slots) {
		a.slots = append(a.slots, slot{})
	}
	s := &a.slots[at/a.width]
	s.reads++
	s.longest = max(s.longest, lag)
}

// halve doubles the width of the slots.
func (a *activity) halve() {
	half := make([]slot, (len(a.slots)+1)/2) // a new slice, so that the old memory is freed
	for i, s := range a.slots {
		to := &half[i/2]
		to.reads += s.reads
		to.longest = max(to.longest, s.longest)
	}
	a.slots = half
	a.width *= 2
}

// around is like activities.around, for one pass.
func (a *activity) around(at time.Duration) (reads int, longest time.Duration) {
	middle := int(max(0, at) / a.width)
	for i := max(0, middle-1); i <= middle+1 && i < len(a.slots); i++ {
		reads += int(a.slots[i].reads)
		longest = max(longest, a.slots[i].longest)
	}
	return reads, longest
}
