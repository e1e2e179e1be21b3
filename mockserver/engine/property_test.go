package engine

import (
	"cmp"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// randomProfile draws a profile that uses all features. Its limits are low enough to be reached.
func randomProfile(r *rand.Rand) Profile {
	maybe := func(n int) int { return r.IntN(2) * r.IntN(n) }
	p := Profile{
		Step: float64(maybe(30_000)), StepPerSeq: float64(maybe(2_000)), StepPerKVToken: r.Float64() * float64(maybe(10)),
		Knee: maybe(8), StepPerSeqAboveKnee: float64(maybe(1_000)),
		Prefill: float64(maybe(20_000)), PrefillPerToken: float64(maybe(1_000)),
		PrefillSeqs: maybe(8), PrefillTokens: maybe(200), MaxBatch: 1 + r.IntN(12), MaxQueue: maybe(20), MaxContext: maybe(400),
		BlockTokens: maybe(20), PrefixCache: r.IntN(2) == 0, Zombies: r.IntN(2) == 0, Seed: r.Uint64(),
	}
	switch r.IntN(3) {
	case 0:
		p.PrefillChunk = 1 + r.IntN(60)
	case 1:
		p.PrefillGap = r.IntN(20)
	}
	if r.IntN(3) > 0 {
		p.KVBlocks, p.Watermark = 1+r.IntN(60), r.Float64()*float64(r.IntN(2))/2
	}
	if r.IntN(3) == 0 {
		p.Draft, p.AcceptRate = 1+r.IntN(5), r.Float64()
	}
	if p.PrefixCache && p.KVBlocks > 0 {
		p.OffloadBlocks, p.LoadPerBlock = maybe(40), float64(maybe(500))
	}
	return p
}

// randomCalls draws calls in the order of submission. Each call with Hold is cancelled
// at some time.
func randomCalls(r *rand.Rand, p Profile, n int) []call {
	size := p.Block()
	var calls []call
	for range n {
		c := call{at: time.Duration(r.IntN(1000)) * time.Millisecond, job: Job{Prompt: r.IntN(150), Output: 1 + r.IntN(60)}}
		c.job.Hold = r.IntN(10) == 0
		if c.job.Hold || r.IntN(5) == 0 {
			c.gone = c.at + 1 + time.Duration(r.IntN(3000))*time.Millisecond
		}
		family := uint64(r.IntN(3)) << 32
		for i := range r.IntN(c.job.Prompt/size + 1) {
			c.job.Prefix = append(c.job.Prefix, family+uint64(i))
		}
		calls = append(calls, c)
	}
	slices.SortStableFunc(calls, func(a, b call) int { return cmp.Compare(a.at, b.at) })
	return calls
}

// check serves calls. After every change it checks properties that hold for every profile and
// every load.
func check(t testing.TB, p Profile, calls []call) {
	t.Helper()
	describe := func() string {
		b, _ := json.Marshal(p)
		return string(b)
	}
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s:", describe())
		t.Fatalf(format, args...)
	}
	var last time.Duration
	var admitted []*Sequence
	ended, tokens := 0, 0
	clock := func(at time.Duration) {
		if at < last {
			fail("at %v after %v: time went back", at, last)
		}
		last = at
	}
	e, err := New(p, Watcher{
		Admitted: func(s *Sequence, at time.Duration) { clock(at); admitted = append(admitted, s) },
		Token:    func(s *Sequence, at time.Duration) { clock(at); tokens++ },
		Ended: func(s *Sequence, at time.Duration) {
			clock(at)
			ended++
			if at != s.End {
				fail("ended at %v, End is %v", at, s.End)
			}
		},
	})
	if err != nil {
		fail("%v", err)
	}
	invariants := func() {
		l := e.Load()
		if p.KVBlocks > 0 && (l.KVUsed > p.KVBlocks || l.KVUsed < 0) {
			fail("%d of %d blocks in use", l.KVUsed, p.KVBlocks)
		}
		if l.Running > p.MaxBatch {
			fail("%d sequences have a place, max_batch is %d", l.Running, p.MaxBatch)
		}
		if p.MaxQueue > 0 && l.Running+l.Waiting > p.MaxBatch+p.MaxQueue {
			fail("%d run and %d wait, want at most %d and %d", l.Running, l.Waiting, p.MaxBatch, p.MaxQueue)
		}
		if _, busy := e.Next(); !busy && l.Waiting > 0 && e.admissible(e.queue.first()) {
			fail("idle with %d waiting, and there is room: %+v", l.Waiting, l)
		}
		if _, busy := e.Next(); !busy && l.Decoding > 0 {
			fail("idle with %d sequences in the batch", l.Decoding)
		}
	}
	type event struct {
		at time.Duration
		s  *Sequence
	}
	var all []*Sequence
	var leaves []event
	steps := 0
	upTo := func(to time.Duration) {
		for {
			next, ok := e.Next()
			if !ok || next > to {
				return
			}
			e.Advance(next)
			invariants()
			if steps++; steps > 1_000_000 {
				fail("no end")
			}
		}
	}
	leave := func(to time.Duration) {
		slices.SortStableFunc(leaves, func(a, b event) int { return cmp.Compare(a.at, b.at) })
		for len(leaves) > 0 && leaves[0].at <= to {
			upTo(leaves[0].at)
			e.Cancel(leaves[0].at, leaves[0].s)
			invariants()
			leaves = leaves[1:]
		}
		upTo(to)
	}
	for _, c := range calls {
		leave(c.at)
		s, err := e.Submit(c.at, c.job)
		if err != nil {
			continue
		}
		all = append(all, s)
		if c.gone > 0 {
			leaves = append(leaves, event{c.gone, s})
		}
		invariants()
	}
	leave(horizon)

	if l := e.Load(); l != (Load{KVTotal: p.KVBlocks}) {
		fail("in the end there is still %+v", l)
	}
	if ended != len(all) {
		fail("%d of %d requests ended", ended, len(all))
	}
	sum := 0
	for _, s := range all {
		sum += s.Tokens()
		if s.State == Finished && s.Tokens() != s.Job.Output || s.Tokens() > s.Job.Output {
			fail("%d of %d tokens came out of a request that is %v", s.Tokens(), s.Job.Output, s.State)
		}
		if s.Tokens() > 0 && !(s.Arrived <= s.Admitted && s.Admitted <= s.First && s.First <= s.End) {
			fail("arrived %v, admitted %v, first token %v, ended %v", s.Arrived, s.Admitted, s.First, s.End)
		}
	}
	if c := e.Counts(); sum != tokens || sum != c.Generated {
		fail("the requests have %d tokens, %d came out, %d were counted", sum, tokens, c.Generated)
	}
	if !slices.IsSortedFunc(admitted, func(a, b *Sequence) int { return cmp.Compare(a.order, b.order) }) {
		fail("admitted out of turn")
	}
	// Without preemption, the prefills compute each prompt token that is not cached exactly once.
	if c := e.Counts(); c.Preempted == 0 && !slices.ContainsFunc(all, func(s *Sequence) bool { return s.State == Gone }) {
		want := 0
		for _, s := range all {
			want += s.Job.Prompt - s.Cached
		}
		if c.Prefilled != want {
			fail("%d tokens were prefilled, want %d", c.Prefilled, want)
		}
	}
}

