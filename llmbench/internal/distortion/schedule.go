package distortion

import (
	"cmp"
	"container/heap"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
)

// A closedLoop describes the users of a closed loop in one pass.
type closedLoop struct {
	stays [][]arrivals.Stay // when each user should be there
	posts []post            // in the order in which users took them
}

// elapsed returns how long the pass would have taken if each user had begun on time, and had sent each
// post as soon as its last one ended. The duration of each post stays the same. The argument measured is how long the pass took.
func (c closedLoop) elapsed(measured time.Duration) time.Duration {
	if c.leave() {
		return time.Duration((1 - c.idle()) * float64(measured))
	}
	return c.shortest()
}

// leave reports whether a user leaves before another one.
func (c closedLoop) leave() bool {
	last := time.Duration(-1)
	for _, stays := range c.stays {
		if len(stays) > 1 || len(stays) == 1 && last >= 0 && stays[0].To != last {
			return true
		}
		if len(stays) == 1 {
			last = stays[0].To
		}
	}
	return false
}

// shortest returns how long users who do not leave need for the posts, from when the first of them comes.
func (c closedLoop) shortest() (longest time.Duration) {
	var free instants // when each user is free
	for _, stays := range c.stays {
		if len(stays) > 0 && len(free) < len(c.posts) {
			free = append(free, stays[0].From)
		}
	}
	if len(free) == 0 {
		return 0
	}
	heap.Init(&free)
	first := free[0]
	for _, p := range c.posts {
		free[0] += max(0, p.end-p.start)
		longest = max(longest, free[0]-first)
		heap.Fix(&free, 0)
	}
	return longest
}

// idle returns the share of the users' time, until the last post was sent, in which they had no request in flight. Later they may
// have none because there are no more. Which user has sent a post is unknown, so a post that a user who has left still has in
// flight hides that another user has none.
func (c closedLoop) idle() float64 {
	type event struct {
		at              time.Duration
		users, inFlight int // changes of their numbers
	}
	var events []event
	for _, stays := range c.stays {
		for _, s := range stays {
			events = append(events, event{s.From, 1, 0}, event{s.To, -1, 0})
		}
	}
	last := time.Duration(0)
	for _, p := range c.posts {
		last = max(last, p.start)
		if p.end > p.start {
			events = append(events, event{p.start, 0, 1}, event{p.end, 0, -1})
		}
	}
	slices.SortFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	var now event
	var idle, all float64
	for _, e := range events {
		if e.at > last {
			e.at = last
		}
		took := float64(e.at - now.at)
		idle, all = idle+took*float64(max(0, now.users-now.inFlight)), all+took*float64(now.users)
		now = event{e.at, now.users + e.users, now.inFlight + e.inFlight}
	}
	return fraction(idle, all)
}

// instants is a heap whose first element is the earliest.
type instants []time.Duration

func (h instants) Len() int           { return len(h) }
func (h instants) Less(i, j int) bool { return h[i] < h[j] }
func (h instants) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *instants) Push(any)          { panic("distortion: the number of workers is fixed") }
func (h *instants) Pop() any          { panic("distortion: the number of workers is fixed") }
