package mockserver

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// fourWords is a chat with a prompt of four tokens.
const fourWords = `"messages":[{"role":"system","content":"be brief"},{"role":"user","content":[{"type":"text","text":"say it"}]}]`

func TestInstants(t *testing.T) {
	fast := Config{TTFT: 20 * time.Millisecond, PerPromptToken: 10 * time.Microsecond, PerToken: 2 * time.Millisecond}
	with := func(f func(*Config)) Config { c := fast; f(&c); return c }
	for _, tt := range []struct {
		name   string
		cfg    Config
		body   string
		tokens []time.Duration // times in the log
		seen   []time.Duration // when the client read each line of data
	}{
		{"zero config", Config{}, `"stream":true,"max_tokens":2`, ms(0, 0), ms(0, 0, 0, 0)},
		{"default shape", fast, `"stream":true,"max_tokens":3`,
			ms(20.04, 22.04, 24.04), ms(20.04, 20.04, 22.04, 24.04, 24.04)},
		{"role first", with(func(c *Config) { c.Shape.RoleFirst = true }), `"stream":true,"max_tokens":3`,
			ms(20.04, 22.04, 24.04), ms(0, 20.04, 22.04, 24.04, 24.04)},
		{"chunks of two", with(func(c *Config) { c.Shape.TokensPerChunk = 2 }), `"stream":true,"max_tokens":5`,
			ms(22.04, 22.04, 26.04, 26.04, 28.04), ms(22.04, 22.04, 26.04, 28.04, 28.04)},
		{"double speed", with(func(c *Config) { c.Speed = 2 }), `"stream":true,"max_tokens":3`,
			ms(10.02, 11.02, 12.02), ms(10.02, 10.02, 11.02, 12.02, 12.02)},
		{"usage in its own chunk", fast, `"stream":true,"max_tokens":1,"stream_options":{"include_usage":true}`,
			ms(20.04), ms(20.04, 20.04, 20.04, 20.04)},
		{"not streamed", fast, `"max_tokens":3`, ms(24.04, 24.04, 24.04), nil},
		{"no output", fast, `"stream":true,"stop":" the"`, nil, ms(20.04, 20.04, 20.04)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := inMemory(t, tt.cfg)
				got := r.arrivals(chatPath, `{`+fourWords+`,`+tt.body+`}`)
				var seen []time.Duration
				for _, a := range got {
					seen = append(seen, a.at)
				}
				if !slices.Equal(seen, tt.seen) {
					t.Errorf("the client saw data at %v, want %v", seen, tt.seen)
				}
				e := r.only()
				if !slices.Equal(e.Tokens, tt.tokens) {
					t.Errorf("Log()[0].Tokens = %v, want %v", e.Tokens, tt.tokens)
				}
				if e.Accepted != 0 || e.Admitted != 0 || e.PromptTokens != 4 || e.OutputTokens != len(tt.tokens) || e.Status != 200 {
					t.Errorf("Log()[0] = %+v, want accepted and admitted at 0, 4 prompt tokens, %d of output, status 200", e, len(tt.tokens))
				}
				if n := len(tt.tokens); n > 0 && e.End != e.Tokens[n-1] {
					t.Errorf("Log()[0].End = %v, want %v, the last token's instant", e.End, e.Tokens[n-1])
				}
			})
		})
	}
}

// perRequest is the duration of a request with one prompt token and 20 output tokens, with the
// configuration slotted.
const perRequest = 20*time.Millisecond + 10*time.Microsecond + 19*2*time.Millisecond

func slotted(slots int) Config {
	return Config{TTFT: 20 * time.Millisecond, PerPromptToken: 10 * time.Microsecond, PerToken: 2 * time.Millisecond, Slots: slots}
}

const slottedBody = `{"prompt":"go","max_tokens":20,"stream":true}`

