package mockserver

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/vocab"
)

// batching returns a profile that uses all features. A few dozen requests are enough to reach its
// limits.
func batching() engine.Profile {
	return engine.Profile{
		Step: 20_000, StepPerSeq: 300, StepPerKVToken: 1.7, Prefill: 7_000, PrefillPerToken: 130, MaxBatch: 8,
		KVBlocks: 60, Watermark: 0.02, PrefixCache: true, PrefillSeqs: 3,
	}
}

// A sending is a request of a test load.
type sending struct {
	at, gone       time.Duration // when the request is sent, and when its client hangs up; gone is 0 if it does not
	prompt, output int
	family         int // prompts of one family begin with the same words
}

func sendings(r *rand.Rand, n int) []sending {
	var all []sending
	for range n {
		s := sending{at: time.Duration(r.Int64N(3e9)), prompt: 1 + r.IntN(120), output: 1 + r.IntN(60), family: r.IntN(3)}
		if r.IntN(4) == 0 {
			s.gone = s.at + time.Duration(1+r.Int64N(2e9))
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b sending) int { return cmp.Compare(a.at, b.at) })
	return all
}

func (s sending) text() string {
	return strings.TrimSpace(strings.Repeat(fmt.Sprintf("w%d ", s.family), s.prompt))
}

// inEngine serves a load with an engine, without HTTP. It returns the times of each request's
// tokens.
func inEngine(t *testing.T, p engine.Profile, load []sending) [][]time.Duration {
	t.Helper()
	tokens := make([][]time.Duration, len(load))
	e, err := engine.New(p, engine.Watcher{Token: func(s *engine.Sequence, at time.Duration) {
		i := s.Job.Ref.(int)
		tokens[i] = append(tokens[i], at)
	}})
	if err != nil {
		t.Fatal(err)
	}
	type event struct {
		at time.Duration
		do func()
	}
	var events []event
	seqs := make([]*engine.Sequence, len(load))
	for i, s := range load {
		events = append(events, event{s.at, func() {
			blocks := vocab.NewBlocks(p.Block())
			blocks.Sink().Words(s.text())
			seqs[i], err = e.Submit(s.at, engine.Job{Prompt: s.prompt, Output: s.output, Prefix: blocks.Names(), Ref: i})
			if err != nil {
				t.Fatal(err)
			}
		}})
		if s.gone > 0 {
			events = append(events, event{s.gone, func() { e.Cancel(s.gone, seqs[i]) }})
		}
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	for _, ev := range events {
		ev.do()
	}
	e.Advance(time.Hour)
	return tokens
}

// In virtual time, a server over HTTP sends each token at the same instant at which the engine
// alone emits the token.
func TestHTTPAgreesWithTheEngine(t *testing.T) {
	with := func(f func(*engine.Profile)) engine.Profile { p := batching(); f(&p); return p }
	for name, p := range map[string]engine.Profile{
		"whole prefills":  batching(),
		"chunks":          with(func(p *engine.Profile) { p.PrefillChunk = 32 }),
		"a gap":           with(func(p *engine.Profile) { p.PrefillGap = 7 }),
		"zombies":         with(func(p *engine.Profile) { p.Zombies = true }),
		"drafts":          with(func(p *engine.Profile) { p.Draft, p.AcceptRate = 3, 0.6 }),
		"without a limit": with(func(p *engine.Profile) { p.KVBlocks, p.MaxBatch = 0, 100 }),
	} {
		t.Run(name, func(t *testing.T) {
			load := sendings(rand.New(rand.NewPCG(1, 1)), 60)
			want := inEngine(t, p, load)
			synctest.Test(t, func(t *testing.T) {
				r := inMemory(t, Config{Engine: &p})
				var wg sync.WaitGroup
				for _, s := range load {
					wg.Go(func() {
						time.Sleep(s.at)
						ctx, hangUp := context.WithCancel(t.Context())
						defer hangUp()
						if s.gone > 0 {
							defer time.AfterFunc(s.gone-s.at, hangUp).Stop()
						}
						resp, err := r.post(ctx, textPath, fmt.Sprintf(`{"prompt":%q,"max_tokens":%d,"stream":true}`, s.text(), s.output))
						if err == nil {
							io.Copy(io.Discard, resp.Body)
							resp.Body.Close()
						}
					})
				}
				wg.Wait()
				synctest.Wait()
				log := r.Log()
				if len(log) != len(load) {
					t.Fatalf("the log has %d entries, want %d", len(log), len(load))
				}
				sent := 0
				for i, e := range log {
					due := want[i]
					if gone := load[i].gone; gone > 0 { // the engine may emit tokens after the client has hung up
						due = due[:min(len(due), len(slices.DeleteFunc(slices.Clone(due), func(at time.Duration) bool { return at >= gone })))]
					}
					if !slices.Equal(e.Tokens, due) {
						t.Errorf("request %d (%+v): sent at %v, the engine has %v", i, load[i], e.Tokens, due)
					}
					sent += len(due)
				}
				if sent < 1000 {
					t.Errorf("%d tokens were compared, want 1000 or more", sent)
				}
			})
		})
	}
}

// This test makes the same comparison for a closed loop of equal requests. Many of them arrive at
// the same instant.
func TestClosedLoopAgreesWithTheEngine(t *testing.T) {
	p := batching()
	p.KVBlocks = 0
	const n, concurrency, prompt, output = 100, 12, 30, 25
	want, _ := closedLoop(t, p, concurrency, n, engine.Job{Prompt: prompt, Output: output})
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, Config{Engine: &p})
		jobs := make(chan int)
		var wg sync.WaitGroup
		for range concurrency {
			wg.Go(func() {
				for i := range jobs {
					// The prompts have no common beginning.
					r.must(chatPath, fmt.Sprintf(`{"messages":[{"content":"%d%s"}],"max_tokens":%d,"stream":true}`, i, strings.Repeat(" a", prompt-1), output))
				}
			})
		}
		for i := range n {
			jobs <- i
		}
		close(jobs)
		wg.Wait()
		if got := time.Since(r.Epoch()); got != want {
			t.Errorf("over HTTP the last token came at %v, the engine has %v", got, want)
		}
	})
}

