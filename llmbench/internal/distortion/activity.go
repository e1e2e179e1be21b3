package distortion

import "time"

// An activity is how late the reads of a pass were, by the instant at which they returned. It
// takes little memory for passes of any length.
type activity struct {
	width time.Duration // of a slot; 0 before the first read
	slots []slot
}

// A slot is the reads of a time.
type slot struct {
	reads   int32
	longest time.Duration // lag of a read
}

const (
	firstWidth = time.Millisecond
	maxSlots   = 1 << 18
)

// add adds a read that returned at an instant.
func (a *activity) add(at, lag time.Duration) {
	if a.width == 0 {
		a.width = firstWidth
	}
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
	for i, s := range a.slots {
		if i%2 == 0 {
			a.slots[i/2] = s
			continue
		}
		to := &a.slots[i/2]
		to.reads += s.reads
		to.longest = max(to.longest, s.longest)
	}
	a.slots = a.slots[:(len(a.slots)+1)/2]
	a.width *= 2
}

// around returns the number of reads that returned within about a slot of an instant, and the
// longest lag of one.
func (a *activity) around(at time.Duration) (reads int, longest time.Duration) {
	if a == nil || a.width == 0 {
		return 0, 0
	}
	middle := int(max(0, at) / a.width)
	for i := max(0, middle-1); i <= middle+1 && i < len(a.slots); i++ {
		reads += int(a.slots[i].reads)
		longest = max(longest, a.slots[i].longest)
	}
	return reads, longest
}
