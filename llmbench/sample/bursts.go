package sample

import (
	"fmt"
	"iter"
	"slices"
	"time"
)

// Bursts say whether answers came in bursts because something between the server and the
// client buffers streams.
//
// A burst is the deltas without a gap of [BurstPause] or more. A stream came in bursts if one of
// the following is true. All need kernel timestamps. The first two need more deltas than an engine
// sends at once.
//
//   - Most pauses cut an event: the client had read the first part of an event when the rest
//     arrived (see [Sample].Cut), and a burst has two deltas or more. A buffer of bytes ends
//     anywhere in an event, and a server writes whole events.
//   - Most deltas came in bursts of more deltas than an engine sends at once, each of which
//     arrived within 10 us a delta and after at least 100 us a delta. These deltas came in one
//     segment, or the client read them promptly: a client that gets no CPU reads many deltas
//     at once which came one by one, see [Merged].
//   - The same is true of bursts of two deltas or more, the first one is among them, and the mean
//     pause is at least 10 ms. An engine sends its first delta alone, because the prefill
//     generates one token.
//
// Engines send up to 16 deltas at once: with multi-step scheduling
// (https://docs.vllm.ai/en/v0.6.6/serving/engine_args.html, --num-scheduler-steps) and with
// speculative decoding, where the server has an event for each accepted token. With both, the prefill
// is a step of its own, of one token
// (https://github.com/vllm-project/vllm/blob/v0.6.6/vllm/core/scheduler.py, _get_num_lookahead_slots).
//
// What is recognised, as the tests of this package and of package backends check it:
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
//	without kernel timestamps                                            never
type Bursts struct {
	Streams  int           // successful streams that could be judged
	InBursts int           // those that came in bursts
	Deltas   float64       // mean deltas of a burst of these
	Apart    time.Duration // mean time between two bursts of these; 0 if each was one burst
}

const (
	// BurstPause is the least time between two bursts, and between two parts of an event
	// that count for [Sample].Cut.
	BurstPause = time.Millisecond

	mostAtOnce  = 16                     // deltas that an engine sends at once
	leastDeltas = 4                      // of a stream that is judged
	flushPause  = 10 * time.Millisecond  // the least mean pause between bursts that have up to mostAtOnce deltas
	burstPace   = 10 * time.Microsecond  // the most that a delta of a burst takes
	enginePace  = 100 * time.Microsecond // the least that an engine takes for the same delta

	// promptShare is which part of an engine's time for a delta the lag of a prompt read is at
	// most, here a quarter. If deltas come one by one and a client reads several at once,
	// the lag of the last of them is anything up to the whole of this time.
	promptShare = 4
)

// FindBursts describes the bursts of samples. It is a pure function.
func FindBursts(samples iter.Seq[*Sample]) Bursts {
	var b Bursts
	var deltas, bursts, pauses int
	var apart time.Duration
	for s := range samples {
		if s.Outcome != OK || s.Clock != KernelClock || s.Deltas < leastDeltas || len(s.Lags) != s.Deltas {
			continue
		}
		n, between, found := s.bursts()
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

// String describes the bursts, as "48 of 48 streams, 18.3 deltas a burst, 96ms apart".
func (b Bursts) String() string {
	apart := "each answer in one piece"
	if b.Apart > 0 {
		apart = b.Apart.Round(100*time.Microsecond).String() + " apart"
	}
	return fmt.Sprintf("%d of %d streams, %.3g deltas a burst, %s", b.InBursts, b.Streams, b.Deltas, apart)
}

// Hide returns those of units that mean nothing if answers come in bursts, in their order. These
// are times to the first delta, which came with its burst, times per token after it, and gaps
// between deltas. The rate of requests that keep an SLO is one of them if the SLO limits one
// of these times. E2E latencies, rates and counts are right: an answer ends with a burst.
func (b Bursts) Hide(units []Unit, slo SLO) (names []string) {
	if !b.Found() {
		return nil
	}
	for _, u := range units {
		switch u.Family {
		case FamilyTTFT, FamilyTPOT, FamilyITL:
			names = append(names, u.Name)
		}
		if u.Name == GoodRate && slo.NeedsStream() {
			names = append(names, u.Name)
		}
	}
	return names
}

// bursts returns the number of bursts of a stream and the sum of the times between them. It also
// reports whether the stream came in bursts because something buffers it.
func (s *Sample) bursts() (n int, apart time.Duration, found bool) {
	certain := 0  // deltas in bursts that no engine sends
	together := 0 // deltas in bursts of two or more that were sent at once
	first := 1    // deltas of the first burst, if they were sent at once
	begin, pause := 0, s.First-s.Start
	var inside time.Duration // of the burst that began with delta begin, after pause
	end := func(to int) {
		n++
		size := time.Duration(to - begin)
		engine := pause / size
		prompt := s.Lags[begin] <= engine/promptShare || !s.mergedWithin(begin, to)
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

// mergedWithin reports whether one of the deltas from begin to end, without end, is Merged.
func (s *Sample) mergedWithin(begin, end int) bool {
	return slices.ContainsFunc(s.Merged, func(m Merged) bool { return m.Delta < end && begin < m.Delta+m.Deltas })
}
