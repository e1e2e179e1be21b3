package engine

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"
)

// A call is a request in a test: when it is submitted and when it is cancelled.
type call struct {
	at, gone time.Duration // gone is 0 if the request is not cancelled
	job      Job
}

func at(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// A trace is the result of a run.
type trace struct {
	seqs   []*Sequence // nil for a call that was refused
	errs   []error
	tokens [][]time.Duration
	counts Counts
}

// An event is the submission or the cancellation of a call.
type event struct {
	at   time.Duration
	gone bool
	i    int // index of the call
}

// eventsOf returns the events of calls, sorted by time. Events at the same time are in the order of calls.
func eventsOf(calls []call) []event {
	var events []event
	for i, c := range calls {
		events = append(events, event{c.at, false, i})
		if c.gone > 0 {
			events = append(events, event{c.gone, true, i})
		}
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	return events
}

// run serves calls, which must be sorted by at. If jump is true, time advances from change to
// change, otherwise from token to token.
func run(t testing.TB, p Profile, calls []call, jump bool) trace {
	t.Helper()
	tr := trace{seqs: make([]*Sequence, len(calls)), errs: make([]error, len(calls)), tokens: make([][]time.Duration, len(calls))}
	var w Watcher
	w.Token = func(s *Sequence, at time.Duration) {
		i := s.Job.Ref.(int)
		tr.tokens[i] = append(tr.tokens[i], at)
	}
	e, err := New(p, w)
	if err != nil {
		t.Fatal(err)
	}
	events := eventsOf(calls)
	upTo := func(to time.Duration) {
		for steps := 0; ; steps++ {
			next, ok := e.Next()
			if jump {
				next, ok = e.NextChange()
			}
			if !ok || next > to {
				break
			}
			e.Advance(next)
			if steps > 10_000_000 {
				t.Fatalf("%+v: no end", p)
			}
		}
		e.Advance(to)
	}
	for _, ev := range events {
		upTo(ev.at)
		if ev.gone {
			if s := tr.seqs[ev.i]; s != nil {
				e.Cancel(ev.at, s)
			}
			continue
		}
		job := calls[ev.i].job
		job.Ref = ev.i
		tr.seqs[ev.i], tr.errs[ev.i] = e.Submit(ev.at, job)
	}
	upTo(horizon)
	tr.counts = e.Counts()
	return tr
}

// round is a profile with round times: a step takes 10 ms plus 1 ms for each sequence, a prefill 5 ms
// plus 1 ms for each token.
var round = Profile{Step: 10_000, StepPerSeq: 1_000, Prefill: 5_000, PrefillPerToken: 1_000, MaxBatch: 8}

func TestInstants(t *testing.T) {
	with := func(f func(*Profile)) Profile { p := round; f(&p); return p }
	one := Job{Prompt: 5, Output: 3}
	for _, tt := range []struct {
		name  string
		p     Profile
		calls []call
		want  [][]time.Duration
	}{
		{"alone", round, []call{{job: one}}, [][]time.Duration{{at(10), at(21), at(32)}}},
		{"one token", round, []call{{job: Job{Prompt: 5, Output: 1}}}, [][]time.Duration{{at(10)}}},
		{"no prompt", round, []call{{job: Job{Output: 2}}}, [][]time.Duration{{at(5), at(16)}}},
		{"nothing costs anything", Profile{MaxBatch: 1}, []call{{job: one}, {job: one}},
			[][]time.Duration{{0, 0, 0}, {0, 0, 0}}},
		{"a prefill makes decoding wait", round, []call{{job: one}, {at: at(15), job: one}},
			[][]time.Duration{{at(10), at(21), at(43)}, {at(31), at(43), at(54)}}},
		{"a place is handed on", with(func(p *Profile) { p.MaxBatch = 1 }), []call{{job: one}, {at: at(1), job: one}},
			[][]time.Duration{{at(10), at(21), at(32)}, {at(42), at(53), at(64)}}},
		{"a place is handed on by priority", with(func(p *Profile) { p.MaxBatch = 1 }), []call{{job: one}, {at: at(1), job: Job{Prompt: 5, Output: 3, Priority: 1}}, {at: at(2), job: one}, {at: at(3), job: Job{Prompt: 5, Output: 1, Priority: -1}}},
			[][]time.Duration{{at(10), at(21), at(32)}, {at(84), at(95), at(106)}, {at(52), at(63), at(74)}, {at(42)}}},
		{"too late for the step that begins now", round, []call{{job: one}, {at: at(10), job: one}},
			[][]time.Duration{{at(10), at(21), at(43)}, {at(31), at(43), at(54)}}},
		{"prefills one by one", round, []call{{job: one}, {job: one}, {job: one}},
			[][]time.Duration{{at(10), at(43), at(56)}, {at(20), at(43), at(56)}, {at(30), at(43), at(56)}}},
		{"prefills together", with(func(p *Profile) { p.PrefillSeqs = 8 }), []call{{job: one}, {job: one}, {job: one}},
			[][]time.Duration{{at(10), at(38), at(51)}, {at(25), at(38), at(51)}, {at(25), at(38), at(51)}}},
		{"prefills together, up to so many tokens", with(func(p *Profile) { p.PrefillSeqs, p.PrefillTokens = 8, 9 }), []call{{job: one}, {job: one}, {job: one}},
			[][]time.Duration{{at(10), at(43), at(56)}, {at(20), at(43), at(56)}, {at(30), at(43), at(56)}}},
		{"a gap between prefills", with(func(p *Profile) { p.PrefillGap = 2 }), []call{{job: one}, {job: one}},
			[][]time.Duration{{at(10), at(21), at(32)}, {at(42), at(53), at(64)}}},
		{"no gap when idle", with(func(p *Profile) { p.PrefillGap = 9 }), []call{{job: Job{Prompt: 5, Output: 1}}, {job: one}},
			[][]time.Duration{{at(10)}, {at(20), at(31), at(42)}}},
		{"in chunks", with(func(p *Profile) { p.PrefillChunk = 3 }), []call{{job: Job{Output: 4}}, {at: at(1), job: one}},
			[][]time.Duration{{at(5), at(24), at(42), at(54)}, {at(42), at(54), at(65)}}},
		{"several in a chunk", with(func(p *Profile) { p.PrefillChunk, p.PrefillSeqs = 8, 8 }), []call{{job: Job{Output: 1}}, {job: one}, {job: one}},
			[][]time.Duration{{at(5)}, {at(18), at(36), at(48)}, {at(36), at(48), at(59)}}},
		{"length costs", with(func(p *Profile) { p.StepPerKVToken = 1_000 }), []call{{job: one}},
			[][]time.Duration{{at(10), at(27), at(45)}}},
		{"above the knee", with(func(p *Profile) { p.Knee, p.StepPerSeqAboveKnee, p.PrefillSeqs = 1, 2_000, 2 }),
			[]call{{job: one}, {job: one}}, [][]time.Duration{{at(10), at(34), at(48)}, {at(20), at(34), at(48)}}},
		{"a client goes", round, []call{{job: one, gone: at(15)}, {at: at(16), job: one}},
			[][]time.Duration{{at(10), at(21)}, {at(31), at(42), at(53)}}},
		{"a zombie", with(func(p *Profile) { p.Zombies = true }), []call{{job: one, gone: at(15)}, {at: at(16), job: one}},
			[][]time.Duration{{at(10), at(21), at(43)}, {at(31), at(43), at(54)}}},
		{"a place is held", with(func(p *Profile) { p.MaxBatch = 1 }),
			[]call{{job: Job{Prompt: 5, Output: 1, Hold: true}, gone: at(100)}, {job: one}},
			[][]time.Duration{{at(10)}, {at(110), at(121), at(132)}}},
		{"drafts, all accepted", with(func(p *Profile) { p.Draft, p.AcceptRate = 1, 1 }), []call{{job: Job{Prompt: 5, Output: 6}}},
			[][]time.Duration{{at(10), at(21), at(21), at(32), at(32), at(43)}}},
		{"drafts, none accepted", with(func(p *Profile) { p.Draft = 4 }), []call{{job: one}},
			[][]time.Duration{{at(10), at(21), at(32)}}},
		// There are 8 blocks of 2 tokens. Each sequence has 3 of them after its first
		// token and 4 after its third. The fourth token would need a fifth block for
		// each, so the sequence that came last is preempted. Its 8 tokens are prefilled
		// again when the other has ended.
		{"preemption", with(func(p *Profile) { p.BlockTokens, p.KVBlocks, p.PrefillSeqs = 2, 8, 2 }),
			[]call{{job: Job{Output: 1}}, {job: Job{Prompt: 5, Output: 5}}, {job: Job{Prompt: 5, Output: 5}}},
			[][]time.Duration{{at(5)}, {at(20), at(32), at(44), at(55), at(66)}, {at(20), at(32), at(44), at(79), at(90)}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, jump := range []bool{false, true} {
				if got := run(t, tt.p, tt.calls, jump).tokens; !slices.EqualFunc(got, tt.want, slices.Equal) {
					t.Errorf("tokens came at %v, want %v (jump %v)", got, tt.want, jump)
				}
			}
		})
	}
}

// TestPreemptedByPriority checks which of two sequences is preempted if the KV cache has no room for both: the one with the
// higher value of the priority, whichever came first. It continues before the sequences that came later.
func TestPreemptedByPriority(t *testing.T) {
	p := round
	p.KVBlocks, p.BlockTokens, p.PrefillSeqs = 8, 4, 2
	for _, late := range []int{0, 1} {
		calls := []call{{job: Job{Prompt: 8, Output: 16, Priority: 1 - late}}, {at: at(1), job: Job{Prompt: 8, Output: 16, Priority: late}}, {at: at(2), job: Job{Prompt: 8, Output: 16, Priority: 1}}}
		tr := run(t, p, calls, true)
		low, high, last := tr.seqs[1-late], tr.seqs[late], tr.seqs[2] // by the value of the priority
		if low.Preempted > 0 || high.Preempted == 0 || low.End >= high.End || high.End > last.End {
			t.Errorf("%d and %d preemptions, ends %v, %v and %v", low.Preempted, high.Preempted, low.End, high.End, last.End)
		}
	}
}

func TestRefusals(t *testing.T) {
	p := round
	p.MaxBatch, p.MaxQueue, p.MaxContext, p.KVBlocks, p.BlockTokens = 1, 1, 20, 4, 4
	one := Job{Prompt: 8, Output: 8}
	got := run(t, p, []call{
		{job: one}, {job: one}, {job: one}, {at: at(1e6), job: Job{Prompt: 9, Output: 8}},
		{at: at(1e6), job: Job{Prompt: -1, Output: 1}}, {at: at(1e6), job: Job{Prompt: 1}},
		{at: at(1e6), job: Job{Prompt: 8, Output: 1, Prefix: []uint64{1, 2, 3}}}, {at: at(1e6), job: one},
	}, true)
	var long *TooLongError
	for i, want := range []string{
		"", "", "engine: the queue is full",
		"engine: a prompt of 9 and an output of 8 tokens: want at most 16 together",
		"engine: prompt: -1: want 0 to 1073741824 tokens", "engine: output: 0: want 1 to 1073741824 tokens",
		"engine: prefix: 3 names of 4 tokens each: want no more than the prompt of 8", "",
	} {
		text := ""
		if got.errs[i] != nil {
			text = got.errs[i].Error()
		}
		if text != want {
			t.Errorf("call %d: %q, want %q", i, text, want)
		}
	}
	if !errors.Is(got.errs[2], ErrQueueFull) || !errors.As(got.errs[3], &long) || long.Limit != 16 {
		t.Errorf("errors %v and %v, want ErrQueueFull and a TooLongError of 16", got.errs[2], got.errs[3])
	}
}

// If a prompt shares blocks with an earlier prompt and these blocks are still in the cache, only
// the rest of the prompt is prefilled.
func TestPrefixCache(t *testing.T) {
	p := round
	p.PrefixCache, p.BlockTokens, p.KVBlocks = true, 4, 8
	ask := func(ms float64, prompt int, names ...uint64) call {
		return call{at: at(ms), job: Job{Prompt: prompt, Output: 1, Prefix: names}}
	}
	for _, tt := range []struct {
		name   string
		calls  []call
		cached []int
	}{
		{"the same again", []call{ask(0, 10, 1, 2), ask(100, 10, 1, 2), ask(200, 10, 1, 3)}, []int{0, 8, 4}},
		{"all of it: the last block is computed again", []call{ask(0, 8, 1, 2), ask(100, 8, 1, 2)}, []int{0, 4}},
		{"not before it is computed", []call{ask(0, 10, 1, 2), ask(1, 10, 1, 2)}, []int{0, 8}},
		{"without names", []call{ask(0, 10), ask(100, 10)}, []int{0, 0}},
		{"the longest unused goes first", []call{ask(0, 13, 1, 2, 3), ask(100, 13, 4, 5, 6), ask(200, 13, 1, 2, 3), ask(300, 12, 7, 8, 9), ask(400, 13, 4, 5, 6), ask(500, 13, 1, 2, 3)},
			[]int{0, 0, 12, 0, 4, 4}},
		// Request 2 leaves block 3 twice. Request 3 drops the older one and 6, 5 and 4.
		{"a block that is computed again is there twice", []call{ask(0, 12, 1, 2, 3), ask(100, 12, 4, 5, 6), ask(200, 12, 1, 2, 3), ask(300, 16, 7, 8, 9, 10), ask(400, 12, 4, 5, 6)},
			[]int{0, 0, 8, 0, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := run(t, p, tt.calls, true)
			hit := 0
			for i, s := range got.seqs {
				if s.Cached != tt.cached[i] {
					t.Errorf("request %d: %d tokens from the cache, want %d", i, s.Cached, tt.cached[i])
				}
				if took := s.First - s.Admitted; took != at(5+float64(s.Job.Prompt-s.Cached)) {
					t.Errorf("request %d: its prefill took %v with %d of %d tokens cached", i, took, s.Cached, s.Job.Prompt)
				}
				hit += s.Cached
			}
			if got.counts.Hit != hit {
				t.Errorf("Counts().Hit = %d, want %d", got.counts.Hit, hit)
			}
		})
	}
	e, _ := New(p, Watcher{})
	for i, want := range []int{0, 8, 0} {
		s, err := e.Submit(at(float64(i)*100), Job{Prompt: 10, Output: 1, Prefix: []uint64{1, 2}})
		if err != nil || s.Cached != want {
			t.Errorf("submit %d: %d tokens cached, %v, want %d", i, s.Cached, err, want)
		}
		if i == 1 {
			e.Advance(at(150))
			e.ResetPrefixCache()
		}
	}
}

// Blocks that are dropped are loaded again. Request 1 needs 7 of the 8 blocks, so that 3 and 2 are dropped.
func TestOffload(t *testing.T) {
	p := round
	p.PrefixCache, p.BlockTokens, p.KVBlocks, p.OffloadBlocks, p.LoadPerBlock = true, 4, 8, 2, 500
	e, err := New(p, Watcher{})
	if err != nil {
		t.Fatal(err)
	}
	for i, tt := range []struct {
		job    Job
		cached int
		took   float64
	}{
		{Job{Prompt: 13, Prefix: []uint64{1, 2, 3}}, 0, 5 + 13},
		{Job{Prompt: 25, Prefix: []uint64{4, 5, 6, 7, 8, 9}}, 0, 5 + 25},
		{Job{Prompt: 13, Prefix: []uint64{1, 2, 3}}, 12, 5 + 1 + 2*0.5},
		{Job{Prompt: 13, Prefix: []uint64{1, 2, 3}}, 12, 5 + 1},
	} {
		tt.job.Output = 1
		s, err := e.Submit(at(float64(i)*100), tt.job)
		if err != nil {
			t.Fatal(err)
		}
		if e.Advance(at(float64(i)*100 + 90)); s.Cached != tt.cached || s.First-s.Admitted != at(tt.took) {
			t.Errorf("request %d: %d tokens from the caches and a prefill of %v, want %d and %v", i, s.Cached, s.First-s.Admitted, tt.cached, at(tt.took))
		}
	}
	e.ResetPrefixCache()
	if s, err := e.Submit(at(500), Job{Prompt: 13, Prefix: []uint64{1, 2, 3}, Output: 1}); err != nil || s.Cached != 0 {
		t.Errorf("%d tokens from empty caches, %v", s.Cached, err)
	}
}

func TestDrawOutput(t *testing.T) {
	p := Profile{MaxBatch: 1, Seed: 3, Output: Lengths{{0, 10}, {0.5, 20}, {1, 60}}}
	if got := p.Output.Mean(); got != 27.5 {
		t.Errorf("Mean() = %v, want 27.5", got)
	}
	const n = 20_000
	sum := 0
	for i := range uint64(n) {
		l := p.DrawOutput(i)
		if l != p.DrawOutput(i) || l < 10 || l > 60 {
			t.Fatalf("DrawOutput(%d) = %d, want the same each time, 10 to 60", i, l)
		}
		sum += l
	}
	if mean := float64(sum) / n; mean < 27 || mean > 28 { // the expected mean is 27.5; the margin is five standard errors
		t.Errorf("mean of DrawOutput = %v, want 27.5", mean)
	}
	if got := (Profile{}).DrawOutput(1); got != 0 {
		t.Errorf("DrawOutput without a curve = %d, want 0", got)
	}
}

// The length of the output does not change which drafts are accepted.
func TestDraftsAndLengthsAreIndependent(t *testing.T) {
	p := Profile{Step: 1, MaxBatch: 1, Draft: 1, AcceptRate: .5, Output: Lengths{{0, 10}, {1, 1000}}}
	e, err := New(p, Watcher{})
	if err != nil {
		t.Fatal(err)
	}
	long, accepted := 0, 0
	for i := range uint64(1000) {
		s, err := e.Submit(e.Now(), Job{Output: p.DrawOutput(i)})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the prefill and the first step
			next, _ := e.Next()
			e.Advance(next)
		}
		if s.Job.Output > 505 {
			long++
			accepted += s.Tokens() - 2
		}
		for next, ok := e.NextChange(); ok; next, ok = e.NextChange() {
			e.Advance(next)
		}
	}
	if share := float64(accepted) / float64(long); share < .4 || share > .6 { // the margin is more than four standard errors
		t.Errorf("of %d long outputs %.2f had their first draft accepted, want about 0.5", long, share)
	}
}

// The mean acceptance length in the engine's counts is 1 + p + p^2 + ... + p^k, as in the model.
// A sequence's counts include no drafted token beyond the end of its output.
func TestAcceptanceLength(t *testing.T) {
	for _, tt := range []struct {
		k int
		p float64
	}{{1, 0.5}, {4, 0.7}, {8, 0.9}, {3, 0}, {3, 1}} {
		p := Profile{Step: 1, MaxBatch: 16, Draft: tt.k, AcceptRate: tt.p, Seed: 5}
		e, err := New(p, Watcher{})
		if err != nil {
			t.Fatal(err)
		}
		var all []*Sequence
		for range 400 {
			s, err := e.Submit(e.Now(), Job{Prompt: 1, Output: 201})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, s)
		}
		for next, ok := e.NextChange(); ok; next, ok = e.NextChange() {
			e.Advance(next)
		}
		want := 1.0
		for i := range tt.k {
			want += math.Pow(tt.p, float64(i+1))
		}
		c := e.Counts()
		if got := 1 + float64(c.Accepted)/float64(c.Drafts); math.Abs(got/want-1) > 0.01 {
			t.Errorf("k %d, p %v: acceptance length %v, want %v within 1 %%", tt.k, tt.p, got, want)
		}
		if c.Drafted != tt.k*c.Drafts {
			t.Errorf("k %d: %d tokens in %d drafts", tt.k, c.Drafted, c.Drafts)
		}
		at := 0
		for i, n := range c.AcceptedAt {
			at += n
			if i > 0 && n > c.AcceptedAt[i-1] {
				t.Errorf("k %d: position %d accepted more often than the one before: %v", tt.k, i, c.AcceptedAt[:tt.k])
			}
		}
		if at != c.Accepted {
			t.Errorf("k %d: %d accepted at all positions, %d in sum", tt.k, at, c.Accepted)
		}
		for i, s := range all {
			if d := s.Drafts; d.Steps+d.Accepted != 200 || d.Accepted > d.Drafted {
				t.Fatalf("sequence %d: %+v, want 200 tokens after the first", i, d)
			}
		}
	}
}

// BenchmarkRun serves a load that is as large as those in the published studies.
func BenchmarkRun(b *testing.B) {
	p := Profile{Step: 21_000, StepPerSeq: 60, StepPerKVToken: 0.05, Prefill: 10_000, PrefillPerToken: 40, MaxBatch: 200}
	for _, c := range []int{8, 128, 512} {
		b.Run(fmt.Sprintf("requests=1000/concurrency=%d", c), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				closedLoop(b, p, c, 1000, func(i int) Job { return Job{Prompt: 40, Output: 1 + i*997%480} })
			}
		})
	}
}

// closedLoop serves n jobs in a closed loop.
func closedLoop(t testing.TB, p Profile, concurrency, n int, job func(i int) Job) (last time.Duration) {
	ended := 0
	e, err := New(p, Watcher{Ended: func(*Sequence, time.Duration) { ended++ }})
	if err != nil {
		t.Fatal(err)
	}
	for sent := 0; ; {
		for ; sent < n && sent-ended < concurrency; sent++ {
			if _, err := e.Submit(e.Now(), job(sent)); err != nil {
				t.Fatal(err)
			}
		}
		next, ok := e.NextChange()
		if !ok {
			return e.Now()
		}
		e.Advance(next)
	}
}
