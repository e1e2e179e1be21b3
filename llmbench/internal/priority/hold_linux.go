package priority

import "sync"

// A Hold is the time during which the threads of this process have a better place.
type Hold struct {
	on *threads // nil if nothing was taken
}

var (
	mu    sync.Mutex
	holds int      // guarded by mu; number of Holds that were not released
	held  *threads // guarded by mu; nil if holds is 0
)

// Take gives the threads of this process the best place that they may have, but none if want is not RR or Slice.
// The caller must call Release. Holds may overlap.
func Take(want Place) *Hold {
	if want != RR && want != Slice || virtual() {
		return &Hold{}
	}
	mu.Lock()
	defer mu.Unlock()
	if holds++; holds == 1 {
		best, _ := Best()
		held = move(best)
	}
	return &Hold{held}
}

// Release gives the threads the place that they had before Take, unless there is another Hold. It returns the place that
// they had until Release. If this is not the place that they had at first, why says why. Further calls do nothing.
func (h *Hold) Release() (p Place, why string) {
	if h.on == nil {
		return None, ""
	}
	mu.Lock()
	defer mu.Unlock()
	p, why = h.on.now()
	if holds--; holds == 0 {
		held.moveBack()
		held = nil
	}
	h.on = nil
	return p, why
}
