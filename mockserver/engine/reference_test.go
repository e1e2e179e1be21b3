package engine

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// A reference is a simple implementation of the model in the package documentation. It decides
// after every step and counts all blocks each time. It has neither drafts nor a prefix cache.
// Times are whole microseconds.
type reference struct {
	p      Profile
	now    time.Duration
	busy   bool
	ends   time.Duration   // end of the current activity
	parts  []referencePart // parts of the current prefill
	steps  bool            // the activity includes a decode step
	gap    int             // decode steps since the last prefill
	queue  []*referenceSeq
	placed []*referenceSeq // running sequences in the order of admission
}

type referenceSeq struct {
	prompt, output int
	hold, gone     bool
	state          State
	tokens         int
	fill           int // number of tokens, of prompt and output so far, that must still be computed
	at             []time.Duration
}

type referencePart struct {
	s *referenceSeq
	n int
}

func (s *reference) blocks(tokens int) int { return (tokens + s.p.Block() - 1) / s.p.Block() }

func (s *reference) in(state State) (all []*referenceSeq) {
	for _, q := range s.placed {
		if q.state == state {
			all = append(all, q)
		}
	}
	return all
}

// free returns the number of free blocks.
func (s *reference) free() int {
	if s.p.KVBlocks == 0 {
		return math.MaxInt
	}
	n := s.p.KVBlocks
	for _, q := range s.placed {
		more := 0
		if q.state == Filling { // including the next token
			more = 1
		}
		n -= s.blocks(q.prompt + q.tokens + more)
	}
	return n
}

// grows returns how many free blocks the next decode step needs.
func (s *reference) grows() (n int) {
	for _, q := range s.in(Decoding) {
		n += s.blocks(q.prompt+q.tokens+1) - s.blocks(q.prompt+q.tokens)
	}
	return n
}

// makeRoom preempts the sequences that were admitted last until the next step fits. It
// reports whether it preempted a sequence.
func (s *reference) makeRoom() (preempted bool) {
	for s.grows() > s.free() {
		for k := len(s.placed) - 1; ; k-- {
			if q := s.placed[k]; q.state != Holding {
				s.placed = slices.Delete(s.placed, k, k+1)
				q.state = Waiting
				s.queue = slices.Insert(s.queue, 0, q)
				break
			}
		}
		preempted = true
	}
	return preempted
}

func (s *reference) decide() {
	s.placed = slices.DeleteFunc(s.placed, func(q *referenceSeq) bool { return q.gone && !s.p.Zombies && q.state != Holding })
	chunked := s.p.PrefillChunk > 0
	for try := 0; ; try++ {
		preempted := chunked && s.makeRoom()
		s.parts, s.steps = nil, false
		left := s.p.PrefillChunk
		if chunked {
			for _, q := range s.in(Filling) {
				if left > 0 && len(s.parts) < max(1, s.p.PrefillSeqs) {
					n := min(left, q.fill)
					s.parts = append(s.parts, referencePart{q, n})
					left -= n
				}
			}
		}
		if !preempted {
			s.admit(left)
		}
		sum := 0
		for _, part := range s.parts {
			sum += part.n
		}
		decoding := s.in(Decoding)
		if len(s.parts) > 0 {
			s.steps = chunked && len(decoding) > 0
			s.begin(s.p.Prefill + s.p.PrefillPerToken*float64(sum))
			return
		}
		if !chunked {
			s.makeRoom()
			decoding = s.in(Decoding)
		}
		if len(decoding) > 0 {
			s.steps = true
			s.begin(0)
			return
		}
		if try > 0 || len(s.queue) == 0 {
			s.busy = false
			return
		}
	}
}

// begin begins a prefill of the given duration, a decode step, or both.
func (s *reference) begin(micros float64) {
	if s.steps {
		b, k := s.in(Decoding), 0
		for _, q := range b {
			k += q.prompt + q.tokens
		}
		n := float64(len(b))
		micros += s.p.Step + s.p.StepPerSeq*n + s.p.StepPerSeqAboveKnee*max(0, n-float64(s.p.Knee)) + s.p.StepPerKVToken*float64(k)
	}
	s.busy, s.ends = true, s.now+time.Duration(micros)*time.Microsecond
}