func TestClosedLoopMakespan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const requests, concurrency, slots = 64, 8, 4
		r := inMemory(t, slotted(slots))
		jobs := make(chan int)
		var wg sync.WaitGroup
		for range concurrency {
			wg.Go(func() {
				for range jobs {
					if status, text, err := r.read(textPath, slottedBody); status != 200 || err != nil {
						t.Errorf("POST = %d %q, %v", status, text, err)
					}
				}
			})
		}
		for i := range requests {
			jobs <- i
		}
		close(jobs)
		wg.Wait()
		if got, want := time.Since(r.Epoch()), requests/slots*perRequest; got != want {
			t.Errorf("makespan = %v, want %v", got, want)
		}
		// Four requests at a time run from the same instant.
		log := r.Log()
		slices.SortFunc(log, func(a, b Entry) int { return int(a.Admitted - b.Admitted) })
		for i, e := range log {
			if want := time.Duration(i/slots) * perRequest; e.Admitted != want || e.End != want+perRequest {
				t.Errorf("request %d ran from %v to %v, want %v to %v", i, e.Admitted, e.End, want, want+perRequest)
			}
		}
	})
}

func TestQueueIsFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, slotted(1))
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() { r.read(textPath, slottedBody) })
			time.Sleep(time.Millisecond) // on the fake clock
		}
		wg.Wait()
		for i, e := range r.Log() {
			if e.Accepted != time.Duration(i)*time.Millisecond || e.Admitted != time.Duration(i)*perRequest {
				t.Errorf("request %d: accepted %v, admitted %v, want %v and %v",
					e.Ordinal, e.Accepted, e.Admitted, time.Duration(i)*time.Millisecond, time.Duration(i)*perRequest)
			}
		}
	})
}

func TestDisconnect(t *testing.T) {
	for _, tt := range []struct {
		name     string
		stream   string
		leaves   int           // index of the request whose client hangs up; three requests arrive 1 ms apart
		at       time.Duration // when the client hangs up
		admitted []time.Duration
		tokens   int // number of tokens sent to that client
	}{
		{"while generating", "true", 0, 27 * time.Millisecond, []time.Duration{0, 27 * time.Millisecond, 27*time.Millisecond + perRequest}, 4},
		{"while generating, not streamed", "false", 0, 27 * time.Millisecond, []time.Duration{0, 27 * time.Millisecond, 27*time.Millisecond + perRequest}, 0},
		{"before its first token", "true", 0, 5 * time.Millisecond, []time.Duration{0, 5 * time.Millisecond, 5*time.Millisecond + perRequest}, 0},
		{"in the queue", "true", 1, 27 * time.Millisecond, []time.Duration{0, -1, perRequest}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := inMemory(t, slotted(1))
				ctx, hangUp := context.WithCancel(t.Context())
				time.AfterFunc(tt.at, hangUp)
				var wg sync.WaitGroup
				for i := range 3 {
					wg.Go(func() {
						c := t.Context()
						if i == tt.leaves {
							c = ctx
						}
						resp, err := r.post(c, textPath, `{"prompt":"go","max_tokens":20,"stream":`+tt.stream+`}`)
						if err == nil {
							io.Copy(io.Discard, resp.Body)
							resp.Body.Close()
						}
					})
					time.Sleep(time.Millisecond)
				}
				wg.Wait()
				synctest.Wait()
				for i, e := range r.Log() {
					if e.Admitted != tt.admitted[i] {
						t.Errorf("request %d: admitted %v, want %v", i+1, e.Admitted, tt.admitted[i])
					}
					if e.Aborted != (i == tt.leaves) {
						t.Errorf("request %d: aborted = %v, want %v", i+1, e.Aborted, !e.Aborted)
					}
					if i == tt.leaves && (len(e.Tokens) != tt.tokens || e.End != tt.at) {
						t.Errorf("request %d: %d tokens, end %v, want %d and %v", i+1, len(e.Tokens), e.End, tt.tokens, tt.at)
					}
				}
				if got := len(r.Log()); got != 3 {
					t.Errorf("Log() has %d entries, want 3", got)
				}
			})
		})
	}
}

func TestSlowReaderDelaysOnlyItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := slotted(1)
		c.Shape.TokensPerChunk = 20 // one write has about as much data as the client buffers
		r := inMemory(t, c)
		const long = `{"prompt":"go","max_tokens":2000,"stream":true}`
		resp, err := r.post(t.Context(), textPath, long) // the client does not read the body
		if err != nil {
			t.Fatal(err)
		}
		first := 20*time.Millisecond + 10*time.Microsecond + 1999*2*time.Millisecond
		r.must(textPath, slottedBody)
		time.Sleep(time.Minute)
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !strings.HasSuffix(string(text), "[DONE]\n\n") {
			t.Errorf("the slow reader got %d bytes, %v, want all", len(text), err)
		}
		log := r.Log()
		if got := log[1].Admitted; got != first {
			t.Errorf("the second request was admitted at %v, want %v", got, first)
		}
		// The log has the time of the write, not the deadline.
		if got, due := log[0].End, first; got <= due+time.Minute {
			t.Errorf("the slow reader's last token was sent at %v, want more than a minute after %v", got, due)
		}
	})
}

func TestStallKeepsItsSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := slotted(1)
		c.Faults = []fault.Fault{{Kind: fault.Stall, Every: 2, At: 3}}
		r := inMemory(t, c)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		r.must(textPath, slottedBody)
		resp, err := r.post(ctx, textPath, slottedBody)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		wg.Go(func() { r.read(textPath, slottedBody) })
		if _, err := io.ReadAll(resp.Body); err != context.DeadlineExceeded {
			t.Errorf("reading the stalled stream: %v, want %v", err, context.DeadlineExceeded)
		}
		wg.Wait()
		log := r.Log()
		if e := log[1]; e.OutputTokens != 3 || !e.Aborted || e.Fault != fault.Stall || e.End != time.Hour {
			t.Errorf("Log()[1] = %+v, want 3 tokens, aborted at 1h", e)
		}
		if e := log[2]; e.Admitted != time.Hour {
			t.Errorf("Log()[2].Admitted = %v, want 1h", e.Admitted)
		}
	})
}

func TestStop(t *testing.T) {
	for _, tt := range []struct {
		name  string
		grace time.Duration
		want  time.Duration // when the stream ended
		cut   bool
	}{
		{"at once", 0, 30 * time.Millisecond, true},
		{"grace too short", 10 * time.Millisecond, 40 * time.Millisecond, true},
		{"grace long enough", 5 * time.Second, perRequest, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := inMemory(t, slotted(0))
				var wg sync.WaitGroup
				wg.Go(func() { r.read(textPath, slottedBody) })
				time.Sleep(30 * time.Millisecond)
				r.stop(tt.grace)
				if e := r.only(); e.End != tt.want || e.Aborted != tt.cut {
					t.Errorf("Log()[0]: end %v, aborted %v, want %v, %v", e.End, e.Aborted, tt.want, tt.cut)
				}
				wg.Wait()
			})
		})
	}
}

func TestSameSeedSameRun(t *testing.T) {
	run := func(seed uint64) (tokens [][]time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			c := slotted(2)
			c.Jitter, c.Seed = 0.3, seed
			r := inMemory(t, c)
			for range 5 {
				r.must(textPath, slottedBody)
			}
			for _, e := range r.Log() {
				tokens = append(tokens, e.Tokens)
			}
		})
		return tokens
	}
	same := func(a, b [][]time.Duration) bool { return slices.EqualFunc(a, b, slices.Equal) }
	one := run(1)
	if !same(one, run(1)) {
		t.Error("two runs with seed 1 differ")
	}
	if same(one, run(2)) {
		t.Error("runs with seeds 1 and 2 are the same")
	}
}
