package sample

import (
	"fmt"
	"iter"
	"slices"
	"time"
)

// Bursts says whether answers came in bursts because something between the server and the client buffers
// streams.
//
// A burst is a series of deltas without a gap of [BurstPause] or more. A stream came in bursts if at least
// one of the three conditions below is true. The first needs kernel timestamps. The first two need more deltas
// than an engine sends at once.
//
//   - Most pauses cut an event: the client had read the first part of an event when the rest arrived
//     (see [Sample].Cut). A burst must also have two deltas or more on average. A buffer of bytes may
//     end in the middle of an event, but a server writes whole events.
//   - Most deltas came in large bursts, with more deltas than an engine sends at once. Each such burst
//     arrived within 10 us per delta, after a pause of at least 100 us per delta. Its deltas came in
//     one segment, or the client read them promptly. Without the last condition, a client that gets no
//     CPU would also match: it reads many deltas at once that came one by one, see [Merged]. Without
//     kernel timestamps the client reads promptly if its control streams show it: they were late by less
//     than the time in which an engine would have generated the deltas of the burst.
//   - The second condition is true for bursts of two deltas or more, the first burst is one of them,
//     and the mean pause is at least 10 ms. An engine sends its first delta alone, because the prefill
//     generates one token.
//
// Engines send up to 16 deltas at once: with multi-step scheduling
// (https://docs.vllm.ai/en/v0.6.6/serving/engine_args.html, --num-scheduler-steps), and with speculative
// decoding if the server sends an event for each accepted token. In both cases the prefill is a separate
// step that generates one token (https://github.com/vllm-project/vllm/blob/v0.6.6/vllm/core/scheduler.py,
// _get_num_lookahead_slots).
//
// The tests of this package and of package backends check what is recognised as bursts:
//
//	nginx 1.26 with its defaults, 20 to 2,000 tokens/s, 1 to 64 streams  yes
//	nginx with buffers of 8 or 64 KiB, events of two sizes               yes
//	a whole answer in one piece, more than 16 deltas                     yes
//	a proxy that flushes every 100 ms, 5 ms a token                      yes
//	a proxy that flushes every 50 ms, 5 ms a token: 10 deltas            yes
//	a proxy or a server that sends 2 to 16 deltas at once, 10 ms apart   yes
//	an answer of up to 16 deltas in one piece                            no: a server may do this
//	an answer in one piece in several segments that the client read late no: the client may be late
//	nginx with proxy_buffering off                                       no
//	nginx with HTTP/1.1 to the server: it passes on each chunk           no
//	2 to 16 deltas at once, the first one alone: drafts, several steps   no
//	2 to 16 deltas at once, less than 10 ms apart                        no: a server's timer may do this
//	2 to 16 tokens a delta                                               no
//	tokens every 20 us, and all tokens at once within 100 us a token     no
//	a client that gets no CPU                                            no
//	events in two parts, a pause between                                 no: one delta a burst
//	without kernel timestamps, all of the above but nginx                alike, but small bursts only if far apart
type Bursts struct {
	Streams  int           // successful streams that could be judged
	InBursts int           // streams that came in bursts
	Deltas   float64       // mean number of deltas in a burst of these streams
	Apart    time.Duration // mean time between two bursts of a stream; 0 if each of these streams was one burst
}

const (
	// BurstPause is the shortest time between two bursts. It is also the shortest time between two parts of
	// an event that counts for [Sample].Cut.
	BurstPause = time.Millisecond

	mostAtOnce  = 16                     // maximum number of deltas that an engine sends at once
	leastDeltas = 4                      // minimum number of deltas of a stream that is judged
	flushPause  = 10 * time.Millisecond  // minimum mean pause between bursts of up to mostAtOnce deltas
	burstPace   = 10 * time.Microsecond  // maximum time per delta within a burst
	enginePace  = 100 * time.Microsecond // minimum time that an engine takes to generate a delta
	streamPace  = 250 * time.Microsecond // like enginePace, for most streams of a load

	// promptShare limits the lag of a prompt read: at most a quarter of an engine's time for one delta. If
	// deltas come one by one and a client reads several at once, the lag of the last of them is random,
	// between 0 and the whole of an engine's time for a delta.
	promptShare = 4
)

