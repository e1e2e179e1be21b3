package arrivals

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"strconv"
	"time"
)

// Replay is arrivals at given instants, for example the instants of a recorded trace.
type Replay struct {
	// At holds the instants, counted from the start of the pass. They must be in order, and none may be
	// negative. They are neither copied nor changed.
	At []time.Duration
	// Speed is the factor by which the replay is faster than the trace: the instants are
	// divided by Speed. 0 means 1.
	Speed float64
}

// Times returns the first n instants divided by Speed, to the nearest
// nanosecond. It returns an error if n is more than the number of instants.
func (r Replay) Times(n int) ([]time.Duration, error) {
	speed := cmp.Or(r.Speed, 1)
	switch {
	case !(speed > 0) || math.IsInf(speed, 0):
		return nil, fmt.Errorf("replay: speed %v: want above 0", speed)
	case n < 1 || n > len(r.At):
		return nil, fmt.Errorf("replay: %d requests for %d instants: want 1 request to as many as instants", n, len(r.At))
	case float64(r.At[n-1])/speed > math.MaxInt64/2:
		return nil, fmt.Errorf("replay: %v at speed %v takes longer than a duration can hold", r.At[n-1], speed)
	}
	times := make([]time.Duration, n)
	for i, at := range r.At[:n] {
		times[i] = at
		if speed != 1 {
			times[i] = time.Duration(math.Round(float64(at) / speed))
		}
	}
	return times, nil
}

// Name returns "replay".
func (Replay) Name() string { return "replay" }

// Parameters returns four parameters: speed (1 if r.Speed is 0), requests (the number of instants), last
// (the last instant), and checksum. The checksum stands for the instants themselves, which may be millions.
// It is the FNV-1a hash of the nanoseconds, each as 8 bytes in little-endian order.
func (r Replay) Parameters() map[string]string {
	last := time.Duration(0)
	sum := fnv.New64a()
	var word [8]byte
	for _, at := range r.At {
		last = at
		binary.LittleEndian.PutUint64(word[:], uint64(at))
		sum.Write(word[:])
	}
	return map[string]string{
		"speed":    number(cmp.Or(r.Speed, 1)),
		"requests": strconv.Itoa(len(r.At)),
		"last":     last.String(),
		"checksum": fmt.Sprintf("%016x", sum.Sum64()),
	}
}
