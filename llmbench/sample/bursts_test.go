package sample

import (
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// A burstShape describes a stream. Its deltas come size at a time, every size x pace.
type burstShape struct {
	deltas int
	pace   time.Duration // the server's time to generate a delta
	size   int           // number of deltas at a time
	inside time.Duration // time between two deltas of a burst
	first  time.Duration // time from the send to the first burst; 0 means size x pace
	cut    int           // share of bursts whose end cuts an event, in percent
	lag    time.Duration // time from the kernel's timestamp to the client's read
	merged bool          // the deltas of a burst came in several segments
	alone  bool          // the first delta comes alone, because the prefill generates it
}

func (b burstShape) sample() Sample {
	first := b.first
	if first == 0 {
		first = time.Duration(b.size) * b.pace
	}
	s := Sample{Outcome: OK, Clock: KernelClock, Streamed: true, Start: time.Second, First: time.Second + first, Deltas: b.deltas}
	s.Last = s.First
	bursts := 1
	for i := range b.deltas {
		s.Lags = append(s.Lags, b.lag)
		if i == 0 {
			continue
		}
		gap := b.inside
		at := i
		if b.alone {
			at += b.size - 1
		}
		if at%b.size == 0 {
			gap = time.Duration(b.size)*b.pace - time.Duration(b.size-1)*b.inside
			bursts++
		}
		s.Gaps = append(s.Gaps, gap)
		s.Last += gap
	}
	for i := 0; b.merged && i < b.deltas; i += b.size {
		s.Merged = append(s.Merged, Merged{Delta: i, Deltas: min(b.size, b.deltas-i)})
	}
	s.Cut = (bursts - 1) * b.cut / 100
	return s
}

// TestFindBursts checks what is recognised, and what is not.
func TestFindBursts(t *testing.T) {
	const us, ms = time.Microsecond, time.Millisecond
	for _, c := range []struct {
		name  string
		shape burstShape
		want  bool
	}{
		{"nginx, 20 tokens/s", burstShape{deltas: 128, pace: 50 * ms, size: 18, cut: 100, lag: 60 * us}, true},
		{"nginx, 190 tokens/s", burstShape{deltas: 128, pace: 5300 * us, size: 18, cut: 100, lag: 60 * us}, true},
		{"nginx, 2,000 tokens/s", burstShape{deltas: 2000, pace: 500 * us, size: 18, cut: 95, lag: 60 * us}, true},
		{"nginx, large events", burstShape{deltas: 128, pace: 5 * ms, size: 5, cut: 100, lag: 60 * us}, true},
		{"nginx, events of half a buffer", burstShape{deltas: 20, pace: 5 * ms, size: 2, cut: 100, lag: 60 * us}, true},
		{"nginx, a client that reads late", burstShape{deltas: 128, pace: 5 * ms, size: 18, cut: 100, lag: 20 * ms}, true},
		{"nginx, two buffers", burstShape{deltas: 24, pace: 5 * ms, size: 18, cut: 100, lag: 60 * us}, true},
		{"buffers of 64 KiB in many segments", burstShape{deltas: 1000, pace: 5 * ms, size: 290, inside: 2 * us, cut: 100, lag: 60 * us, merged: true}, true},
		{"one piece", burstShape{deltas: 128, pace: 5 * ms, size: 128, lag: 60 * us}, true},
		{"one piece in many segments", burstShape{deltas: 2000, pace: 5 * ms, size: 2000, inside: 5 * us, lag: 60 * us, merged: true}, true},
		{"one piece, 17 deltas", burstShape{deltas: 17, pace: 5 * ms, size: 17, lag: 60 * us}, true},
		{"one piece in one segment, a client that reads late", burstShape{deltas: 128, pace: 5 * ms, size: 128, lag: 20 * ms}, true},
		{"flushed every 50 ms", burstShape{deltas: 200, pace: 5 * ms, size: 10, lag: 60 * us}, true},
		{"flushed every 50 ms, a short answer", burstShape{deltas: 16, pace: 5 * ms, size: 10, lag: 60 * us}, true},
		{"8 at once", burstShape{deltas: 64, pace: 5 * ms, size: 8, lag: 60 * us}, true},
		{"flushed every 100 ms", burstShape{deltas: 200, pace: 5 * ms, size: 20, lag: 60 * us}, true},

		{"a short answer, one by one", burstShape{deltas: 16, pace: 20 * ms, size: 1, lag: 60 * us}, false},
		{"one by one", burstShape{deltas: 128, pace: 5 * ms, size: 1, lag: 60 * us}, false},
		{"one piece, 16 deltas", burstShape{deltas: 16, pace: 5 * ms, size: 16, lag: 60 * us}, false},
		{"speculative decoding", burstShape{deltas: 129, pace: 5 * ms, size: 4, lag: 60 * us, alone: true}, false},
		{"16 steps at once", burstShape{deltas: 161, pace: 5 * ms, size: 16, lag: 60 * us, alone: true}, false},
		{"16 steps at once, an event in a hundred cut", burstShape{deltas: 1617, pace: 5 * ms, size: 16, cut: 1, lag: 60 * us, alone: true}, false},
		{"a timer of 1 ms, 300 us a token", burstShape{deltas: 120, pace: 300 * us, size: 4, lag: 60 * us}, false},
		{"one piece in segments, a client that reads late", burstShape{deltas: 128, pace: 5 * ms, size: 128, lag: 20 * ms, merged: true}, false},
		{"4 tokens a delta", burstShape{deltas: 32, pace: 20 * ms, size: 1, lag: 60 * us}, false},
		{"a client that gets no CPU", burstShape{deltas: 200, pace: 5 * ms, size: 20, lag: 2 * ms, merged: true}, false},
		{"tokens every 20 us", burstShape{deltas: 500, pace: 20 * us, size: 1, first: 50 * ms, lag: 10 * us}, false},
		{"all at once, soon", burstShape{deltas: 500, pace: 10 * us, size: 500, inside: us, lag: us}, false},
		{"a delta in two parts, each alone", burstShape{deltas: 128, pace: 10 * ms, size: 1, cut: 100, lag: 60 * us}, false},
		{"one delta", burstShape{deltas: 1, pace: 5 * ms, size: 1}, false},
	} {
		b := FindBursts(All(c.shape.sample()), 0)
		assert.Equal(t, b.Found(), c.want, "%s: %v", c.name, b)
	}
}

// TestBurstsWithoutTimestamps checks what is recognised without kernel timestamps, by how late control streams were.
func TestBurstsWithoutTimestamps(t *testing.T) {
	const us, ms = time.Microsecond, time.Millisecond
	for _, c := range []struct {
		name  string
		shape burstShape
		late  time.Duration
		want  bool
	}{
		{"one piece", burstShape{deltas: 64, pace: 5 * ms, size: 64}, 200 * us, true},
		{"one piece in several reads", burstShape{deltas: 64, pace: 5 * ms, size: 64, inside: 5 * us}, 200 * us, true},
		{"one piece, a client that may be busy", burstShape{deltas: 64, pace: 5 * ms, size: 64}, 10 * ms, true},
		{"one piece, nothing known", burstShape{deltas: 64, pace: 5 * ms, size: 64}, 0, true},
		{"flushed every 100 ms", burstShape{deltas: 200, pace: 5 * ms, size: 20}, 200 * us, true},
		{"flushed every 50 ms", burstShape{deltas: 200, pace: 5 * ms, size: 10}, 10 * ms, true},
		{"nginx", burstShape{deltas: 128, pace: 5 * ms, size: 18}, 200 * us, true},

		{"one by one", burstShape{deltas: 128, pace: 5 * ms, size: 1}, 200 * us, false},
		{"16 steps at once", burstShape{deltas: 161, pace: 5 * ms, size: 16, alone: true}, 200 * us, false},
		{"one piece, 16 deltas", burstShape{deltas: 16, pace: 5 * ms, size: 16}, 200 * us, false},
		{"a client that stops for 100 ms", burstShape{deltas: 200, pace: 5 * ms, size: 20}, 100 * ms, false},
		{"a client that stops for a whole answer", burstShape{deltas: 64, pace: 500 * us, size: 64}, 32 * ms, false},
		{"tokens every 20 us", burstShape{deltas: 500, pace: 20 * us, size: 1, first: 50 * ms}, 100 * us, false},
	} {
		s := c.shape.sample()
		s.ToUserClock()
		b := FindBursts(All(s), c.late)
		assert.Equal(t, b.Found(), c.want, "%s: %v", c.name, b)
	}
}

// merged returns a stream of an engine that sends 16 deltas at a time. Two successive bursts of it arrived
// together.
func merged() Sample {
	s := burstShape{deltas: 129, pace: 5 * time.Millisecond, size: 16, lag: 50 * time.Microsecond, alone: true}.sample()
	s.Last -= s.Gaps[32]
	s.Gaps[32] = 0
	return s
}

// TestBursts checks which streams count, and the description of the bursts.
func TestBursts(t *testing.T) {
	pieces := burstShape{deltas: 100, pace: time.Millisecond, size: 25}.sample()
	whole := burstShape{deltas: 40, pace: time.Millisecond, size: 40}.sample()
	single := burstShape{deltas: 40, pace: time.Millisecond, size: 1}.sample()
	short := burstShape{deltas: 4, pace: time.Millisecond, size: 4}.sample()
	failed, user, noLags := whole, whole, whole
	failed.Outcome = Truncated
	noLags.Lags = nil
	user.ToUserClock()
	for _, c := range []struct {
		samples []Sample
		found   bool
		want    string
	}{
		{nil, false, "0 of 0 streams, 0 deltas a burst, each answer in one piece"},
		{[]Sample{pieces}, true, "1 of 1 streams, 25 deltas a burst, 25ms apart"},
		{[]Sample{whole, whole}, true, "2 of 2 streams, 40 deltas a burst, each answer in one piece"},
		{[]Sample{pieces, whole, single}, true, "2 of 3 streams, 28 deltas a burst, 25ms apart"},
		{[]Sample{whole, single}, false, "1 of 2 streams, 40 deltas a burst, each answer in one piece"},
		{[]Sample{whole, short, failed, user}, true, "2 of 2 streams, 40 deltas a burst, each answer in one piece"},
		{[]Sample{short, failed, user, noLags}, true, "1 of 1 streams, 40 deltas a burst, each answer in one piece"},
		{[]Sample{short, failed, noLags}, false, "0 of 0 streams, 0 deltas a burst, each answer in one piece"},
		{[]Sample{merged()}, false, "0 of 1 streams, 0 deltas a burst, each answer in one piece"},
	} {
		b := FindBursts(All(c.samples...), 0)
		assert.Equal(t, b.Found(), c.found, "%v", b)
		assert.Equal(t, b.String(), c.want)
	}
}

// TestHide checks which units have no meaning if answers come in bursts.
func TestHide(t *testing.T) {
	found := FindBursts(All(burstShape{deltas: 40, pace: time.Millisecond, size: 40}.sample()), 0)
	units := Named("output-tok/s", GoodRate, "p50-ttft-ns", "p50-ttft-turn2-ns", "mean-tpot-ns", "p99-itl-ns", "p50-e2e-ns", "p99-e2e-bound-ns", "p99-ttft-bound-ns", "p99-service-ttft-ns", "user-tok/s", "out-tok/req")
	times := []string{"p50-ttft-ns", "p50-ttft-turn2-ns", "mean-tpot-ns", "p99-itl-ns", "p99-ttft-bound-ns", "p99-service-ttft-ns"}
	assert.DeepEqual(t, found.Hide(units, SLO{E2E: time.Second}), times)
	for _, slo := range []SLO{{TTFT: 1}, {TPOT: 1, E2E: 1}} {
		assert.DeepEqual(t, found.Hide(units, slo), slices.Concat([]string{GoodRate}, times))
	}
	assert.Equal(t, len(Bursts{Streams: 1}.Hide(units, SLO{TTFT: 1})), 0)
}
