package shard

import (
	"slices"
	"time"
)

// A trip is a ping and its pong: two instants of one clock, and between them one of another.
type trip struct{ sent, remote, received time.Duration }

// An offset is by how much another clock is ahead, and by how much that may be wrong.
type offset struct{ ahead, bound time.Duration }

// leastTrip returns the offset of the other clock from the trip that took least. The remote
// instant lies somewhere between the send and the receipt, so that half of the trip bounds the
// error (Cristian, "Probabilistic clock synchronization", Distributed Computing 3, 1989).
// There must be a trip.
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

// spread returns the largest possible difference between two clocks at any instant between the
// measurements first and last. It supposes that the clocks were set by first.
func spread(first, last []offset) time.Duration {
	var wrong []time.Duration // of each clock
	for i := range first {
		drift := (last[i].ahead - first[i].ahead).Abs()
		wrong = append(wrong, max(first[i].bound, drift+last[i].bound))
	}
	slices.Sort(wrong)
	n := len(wrong)
	return wrong[n-1] + wrong[n-2]
}
