package shard

import (
	"slices"
	"time"
)

// A trip is a ping and its pong: two instants on one clock, and between them an instant on another clock.
type trip struct{ sent, remote, received time.Duration }

// An offset says by how much another clock is ahead. The error is at most bound.
type offset struct{ ahead, bound time.Duration }

// leastTrip returns the offset of the other clock, computed from the shortest trip. The remote instant is
// between the send and the receipt, so the error is at most half of the trip (Cristian, "Probabilistic
// clock synchronization", Distributed Computing 3, 1989). There must be at least one trip.
func leastTrip(trips []trip) offset {
	least := trips[0]
	for _, t := range trips[1:] {
		if t.received-t.sent < least.received-least.sent {
			least = t
		}
	}
	half := (least.received - least.sent + 1) / 2
	return offset{ahead: least.remote - least.sent - half, bound: half}
}

// spread returns the largest possible difference between two clocks at any instant between the measurements
// first and last. It assumes that the clocks are corrected by the offsets in first.
func spread(first, last []offset) time.Duration {
	var wrong []time.Duration // error of each clock
	for i := range first {
		drift := (last[i].ahead - first[i].ahead).Abs()
		wrong = append(wrong, max(first[i].bound, drift+last[i].bound))
	}
	slices.Sort(wrong)
	n := len(wrong)
	return wrong[n-1] + wrong[n-2]
}