func TestSpeedDividesTheEnginesTime(t *testing.T) {
	p := engine.Profile{Step: 20_000, Prefill: 100_000, MaxBatch: 1}
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, Config{Engine: &p, Speed: 3})
		r.must(textPath, `{"prompt":"a","max_tokens":3,"stream":true}`)
		want := []time.Duration{33_333_334, 40_000_000, 46_666_667} // a third of the times at speed 1, rounded up
		if got := r.only().Tokens; !slices.Equal(got, want) {
			t.Errorf("tokens at %v, want %v", got, want)
		}
	})
}

func TestEngineRefusals(t *testing.T) {
	p := engine.Profile{Step: 20_000, MaxBatch: 1, MaxQueue: 1, MaxContext: 100}
	for _, status := range []int{0, 429, 503} {
		synctest.Test(t, func(t *testing.T) {
			r := inMemory(t, Config{Engine: &p, FullStatus: status})
			var wg sync.WaitGroup
			for range 2 {
				wg.Go(func() { r.must(textPath, `{"prompt":"a","max_tokens":99}`) })
			}
			synctest.Wait()
			want := map[int]int{0: 503, 429: 429, 503: 503}[status]
			if got, text, err := r.read(textPath, `{"prompt":"a","max_tokens":99}`); got != want || err != nil {
				t.Errorf("full_status %d: a third request gets %d %s, %v, want %d", status, got, text, err, want)
			}
			got, text, err := r.read("/completion", `{"prompt":"a b","n_predict":99}`)
			if got != 400 || err != nil || !strings.Contains(text, `"n_prompt_tokens":2,"n_ctx":100`) {
				t.Errorf("too long for the context: %d %s, %v, want 400 and the lengths", got, text, err)
			}
			wg.Wait()
			if l := r.plan.Load(); l.Running+l.Waiting != 0 {
				t.Errorf("after the last request the load is %+v, want none", l)
			}
		})
	}
}

// If a request has no limit, the length of its output comes from the profile's distribution. With
// max_tokens and ignore_eos, the output has max_tokens tokens.
func TestOutputFromTheCurve(t *testing.T) {
	p := engine.Profile{Step: 1_000, MaxBatch: 8, Seed: 1, Output: engine.Lengths{{0, 20}, {1, 60}}}
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, Config{Engine: &p})
		for range 20 {
			r.must(textPath, `{"prompt":"a"}`)
		}
		r.must(textPath, `{"prompt":"a","max_tokens":100,"ignore_eos":true}`)
		log := r.Log()
		for i, e := range log[:20] {
			if want := p.DrawOutput(uint64(i + 1)); e.OutputTokens != want {
				t.Errorf("request %d: %d tokens, want %d", i+1, e.OutputTokens, want)
			}
		}
		if got := log[20].OutputTokens; got != 100 {
			t.Errorf("with ignore_eos: %d tokens, want 100", got)
		}
	})
}

func TestPrefixCacheOverHTTP(t *testing.T) {
	p := engine.Profile{Step: 1_000, PrefillPerToken: 1_000, MaxBatch: 8, BlockTokens: 4, PrefixCache: true}
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, Config{Engine: &p})
		ask := func(messages string, prefill int) {
			t.Helper()
			before := time.Since(r.Epoch())
			text := r.must("/generate", fmt.Sprintf(`{"text":"%s","sampling_params":{"max_new_tokens":1}}`, messages))
			if took := time.Since(r.Epoch()) - before; took != time.Duration(prefill)*time.Millisecond {
				t.Errorf("%q took %v, want %d ms", messages, took, prefill)
			}
			var answer struct {
				Meta struct {
					Prompt int `json:"prompt_tokens"`
					Cached int `json:"cached_tokens"`
				} `json:"meta_info"`
			}
			if err := json.Unmarshal([]byte(text), &answer); err != nil || answer.Meta.Prompt-answer.Meta.Cached != prefill {
				t.Errorf("%q: %+v, %v, want %d tokens more than the cached", messages, answer, err, prefill)
			}
		}
		ask("a b c d e f g h i j", 10)
		ask("a b c d e f g h x y", 2)
		ask("a b c d e f G h i j", 6)
		ask("b c d e f g h i j k", 10)
		if status, _, err := r.read("/reset_prefix_cache", ""); status != 200 || err != nil {
			t.Errorf("POST /reset_prefix_cache = %d, %v, want 200", status, err)
		}
		ask("a b c d e f g h i j", 10)
	})
}
