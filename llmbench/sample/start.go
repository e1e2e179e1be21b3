package sample

import (
	"fmt"
	"iter"
	"slices"
	"time"
)

// A Start says whether the first deltas of streams came together although the later deltas came apart. Something
// between the server and the client may have held them back, such as a gateway that leaves Nagle's algorithm on while
// the other end delays its acknowledgements
// (https://www.rfc-editor.org/rfc/rfc9293.html#section-3.7.4, https://www.rfc-editor.org/rfc/rfc9293.html#section-3.8.6.3).
// A server may do the same: only a comparison with the streams of the server itself tells who did. [Bursts] is about
// streams that come together from the first delta to the last.
//
// Deltas came together if the gaps between them are less than a tenth of the mean gap after them, or 10 us or less. The
// start of a stream is the first such group of deltas, or the second one if the first delta came alone. It was held
// if all of the following conditions are true:
//
//   - It has two deltas or more, and at least about twice as many as the groups after it have on average. An engine
//     that always sends several tokens at once is therefore no reason.
//   - At the pace of the later deltas, its deltas take 1 ms or longer, and they came after a pause of at least half
//     that time.
//   - Its deltas came in one segment, or the client read them promptly, as [Bursts] describes.
//   - At least four deltas came after it.
type Start struct {
	Streams int           // successful streams that could be judged
	Held    int           // streams whose start was held
	First   int           // index of the first held delta, 0 or 1; a median of the streams in Held, as the rest
	Deltas  int           // number of deltas that came together
	Longer  time.Duration // how long these deltas take at the pace of the later ones
}

// FindStart returns what most of the samples have in common at the start of their streams. For late see [FindBursts].
// FindStart is a pure function.
func FindStart(samples iter.Seq[*Sample], late time.Duration) (s Start) {
	var first, deltas []int
	var longer []time.Duration
	for one := range samples {
		if one.Outcome != OK || one.Clock == "" || len(one.Gaps) != one.Deltas-1 || one.Clock == KernelClock && len(one.Lags) != one.Deltas {
			continue
		}
		begin, end, pace, known := one.start(late)
		if !known {
			continue
		}
		if s.Streams++; end == 0 {
			continue
		}
		s.Held++
		first, deltas = append(first, begin), append(deltas, end-begin)
		longer = append(longer, time.Duration(end-begin-1)*pace)
	}
	if s.Held > 0 {
		s.First, s.Deltas, s.Longer = middle(first), middle(deltas), middle(longer)
	}
	return s
}

// Found reports whether the start of most streams was held.
func (s Start) Found() bool { return 2*s.Held > s.Streams }

// String names the deltas that came together, such as "the first 8 deltas" or "deltas 2 to 8".
func (s Start) String() string {
	if s.First > 0 {
		return fmt.Sprintf("deltas %d to %d", s.First+1, s.First+s.Deltas)
	}
	return fmt.Sprintf("the first %d deltas", s.Deltas)
}

const (
	leastLater   = 4  // minimum number of deltas after the start of a stream
	togetherPart = 10 // gaps between deltas that came together are less than this part of the later gaps
)

// start returns the deltas that were held at the start of a stream, from begin to end, excluding end, and the mean gap
// after them. If none were held, end is 0. The result known says that the stream could be judged.
func (s *Sample) start(late time.Duration) (begin, end int, pace time.Duration, known bool) {
	if s.Deltas < 2+leastLater {
		return 0, 0, 0, false
	}
	for begin = range 2 {
		var size int
		if size, pace = s.together(begin); size > 1 {
			end = begin + size
			break
		}
	}
	later := s.Deltas - end
	switch {
	case end == 0:
		return 0, 0, pace, true
	case later < leastLater: // Bursts judges such a stream
		return 0, 0, 0, false
	case !s.prompt(begin, end, pace, late):
		return 0, 0, 0, false
	}
	pause, longer := s.First-s.Start, time.Duration(end-begin-1)*pace
	if begin > 0 {
		pause = s.Gaps[begin-1]
	}
	groups := 0 // after the start
	for _, gap := range s.Gaps[end-1:] {
		if gap > s.apart(pace) {
			groups++
		}
	}
	if float64(end-begin) < 2*float64(later)/float64(max(groups, 1))-0.5 || longer < BurstPause || 2*pause < longer {
		return 0, 0, pace, true
	}
	return begin, end, pace, true
}

// together returns how many deltas from begin on came together, and the mean gap after them.
func (s *Sample) together(begin int) (size int, pace time.Duration) {
	var before time.Duration // from the first delta to the last one of the group
	for _, gap := range s.Gaps[:begin] {
		before += gap
	}
	for end := begin + 1; ; end++ {
		later := s.Deltas - end
		if later == 0 {
			return end - begin, 0
		}
		pace = (s.Last - s.First - before) / time.Duration(later)
		if gap := s.Gaps[end-1]; gap > s.apart(pace) {
			return end - begin, pace
		} else {
			before += gap
		}
	}
}

// apart returns the longest gap between two deltas that came together, if the mean gap of later deltas is pace.
func (s *Sample) apart(pace time.Duration) time.Duration { return max(burstPace, pace/togetherPart) }

// middle returns the median of values, which must not be empty. It sorts them.
func middle[T int | time.Duration](values []T) T {
	slices.Sort(values)
	return values[len(values)/2]
}
