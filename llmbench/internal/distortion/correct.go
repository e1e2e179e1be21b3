package distortion

import (
	"iter"
	"math"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// delays are what the samples and the control streams say about the client's delays.
type delays struct {
	first, all histogram // lags of reads that brought a first delta, and of all reads, on the kernel's clock
	control    histogram // lags of the reads of control streams
	firstGaps  histogram // between the first two deltas, where they were not read together
	gaps       histogram // between any two deltas that were not read together
	tails      histogram // from the last delta to the end, where they were not read together
	user       userTimes // of samples on the user clock
	merged     int       // deltas whose instants are not known exactly
	slow       int       // requests whose send may have been late
	users      int       // successful samples on the user clock
	passes     map[int]*activity
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
	for _, m := range s.Merged {
		d.merged += m.Deltas
	}
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

// addReads adds the reads of a sample on the kernel's clock.
func (d *delays) addReads(s *sample.Sample) {
	if len(s.Lags) == 0 {
		return
	}
	if d.passes == nil {
		d.passes = map[int]*activity{}
	}
	a := d.passes[s.Pass]
	if a == nil {
		a = &activity{}
		d.passes[s.Pass] = a
	}
	at := s.First
	for i, lag := range s.Lags {
		if i == 0 {
			d.first.add(lag)
		} else {
			at += s.Gaps[i-1]
		}
		d.all.add(lag)
		if i == len(s.Gaps) || s.Gaps[i] > 0 { // else the next delta is of the same read
			a.add(at+lag, lag)
		}
	}
}

// userTimes are times on the user clock: to the first delta, between two deltas, and to the end of
// answers without deltas.
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

// apart appends to all the gaps between two deltas that came at exact instants, and not
// together.
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

// How long a merged delta can have waited is judged by three facts, of which the smallest counts.
//
// The first is how late reads were. A client that is stopped goes on at an instant that has
// nothing to do with when segments arrive. The last segment before that instant, whose lag is
// known, has then waited for any part of the time with the same probability, and for less
// than an eighth of it with the probability 1/8. So a delta that was read together with a
// later one waited for at most 8 times the lag of that read, in 7 of 8 cases. If more than one
// read in twenty was late, the 95th percentile of the lags is large, and all are taken to have
// waited for 8 times as long; if fewer, at most one in 160 waited for longer than its bound,
// which changes no percentile up to the 99th.
//
// The second is how late other reads were that returned at the same time: if there are eight, all
// of them were late by less than half of the time of the stop with the probability 1/256.
//
// The third is how long gaps between deltas were that were not read together. A longer gap is
// less often within one stop of the client than a shorter one. So a gap that was hidden is not
// longer than the 99th percentile of those that were seen, nearly always.
const (
	certainty = 8
	usual     = 0.95
	longGap   = 0.99

	minNeighbours = 8
	neighbours    = 2 // times the longest lag of reads at the same time
)

// minSeen is the number of gaps of a kind that tell others of this kind.
const minSeen = 20

// A way is how samples are corrected.
type way int

const (
	likely        way = iota // every instant as is most likely
	earliest                 // every delta as early as possible, and every send as late
	firstEarliest            // the first delta of each answer as early as possible
	lastEarliest             // the last delta of each answer as early as possible
)

// A corrector corrects samples in one way.
type corrector struct {
	*delays
	way  way
	draw uint64 // number of lags so far

	usualFirst, usual   time.Duration          // lags of which few reads have more
	firstGap, gap, tail time.Duration          // of which few are longer
	lags                [4 << 10]time.Duration // quantiles of the lags of streams on the user clock

	out  sample.Sample
	at   []time.Duration // of the deltas
	gaps []time.Duration // that out has
}

// newCorrector returns a corrector for samples of which d is known.
func newCorrector(d *delays, w way) *corrector {
	c := &corrector{delays: d, way: w, usualFirst: d.first.quantile(usual), usual: d.all.quantile(usual)}
	c.gap = d.gaps.quantile(longGap)
	c.firstGap, c.tail = c.gap, c.gap
	if d.firstGaps.n >= minSeen {
		c.firstGap = d.firstGaps.quantile(longGap)
	}
	if d.tails.n >= minSeen {
		c.tail = d.tails.quantile(longGap)
	}
	if d.users > 0 {
		c.setLags()
	}
	return c
}

// setLags sets the quantiles of the lags of streams on the user clock: those of the control
// streams, or of the streams on the kernel's clock if there are none. Unless the way is likely,
// each is the lower end of its one-sided 99 % confidence interval, by the normal approximation
// of the binomial distribution (Hahn and Meeker, "Statistical Intervals", 1991, 5.2).
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

// hidden returns for how long delta i of s can have waited in addition to its lag. It was read
// together with the deltas before end, and with delta end if that is exact, or else with what
// came after them.
func (c *corrector) hidden(s *sample.Sample, i, end int, exact bool) time.Duration {
	gap := time.Duration(0)
	gaps := end - i // between the delta and the last one that was read
	if !exact {
		gaps--
		gap += c.gap
		if end == s.Deltas {
			gap += c.tail - c.gap
		}
	}
	if gaps > 0 && i == 0 {
		gaps--
		gap += c.firstGap
	}
	return min(c.certain(s, i), gap+time.Duration(gaps)*c.gap)
}

// certain returns for how long delta i of s can have waited in addition to its lag, by the lags of
// reads. The delta has not been corrected yet.
func (c *corrector) certain(s *sample.Sample, i int) time.Duration {
	lag, few := lagOf(s, i), c.usual
	if i == 0 {
		few = c.usualFirst
	}
	most := certainty * max(lag, few)
	if n, longest := c.passes[s.Pass].around(c.at[i] + lag); n > minNeighbours {
		most = min(most, neighbours*longest)
	}
	return most
}

// lagOf returns the lag of the read of delta i.
func lagOf(s *sample.Sample, i int) time.Duration {
	if i < len(s.Lags) {
		return s.Lags[i]
	}
	return 0
}

// correct returns the corrected samples. A sample is valid until the next one.
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

// sample returns s corrected.
func (c *corrector) sample(s *sample.Sample) *sample.Sample {
	if s.Outcome != sample.OK {
		return s
	}
	c.out = *s
	output := s.Deltas - s.Outputs // the first delta with more than reasoning, which comes before
	if s.Deltas > 0 && (len(s.Merged) > 0 || s.Clock == sample.UserClock) {
		c.setInstants(s)
		if s.Outputs > 0 && c.at[output] != s.FirstOutput { // reasoning and the rest take turns
			output = s.Deltas
		}
		c.move(s)
		c.takeInstants(output)
	}
	if s.Clock == sample.UserClock {
		if s.Deltas == 0 {
			c.out.End -= min(c.out.End-c.out.Start, c.lag(&c.user.end, s.End-s.Start))
		}
	}
	c.send()
	return &c.out
}

// setInstants sets the instants of the deltas.
func (c *corrector) setInstants(s *sample.Sample) {
	c.at = append(c.at[:0], s.First)
	for _, gap := range s.Gaps {
		c.at = append(c.at, c.at[len(c.at)-1]+gap)
	}
}

// takeInstants makes the instants of the deltas those of the sample. The delta of index output,
// if there is one, is the first with more than reasoning.
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
				if left := steps - (i - m.Delta); left > 0 {
					c.at[i] -= time.Duration(left) * min(gap, (c.at[i]-low)/time.Duration(steps))
				}
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
	for i := 1; i < n; i++ { // batches of one read can overlap by the error of the clock
		c.at[i] = max(c.at[i], c.at[i-1])
	}
}

// minGaps is the number of gaps of a stream that tell its pace.
const minGaps = 3

// pace returns the median gap of a stream, or of all streams if it has too few.
func (c *corrector) pace(s *sample.Sample) time.Duration {
	c.gaps = apart(c.gaps[:0], s)
	if len(c.gaps) < minGaps {
		return c.delays.gaps.quantile(0.5)
	}
	slices.Sort(c.gaps)
	return c.gaps[len(c.gaps)/2]
}

// takeLags takes from the instant of each delta of s, which is on the user clock, the lag that its
// read may have had. Which reads were late is unknown. But a late read makes the time before it
// longer, so that the longest times are taken for those of the latest reads. So as many times are
// made shorter as reads were late. The deltas that were read together are spread over the lag.
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

// lag returns the lag of a read that ended a time. Of all times it has the same rank as the time
// has among times.
func (c *corrector) lag(times *histogram, d time.Duration) time.Duration {
	from, to := times.ranks(d)
	c.draw++
	const golden = 0.6180339887498949 // its multiples are spread evenly
	_, part := math.Modf(float64(c.draw) * golden)
	return c.lags[min(len(c.lags)-1, int((from+(to-from)*part)*float64(len(c.lags))))]
}

// send corrects the send: without the time by which a request of an open loop was sent late,
// and at the latest instant at which the kernel can have sent it.
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
