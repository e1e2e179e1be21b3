package distortion

import (
	"math"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Silences are the times from a read of several segments to the next segment of the stream, and how late
// these reads were. They tell a server that sends in bursts from a client that is stopped.
//
// A client that is stopped goes on at an instant that has nothing to do with when segments arrive. If
// it goes on in a silence, the lag of the read is any part of the silence with the same probability: in
// one of two such stops the lag is more than half of the silence. So if few of the reads before silences
// of twice a time were late by more than this time, few of them were after longer stops: the
// server sent their segments one after the other.
type silences struct {
	all, late [16]int64 // reads before a silence of 2 limits(i) or more; those with a lag of more than limit(i)
}

// limit returns the i-th limit.
func limit(i int) time.Duration { return 25 * time.Microsecond << i }

// add adds the reads of s that brought several segments, and after which the next delta came alone, so that
// the silence is known exactly.
func (x *silences) add(s *sample.Sample) {
	for i, m := range s.Merged {
		end := m.Delta + m.Deltas // the delta after those that waited
		for end < len(s.Gaps) && s.Gaps[end-1] == 0 {
			end++
		}
		alone := end < s.Deltas && (end == len(s.Gaps) || s.Gaps[end] > 0) && (i+1 == len(s.Merged) || s.Merged[i+1].Delta > end)
		if !alone || end-1 >= len(s.Lags) {
			continue
		}
		silence, lag := s.Gaps[end-1], s.Lags[end-1]
		for k := range x.all {
			if silence < 2*limit(k) {
				break
			}
			x.all[k]++
			if lag > limit(k) {
				x.late[k]++
			}
		}
	}
}

// longest returns the time that few stops exceed, or unlimited if the reads do not tell.
func (x *silences) longest() time.Duration {
	for k, n := range x.all {
		late := float64(x.late[k])
		if n >= minSilences && 2*(late+math.Sqrt(late)) <= rareStops*float64(n) {
			return limit(k)
		}
	}
	return unlimited
}

const (
	minSilences = 50  // that tell others
	rareStops   = 0.1 // share of reads after longer stops that changes no figure much
)
