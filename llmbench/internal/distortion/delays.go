package distortion

import (
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// delays holds what the samples and the control streams show about the client's delays.
type delays struct {
	first, all histogram // lags on the kernel's clock: of reads that returned a first delta, and of all reads
	control    histogram // lags of the reads of control streams
	firstGaps  histogram // gaps between the first two deltas, if they were not read together
	gaps       histogram // gaps between any two deltas that were not read together
	tails      histogram // times from the last delta to the end, if they were not read together
	user       userTimes // times of samples on the user clock
	merged     int       // number of deltas whose exact instants are unknown
	held       int       // number of times that the server may have waited for the client
	steps      int64     // number of steps; a step is from a segment with deltas to the next segment of the stream
	between    int64     // number of gaps between deltas
	span       float64   // sum of the steps, which is also the sum of the gaps, in nanoseconds
	slow       int       // number of requests whose send may have been late
	users      int       // number of successful samples on the user clock
	activities activities
	silences   silences
	scratch    []time.Duration
}

// add adds a sample.
func (d *delays) add(s *sample.Sample) {
	if s.Outcome != sample.OK {
		return
	}
	if s.SentBy > 0 {
		d.slow++
	}
	if s.Clock == sample.UserClock {
		d.users++
		d.user.add(s)
		return
	}
	d.addReads(s)
	d.silences.add(s)
	for range heldBack(s) {
		d.held++
	}
	d.addSteps(s)
	if s.Deltas > 1 && (len(s.Merged) == 0 || s.Merged[0].Delta > 1) {
		d.firstGaps.add(s.Gaps[0])
	}
	if n := len(s.Merged); s.Deltas > 0 && (n == 0 || s.Merged[n-1].Delta+s.Merged[n-1].Deltas < s.Deltas) {
		d.tails.add(s.End - s.Last)
	}
	d.scratch = apart(d.scratch[:0], s)
	for _, gap := range d.scratch {
		d.gaps.add(gap)
	}
}

// addSteps adds the steps from segment to segment of a sample on the kernel's clock. It assumes that each
// merged delta came in a segment of its own.
func (d *delays) addSteps(s *sample.Sample) {
	for _, m := range s.Merged {
		d.merged += m.Deltas
		for _, gap := range s.Gaps[m.Delta:min(m.Delta+m.Deltas, len(s.Gaps))] {
			if gap == 0 {
				d.steps++
			}
		}
	}
	d.between += int64(len(s.Gaps))
	for _, gap := range s.Gaps {
		if gap > 0 {
			d.steps++
		}
		d.span += float64(gap)
	}
}

// meanStep returns the mean time from a segment of a stream to the next one. It returns unlimited if no
// stream has two segments.
func (d *delays) meanStep() time.Duration {
	if d.steps == 0 {
		return unlimited
	}
	return time.Duration(d.span / float64(d.steps))
}

// meanGap returns the mean gap between deltas, or 0 if no stream has two deltas.
func (d *delays) meanGap() time.Duration {
	if d.between == 0 {
		return 0
	}
	return time.Duration(d.span / float64(d.between))
}

// addReads adds the reads of a sample on the kernel's clock.
func (d *delays) addReads(s *sample.Sample) {
	if len(s.Lags) == 0 {
		return
	}
	at := s.First
	for i, lag := range s.Lags {
		if i == 0 {
			d.first.add(lag)
		} else {
			at += s.Gaps[i-1]
		}
		d.all.add(lag)
		if i == len(s.Gaps) || s.Gaps[i] > 0 { // otherwise the next delta is of the same read
			d.activities.add(s.Pass, at+lag, lag)
		}
	}
}

// userTimes holds times on the user clock: from the send to the first delta, between two deltas, and, for
// answers without deltas, from the send to the end.
type userTimes struct{ first, gap, end histogram }

// add adds a sample.
func (u *userTimes) add(s *sample.Sample) {
	if s.Deltas == 0 {
		u.end.add(s.End - s.Start)
		return
	}
	u.first.add(s.First - s.Start)
	for _, gap := range s.Gaps {
		u.gap.add(gap)
	}
}

// apart appends to all the gaps of s between two deltas whose exact instants are known, and that were not
// read together.
func apart(all []time.Duration, s *sample.Sample) []time.Duration {
	merged := s.Merged
	for i, gap := range s.Gaps { // between deltas i and i+1
		for len(merged) > 0 && merged[0].Delta+merged[0].Deltas <= i {
			merged = merged[1:]
		}
		if gap > 0 && (len(merged) == 0 || i+1 < merged[0].Delta) {
			all = append(all, gap)
		}
	}
	return all
}