// admit admits sequences. left is the number of tokens that still fit into the chunk.
func (s *reference) admit(left int) {
	if len(s.in(Decoding)) > 0 && s.gap < s.p.PrefillGap {
		return
	}
	sum := 0
	for _, part := range s.parts {
		sum += part.n
	}
	for len(s.queue) > 0 && len(s.placed) < s.p.MaxBatch && len(s.parts) < max(1, s.p.PrefillSeqs) && (s.p.PrefillChunk == 0 || left > 0) {
		q := s.queue[0]
		length := q.prompt + q.tokens
		spare := 0
		if len(s.in(Decoding))+len(s.in(Filling)) > 0 {
			spare = int(s.p.Watermark * float64(s.p.KVBlocks))
			if s.p.PrefillChunk > 0 {
				spare += s.grows()
			}
		}
		if s.blocks(length+1) > s.free()-spare {
			return
		}
		if sum += length; s.p.PrefillTokens > 0 && len(s.parts) > 0 && sum > s.p.PrefillTokens {
			return
		}
		s.queue = s.queue[1:]
		q.state, q.fill = Filling, length
		s.placed = append(s.placed, q)
		n := q.fill
		if s.p.PrefillChunk > 0 {
			n = min(n, left)
			left -= n
		}
		s.parts = append(s.parts, referencePart{q, n})
	}
}

// end ends the current activity.
func (s *reference) end() {
	s.now = s.ends
	if s.steps {
		s.gap++
		for _, q := range s.in(Decoding) {
			s.token(q)
		}
	}
	if len(s.parts) > 0 {
		s.gap = 0
	}
	for _, part := range s.parts {
		if part.s.fill -= part.n; part.s.fill == 0 {
			part.s.state = Decoding
			s.token(part.s)
		}
	}
	s.decide()
}

func (s *reference) token(q *referenceSeq) {
	q.tokens++
	q.at = append(q.at, s.now)
	if q.tokens < q.output {
		return
	}
	q.state = Holding
	if !q.hold || q.gone {
		s.leave(q)
	}
}

func (s *reference) leave(q *referenceSeq) {
	q.state = Finished
	s.placed = slices.DeleteFunc(s.placed, func(o *referenceSeq) bool { return o == q })
}

func (s *reference) upTo(at time.Duration) {
	for s.busy && s.ends <= at {
		s.end()
	}
	s.now = at
}

func (s *reference) submit(at time.Duration, q *referenceSeq) bool {
	s.upTo(at)
	most := math.MaxInt
	if s.p.MaxContext > 0 {
		most = s.p.MaxContext
	}
	if s.p.KVBlocks > 0 {
		most = min(most, s.p.KVBlocks*s.p.Block())
	}
	if q.prompt+q.output > most || s.p.MaxQueue > 0 && len(s.placed)+len(s.queue) >= s.p.MaxBatch+s.p.MaxQueue {
		return false
	}
	s.queue = append(s.queue, q)
	if !s.busy {
		s.decide()
	}
	return true
}

func (s *reference) cancel(at time.Duration, q *referenceSeq) {
	s.upTo(at)
	if q.state == Finished || q.gone {
		return
	}
	q.gone = true
	switch {
	case q.state == Holding:
		s.leave(q)
	case s.p.Zombies:
		q.hold = false
		return
	case q.state == Waiting:
		s.queue = slices.DeleteFunc(s.queue, func(o *referenceSeq) bool { return o == q })
		q.state = Finished
	default:
		return // the sequence leaves at the end of the activity
	}
	if !s.busy {
		s.decide()
	}
}

// The engine and the reference give the same times.
func TestAgreesWithTheReference(t *testing.T) {
	compared, preempted := 0, 0
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 5))
		p := randomProfile(r)
		p.PrefixCache, p.OffloadBlocks, p.Draft = false, 0, 0
		p.StepPerKVToken = math.Round(p.StepPerKVToken) // a whole number, so that times need no rounding
		p.Step++                                        // above 0, so that steps end at different times
		calls := randomCalls(r, p, 40)
		for i := range calls {
			calls[i].job.Prefix = nil
		}
		got := run(t, p, calls, true)

		s := &reference{p: p}
		seqs := make([]*referenceSeq, len(calls))
		for _, ev := range eventsOf(calls) {
			j := calls[ev.i].job
			if !ev.gone {
				seqs[ev.i] = &referenceSeq{prompt: j.Prompt, output: j.Output, hold: j.Hold}
				if ok := s.submit(ev.at, seqs[ev.i]); ok != (got.errs[ev.i] == nil) {
					t.Fatalf("seed %d, %+v: request %d is served %v, the engine says %v", seed, p, ev.i, ok, got.errs[ev.i])
				} else if !ok {
					seqs[ev.i].state = Finished
				}
				continue
			}
			s.cancel(ev.at, seqs[ev.i])
		}
		s.upTo(horizon)
		for i, q := range seqs {
			if !slices.Equal(q.at, got.tokens[i]) {
				t.Fatalf("seed %d, %+v: request %d (%+v) has tokens at\n%v, the engine has\n%v", seed, p, i, calls[i], q.at, got.tokens[i])
			}
			compared += len(q.at)
		}
		preempted += got.counts.Preempted
	}
	if compared < 100_000 || preempted < 500 {
		t.Errorf("%d tokens were compared and %d sequences preempted, want 100000 and 500 or more", compared, preempted)
	}
}
