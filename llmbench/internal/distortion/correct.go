package distortion

import (
	"iter"
	"math"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A merged delta was read together with later bytes, so it may have waited longer than the lag of its read.
// Four facts bound how long it can have waited. The smallest bound counts. No bound makes a delta earlier
// than Merged.Since, which is certain.
//
// The first fact is how late reads were. A stopped client continues at an instant that does not depend on
// when segments arrive. So the lag of the last segment of a read is uniformly distributed over the duration
// of the stop: it is less than an eighth of the stop in 1 of 8 stops. In the other 7, every delta of the
// read waited for at most 8 times this lag. The bound is 8 times the lag, or 8 times the 95th percentile of
// all lags if that is more. If more than one read in 20 was late, the percentile is large, and so are all
// bounds. If fewer were late, at most one read in 160, an eighth of a twentieth, waited longer than its
// bound. This does not change percentiles up to the 99th.
//
// The second fact is how late other reads were that returned at the same time, because all of them waited
// for the same stop. If there are eight such reads, the probability is 1/256 that all of them were late by
// less than half of the stop. The bound is twice the longest of their lags.
//
// Both facts hold only for stops that are shorter than a step. A step is the time from one segment of a
// stream to the next. In a longer stop, several segments of a stream arrive, and the lag of the last one is
// uniformly distributed over a step instead of the stop: reads of streams with a token every 20 ms are late
// by at most about 20 ms, even if the client is stopped for a second. So a bound by lags counts only if it
// is at most a step. A longer bound proves nothing, because every longer stop would have caused the same
// lags.
//
// The third fact is the lags of reads before silences; see the type silences. It also holds for servers
// that send in bursts.
//
// The fourth fact is the length of the stream's gaps. The server's gaps do not depend on whether the client
// is stopped. So hidden gaps have, on average, the same length as the others. The mean gap of a stream
// follows from its first and last delta; it does not matter which deltas between them were read together.
// The bound is one and a half times the sum that the hidden gaps would have if each had this mean length.
const (
	certainty     = 8    // times the lag of the read
	usual         = 0.95 // quantile of all lags
	minNeighbours = 8
	neighbours    = 2 // times the longest lag of reads at the same time
)

// unlimited is longer than any wait.
const unlimited = time.Duration(1) << 60

// A way says how samples are corrected.
type way int

const (
	likely        way = iota // every instant is the most likely one
	earliest                 // every delta is as early as possible, and every send as late as possible
	firstEarliest            // only the first delta of each answer is as early as possible
	lastEarliest             // only the last delta of each answer is as early as possible
	heldEarliest             // only deltas that the server may have held back are as early as possible
)

// A corrector corrects samples in one way.
type corrector struct {
	*delays
	way  way
	draw uint64 // number of lags that were used so far

	usualFirst, usual time.Duration          // lags that few reads exceed
	step              time.Duration          // longest wait for which lags give a bound
	stop              time.Duration          // duration that few stops of the client exceed
	gap               time.Duration          // mean gap of all streams; 0 if there are none
	lags              [4 << 10]time.Duration // quantiles of the lags that are assumed for the user clock

	out  sample.Sample
	at   []time.Duration // instants of the deltas
	gaps []time.Duration // memory for the gaps of out
}

// newCorrector returns a corrector for the samples from which d was computed.
func newCorrector(d *delays, w way) *corrector {
	c := &corrector{delays: d, way: w, usualFirst: d.first.quantile(usual), usual: d.all.quantile(usual), step: d.meanStep(), stop: d.silences.longest(), gap: d.meanGap()}
	if d.users > 0 {
		c.setLags()
	}
	return c
}

// setLags sets the quantiles of the lags of streams on the user clock. They are the lags of the control
// streams or, if there are none, of the streams on the kernel's clock. Unless the way is likely, each
// quantile is the lower end of its one-sided 99 % confidence interval, by the normal approximation of the
// binomial distribution (Hahn and Meeker, "Statistical Intervals", 1991, 5.2).
func (c *corrector) setLags() {
	lags := &c.control
	if lags.n == 0 {
		lags = &c.all
	}
	for i := range c.lags {
		q := (float64(i) + 0.5) / float64(len(c.lags))
		if c.way != likely {
			const z = 2.326
			q -= z * math.Sqrt(q*(1-q)/float64(max(1, lags.n)))
		}
		c.lags[i] = lags.quantile(q)
	}
}

// hidden returns for how long delta i of s can have waited in addition to its lag. One read returned the
// deltas from i to end-1 and something after them: delta end if exact is true, and otherwise bytes without
// a delta.
func (c *corrector) hidden(s *sample.Sample, i, end int, exact bool) time.Duration {
	most, gap := c.certain(s, i), c.meanGap(s)
	if gap == 0 {
		return most
	}
	gaps := end - i // gaps between delta i and whatever was read last
	sum := time.Duration(0)
	if !exact && end == s.Deltas {
		gaps--
		sum += max(gap, c.tails.mean())
	}
	if i == 0 && gaps > 0 {
		gaps--
		sum += max(gap, c.firstGaps.mean())
	}
	sum += time.Duration(gaps) * gap
	return min(most, sum+sum/2)
}

// meanGap returns the mean gap of the stream s, or the mean gap of all streams if that is longer: a late
// first delta makes a stream seem shorter than it was.
func (c *corrector) meanGap(s *sample.Sample) time.Duration {
	if len(s.Gaps) == 0 {
		return c.gap
	}
	return max(c.gap, (s.Last-s.First)/time.Duration(len(s.Gaps)))
}

// certain returns for how long delta i of s can have waited in addition to its lag, according to the lags
// of reads. It returns unlimited if the lags give no bound. The delta must not have been corrected yet.
func (c *corrector) certain(s *sample.Sample, i int) time.Duration {
	lag, few := lagOf(s, i), c.usual
	if i == 0 {
		few = c.usualFirst
	}
	most := certainty * max(lag, few)
	if n, longest := c.activities.around(s.Pass, c.at[i]+lag); n > minNeighbours {
		most = min(most, neighbours*longest)
	}
	if most > c.step {
		most = unlimited
	}
	if lag <= c.stop { // otherwise the read came after one of the few longer stops
		most = min(most, c.stop)
	}
	return most
}

// lagOf returns the lag of the read of delta i, or 0 if it is unknown.
func lagOf(s *sample.Sample, i int) time.Duration {
	if i < len(s.Lags) {
		return s.Lags[i]
	}
	return 0
}

// correct returns the corrected samples. A sample is valid until the next iteration.
func (c *corrector) correct(samples iter.Seq[*sample.Sample]) iter.Seq[*sample.Sample] {
	return func(yield func(*sample.Sample) bool) {
		c.draw = 0
		for s := range samples {
			if !yield(c.sample(s)) {
				return
			}
		}
	}
}

// sample returns the corrected form of s.
func (c *corrector) sample(s *sample.Sample) *sample.Sample {
	if s.Outcome != sample.OK {
		return s
	}
	c.out = *s
	output := s.Deltas - s.Outputs // index of the first delta with more than reasoning, if all reasoning comes before it
	if s.Deltas > 0 && (len(s.Merged) > 0 || s.Deltas > window || s.Clock == sample.UserClock) {
		c.setInstants(s)
		for s.Outputs > 0 && output < s.Deltas && c.at[output] != s.FirstOutput { // it is blank, or reasoning and other output alternate
			output++
		}
		c.move(s)
		c.takeInstants(output)
	}
	if s.Clock == sample.UserClock && s.Deltas == 0 {
		c.out.End -= min(c.out.End-c.out.Start, c.lag(&c.user.end, s.End-s.Start))
	}
	c.send()
	return &c.out
}

// setInstants sets c.at to the instants of the deltas.
func (c *corrector) setInstants(s *sample.Sample) {
	c.at = append(c.at[:0], s.First)
	for _, gap := range s.Gaps {
		c.at = append(c.at, c.at[len(c.at)-1]+gap)
	}
}

// takeInstants copies the instants of the deltas from c.at to the sample. The argument output is the index
// of the first delta with more than reasoning; if it is out of range, there is none.
func (c *corrector) takeInstants(output int) {
	s := &c.out
	n := len(c.at)
	c.gaps = c.gaps[:0]
	for i := range n - 1 {
		c.gaps = append(c.gaps, c.at[i+1]-c.at[i])
	}
	s.First, s.Last, s.Gaps = c.at[0], c.at[n-1], c.gaps
	if output < n {
		s.FirstOutput = c.at[output]
	}
}

// move corrects the instants of the deltas of s.
func (c *corrector) move(s *sample.Sample) {
	if s.Clock == sample.UserClock {
		c.takeLags(s)
		return
	}
	n := len(c.at)
	pace := time.Duration(0)
	for _, m := range s.Merged {
		end := m.Delta + m.Deltas
		exact := end < n && c.at[end] == c.at[end-1] // delta end was read with them
		steps := m.Deltas
		if !exact {
			steps--
		}
		room := time.Duration(0) // time for each step, if the first delta was as early as possible
		for i := m.Delta; i < end; i++ {
			low := min(c.at[i], max(m.Since, c.at[i]-c.hidden(s, i, end, exact)))
			switch c.way {
			case likely:
				if pace == 0 {
					pace = c.pace(s)
				}
				gap := pace
				if c.certain(s, i) < pace { // the read was prompt: the first of the segments woke the client
					gap = lagOf(s, i)
				}
				if i == m.Delta {
					room = (c.at[i] - low) / time.Duration(max(1, steps))
				}
				left := steps - (i - m.Delta)
				c.at[i] = max(low, c.at[i]-time.Duration(left)*min(gap, room))
			case earliest:
				c.at[i] = low
			case firstEarliest:
				if i == 0 {
					c.at[i] = low
				}
			case lastEarliest:
				if i == n-1 {
					c.at[i] = low
				}
			}
		}
	}
	for free, last := range heldBack(s) {
		c.release(free, last)
	}
	for i := 1; i < n; i++ { // the instants of two reads can overlap by the error of the clock
		c.at[i] = max(c.at[i], c.at[i-1])
	}
}

// minGaps is the minimum number of gaps from which the pace of a stream is computed.
const minGaps = 3

// pace returns the median gap of the stream s, or of all streams if s has too few gaps.
func (c *corrector) pace(s *sample.Sample) time.Duration {
	c.gaps = apart(c.gaps[:0], s)
	if len(c.gaps) < minGaps {
		return c.delays.gaps.quantile(0.5)
	}
	slices.Sort(c.gaps)
	return c.gaps[len(c.gaps)/2]
}

// takeLags subtracts from the instant of each delta of s, which is on the user clock, the lag that its read
// may have had. Which reads were late is unknown. But a late read makes the time before it longer, so the
// latest reads are assumed to be at the ends of the longest times. In this way, the number of times that
// are shortened equals the number of late reads. Deltas that were read together are spread over the lag.
func (c *corrector) takeLags(s *sample.Sample) {
	last := s.Start
	for i := 0; i < len(c.at); {
		at := c.at[i]
		var lag time.Duration
		if i == 0 {
			lag = c.lag(&c.user.first, s.First-s.Start)
		} else {
			lag = c.lag(&c.user.gap, s.Gaps[i-1])
		}
		end := i + 1
		for end < len(c.at) && s.Gaps[end-1] < sample.ClockError {
			end++
		}
		first := max(last, at-lag)
		for k := i; k < end; k++ {
			c.at[k] = first + (at-first)*time.Duration(k-i)/time.Duration(end-i)
		}
		i, last = end, c.at[end-1]
	}
}

// lag returns the lag that is assumed for the read at the end of the time d. Its rank among all lags is the
// same as the rank of d among times.
func (c *corrector) lag(times *histogram, d time.Duration) time.Duration {
	from, to := times.ranks(d)
	c.draw++
	const golden = 0.6180339887498949 // the multiples of this number, modulo 1, are spread evenly
	_, part := math.Modf(float64(c.draw) * golden)
	return c.lags[min(len(c.lags)-1, int((from+(to-from)*part)*float64(len(c.lags))))]
}

// send corrects the send. It removes the time by which the client sent a request of an open loop late. If
// the way is earliest, it also assumes the latest instant at which the kernel can have sent the request.
func (c *corrector) send() {
	s := &c.out
	later := time.Duration(0)
	if s.Scheduled {
		later = s.Late()
	}
	sending := time.Duration(0)
	if c.way == earliest && s.SentBy > 0 {
		sending = s.SentBy - s.Start
	}
	end := s.End
	if s.Deltas > 0 {
		end = s.First
	}
	s.Start = max(s.Start, min(s.Start+sending, end))
	s.Due = max(s.Due, min(s.Due+later+sending, end))
}
