package distortion

import (
	"math"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// silences counts silences, and how late the reads before them were. A silence is the time from a read of
// several segments to the next segment of the stream. These counts distinguish a server that sends in
// bursts from a client that is stopped.
//
// A stopped client continues at an instant that does not depend on when segments arrive. If it continues
// during a silence, the lag of its read is uniformly distributed over the silence. So in one of two such
// stops the lag is more than half of the silence. For a given limit, consider the reads before silences of
// twice the limit or more. If few of these reads were late by more than the limit, then few of them came
// after stops longer than the limit. In this case, the segments were read together because the server sent
// them together.
type silences struct {
	all, late [16]int64 // reads before a silence of 2 limit(i) or more, and how many had a lag above limit(i)
}

// limit returns the i-th limit.
func limit(i int) time.Duration { return 25 * time.Microsecond << i }

// add adds the reads of s that returned several segments and were followed by a delta that came alone. Only
// then is the silence known exactly.
func (x *silences) add(s *sample.Sample) {
	for i, m := range s.Merged {
		end := m.Delta + m.Deltas // the delta after the deltas that waited
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

// longest returns a duration that few stops exceed, or unlimited if the reads do not show one.
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
	minSilences = 50  // minimum number of silences
	rareStops   = 0.1 // share of reads after longer stops that changes no metric much
)