// FindBursts returns how many streams among samples came in bursts, and describes these bursts. The argument late
// is a time that most stops of the client do not exceed. It matters only for samples without kernel timestamps. If it
// is unknown, it must be 0; bursts are then not blamed on the client.
// FindBursts is a pure function.
func FindBursts(samples iter.Seq[*Sample], late time.Duration) Bursts {
	var b Bursts
	var deltas, bursts, pauses int
	var apart time.Duration
	for s := range samples {
		if s.Outcome != OK || s.Clock == "" || s.Deltas < leastDeltas || len(s.Gaps) != s.Deltas-1 || s.Clock == KernelClock && len(s.Lags) != s.Deltas {
			continue
		}
		n, between, found := s.bursts(late)
		if n == 1 && s.Deltas <= mostAtOnce { // a server may send these at once
			continue
		}
		b.Streams++
		if !found {
			continue
		}
		b.InBursts++
		deltas += s.Deltas
		bursts += n
		pauses += n - 1
		apart += between
	}
	if bursts > 0 {
		b.Deltas = float64(deltas) / float64(bursts)
	}
	if pauses > 0 {
		b.Apart = apart / time.Duration(pauses)
	}
	return b
}

// Found reports whether most streams came in bursts.
func (b Bursts) Found() bool { return 2*b.InBursts > b.Streams }

// String returns a description such as "48 of 48 streams, 18.3 deltas a burst, 96ms apart".
func (b Bursts) String() string {
	apart := "each answer in one piece"
	if b.Apart > 0 {
		apart = b.Apart.Round(100*time.Microsecond).String() + " apart"
	}
	return fmt.Sprintf("%d of %d streams, %.3g deltas a burst, %s", b.InBursts, b.Streams, b.Deltas, apart)
}

// Hide returns the names of the units that have no meaning because answers came in bursts, in the order of
// units; see [OfDeltas]. E2E latencies, other rates and counts are correct, because an answer ends with a burst.
func (b Bursts) Hide(units []Unit, slo SLO) (names []string) {
	if !b.Found() {
		return nil
	}
	return OfDeltas(units, slo)
}

// OfDeltas returns the names of the units, among the given ones, that have no meaning if the instants of deltas
// have none: the times to the first delta, the times per token, the gaps between deltas, and the rate of requests
// within the SLO, if the SLO limits one of these times. The argument slo is the SLO of all requests.
func OfDeltas(units []Unit, slo SLO) (names []string) {
	for _, u := range units {
		switch u.Family {
		case FamilyTTFT, FamilyTPOT, FamilyITL:
			names = append(names, u.Name)
		}
		if u.Name == GoodRate && slo.NeedsStream() || u.Base == GoodRate {
			names = append(names, u.Name)
		}
	}
	return names
}

// bursts returns the number of bursts of a stream and the sum of the times between the bursts. It also
// reports whether the stream came in bursts because something buffers it. For late see [FindBursts].
func (s *Sample) bursts(late time.Duration) (n int, apart time.Duration, found bool) {
	certain := 0  // number of deltas in bursts that are too large for an engine
	together := 0 // number of deltas in bursts of two or more that were sent at once
	first := 1    // number of deltas in the first burst, if they were sent at once
	begin, pause := 0, s.First-s.Start
	var inside time.Duration // duration of the burst that began with delta begin, after pause
	end := func(to int) {
		n++
		size := time.Duration(to - begin)
		engine := pause / size
		prompt := s.prompt(begin, to, engine, late)
		if size < 2 || inside > burstPace*(size-1) || engine < enginePace || !prompt {
			return
		}
		if together += int(size); size > mostAtOnce {
			certain += int(size)
		}
		if begin == 0 {
			first = int(size)
		}
	}
	for i, gap := range s.Gaps {
		if gap < BurstPause {
			inside += gap
			continue
		}
		end(i + 1)
		begin, pause, inside = i+1, gap, 0
		apart += gap
	}
	end(s.Deltas)
	cut := 2*s.Cut > n-1 && s.Deltas >= 2*n && n > 1 && s.Deltas > mostAtOnce
	flushed := first > 1 && n > 1 && 4*together >= 3*s.Deltas && apart >= flushPause*time.Duration(n-1)
	return n, apart, cut || 2*certain > s.Deltas || flushed
}

// prompt reports whether the client read the burst of deltas from begin to end, excluding end, so promptly that the
// deltas cannot have come one by one. The engine took at most the given time to generate each delta.
func (s *Sample) prompt(begin, end int, engine, late time.Duration) bool {
	if s.Clock == KernelClock {
		return s.Lags[begin] <= engine/promptShare || !s.mergedWithin(begin, end)
	}
	if begin == 0 { // the time before the first burst includes the prefill
		engine = streamPace
		if n := len(s.Gaps); end <= n {
			engine = max(engine, (s.Last-s.First)/time.Duration(n))
		}
	}
	return time.Duration(end-begin-1)*engine > late
}

// mergedWithin reports whether one of the deltas from begin to end, excluding end, is Merged.
func (s *Sample) mergedWithin(begin, end int) bool {
	return slices.ContainsFunc(s.Merged, func(m Merged) bool { return m.Delta < end && begin < m.Delta+m.Deltas })
}