func TestProperties(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := randomProfile(r)
		check(t, p, randomCalls(r, p, 40))
	}
}

// The result is the same in each run, and does not depend on the steps in which time advances.
func TestHowTimeIsAdvancedMakesNoDifference(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		p := randomProfile(r)
		calls := randomCalls(r, p, 40)
		one, other := run(t, p, calls, false), run(t, p, calls, true)
		for i := range calls {
			if !slices.Equal(one.tokens[i], other.tokens[i]) {
				t.Fatalf("seed %d, request %d: tokens at %v step by step, at %v otherwise", seed, i, one.tokens[i], other.tokens[i])
			}
		}
		if one.counts != other.counts {
			t.Fatalf("seed %d: %+v step by step, %+v otherwise", seed, one.counts, other.counts)
		}
	}
}

// A larger capacity never makes a closed loop of equal requests slower.
func TestMoreRoomIsNoSlower(t *testing.T) {
	p := round
	before := time.Duration(horizon)
	for _, slots := range []int{1, 2, 4, 8, 16, 32} {
		p.MaxBatch = slots
		took := closedLoop(t, p, 32, 96, func(int) Job { return Job{Prompt: 5, Output: 40} })
		if took > before {
			t.Errorf("with a batch of %d 96 requests took %v, with half of that %v", slots, took, before)
		}
		before = took
	}
}

// If the cache has no limit, it finds all blocks that a prompt shares with the beginning of an
// earlier prompt.
func TestPrefixCacheFindsAllThereIs(t *testing.T) {
	p := round
	p.PrefixCache, p.BlockTokens = true, 4
	e, err := New(p, Watcher{})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 4))
	seen := map[uint64]bool{}
	hits := 0
	for i := range 500 {
		var names []uint64
		name := uint64(0)
		for range r.IntN(12) {
			name = name*31 + uint64(1+r.IntN(2)) // depends on the name before, because a name also identifies all blocks before its block
			names = append(names, name)
		}
		want := 0
		for want < len(names) && seen[names[want]] {
			want++
		}
		for _, n := range names {
			seen[n] = true
		}
		s, err := e.Submit(e.Now(), Job{Prompt: 4*len(names) + 1, Output: 3, Prefix: names})
		if err != nil {
			t.Fatal(err)
		}
		for next, ok := e.NextChange(); ok; next, ok = e.NextChange() {
			e.Advance(next)
		}
		if s.Cached != 4*want {
			t.Errorf("request %d: %d tokens from the cache, want %d", i, s.Cached, 4*want)
		}
		hits += want
	}
	if hits < 500 {
		t.Errorf("%d blocks were found, want 500 or more", hits)
	}
}

// FuzzEngine serves a random load on any profile.
func FuzzEngine(f *testing.F) {
	for seed := range uint64(4) {
		text, err := json.Marshal(randomProfile(rand.New(rand.NewPCG(seed, 1))))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, seed)
	}
	f.Add([]byte(`{"max_batch":1}`), uint64(1))
	f.Add([]byte(`{"max_batch":3,"step_us":1e12,"prefill_us":1e12,"step_per_kv_token_us":1e12}`), uint64(1))
	f.Fuzz(func(t *testing.T, profile []byte, seed uint64) {
		var p Profile
		if json.Unmarshal(profile, &p) != nil || p.Validate() != nil {
			return
		}
		check(t, p, randomCalls(rand.New(rand.NewPCG(seed, 3)), p, 20))
	})
}
