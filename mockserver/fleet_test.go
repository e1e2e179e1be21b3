package mockserver

import (
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// TestFleet checks that replicas share no queue, cache, metrics or log.
func TestFleet(t *testing.T) {
	e := &engine.Profile{MaxBatch: 2, KVBlocks: 100, BlockTokens: 4, PrefixCache: true}
	f, err := NewFleet(Config{Engine: e}, Config{Engine: e, Model: "other"}, Config{Faults: always1(fault.HTTP429)})
	if err != nil {
		t.Fatal(err)
	}
	urls, stop, err := f.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stop(0)
	send := func(replica int) {
		resp, err := http.Post(urls[replica]+textPath, "application/json", strings.NewReader(`{"prompt":"a b c d e f g h i j","max_tokens":1}`))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		io.Copy(io.Discard, resp.Body)
	}
	for _, replica := range []int{0, 0, 0, 1, 1, 2} {
		send(replica)
	}
	// A prompt of ten tokens has two full blocks of four.
	want := []Usage{{Requests: 3, PromptTokens: 30, CachedTokens: 16}, {Requests: 2, PromptTokens: 20, CachedTokens: 8}, {Requests: 1, Full: 1}}
	if got := f.Usage(); !reflect.DeepEqual(got, want) {
		t.Errorf("Usage() = %+v, want %+v", got, want)
	}
	if got := Imbalance(f.Usage()); got != 1.5 {
		t.Errorf("Imbalance() = %v, want 3 requests / 2", got)
	}
	f.Reset()
	if got := f.Usage(); !reflect.DeepEqual(got, make([]Usage, 3)) || Imbalance(got) != 0 {
		t.Errorf("Usage() after Reset = %+v, want zeros", got)
	}
	for _, tt := range []struct {
		configs []Config
		want    string
	}{{nil, "no replicas"}, {[]Config{{}, {Slots: -1}}, "replica 2: mockserver: slots: -1"}} {
		if _, err := NewFleet(tt.configs...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("NewFleet(%+v) = %v, want an error with %q", tt.configs, err, tt.want)
		}
	}
}

// TestFleetListen checks that the replicas have successive ports, and that an error leaves no port open.
func TestFleetListen(t *testing.T) {
	f, err := NewFleet(Config{}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, addr := range []string{"127.0.0.1", "127.0.0.1:http", "127.0.0.1:65535"} {
		if _, _, err := f.Listen(addr); err == nil || !strings.Contains(err.Error(), addr) {
			t.Errorf("Listen(%q) = %v, want an error that names it", addr, err)
		}
	}
	urls, stop, err := f.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	second := strings.TrimPrefix(urls[1], "http://")
	if _, _, err := f.Listen(second); err == nil {
		t.Errorf("Listen(%q) on a used port: no error", second)
	}
	stop(0)
	one, err := NewFleet(Config{})
	if err != nil {
		t.Fatal(err)
	}
	again, stop, err := one.Listen(second) // the port is free again
	if err != nil || again[0] != urls[1] {
		t.Fatalf("Listen(%q) = %q, %v", second, again, err)
	}
	stop(0)
}

// TestUsage computes the usage of a log.
func TestUsage(t *testing.T) {
	u := usageOf([]Entry{
		{Status: 200, PromptTokens: 10, CachedTokens: 4, Waiting: 3},
		{Status: 200, PromptTokens: 6, Waiting: 1, Aborted: true},
		{Status: 429, Admitted: -1, PromptTokens: 7, Waiting: 8},
		{Status: 503, Admitted: -1},
		{Status: 400, Admitted: -1, PromptTokens: 7},
		{Dead: true, Admitted: -1},
	})
	if want := (Usage{Requests: 6, Full: 2, Dead: 1, PromptTokens: 16, CachedTokens: 4, Waiting: 12, MostWaiting: 8}); u != want {
		t.Errorf("usageOf() = %+v, want %+v", u, want)
	}
	if u.HitRate() != 0.25 || u.MeanWaiting() != 2.4 {
		t.Errorf("hit rate %v and mean %v, want 4/16 and 12/5", u.HitRate(), u.MeanWaiting())
	}
	if sum := u.Plus(Usage{Requests: 1, MostWaiting: 9}); sum.Requests != 7 || sum.MostWaiting != 9 || sum.Waiting != 12 {
		t.Errorf("Plus() = %+v", sum)
	}
	if zero := (Usage{}); zero.HitRate() != 0 || zero.MeanWaiting() != 0 {
		t.Errorf("rates of no requests: %v and %v, want 0", zero.HitRate(), zero.MeanWaiting())
	}
}

// TestWaiting checks the queue that each request finds on its arrival.
func TestWaiting(t *testing.T) {
	for name, cfg := range map[string]Config{
		"fixed":    {TTFT: time.Second, Slots: 1},
		"batching": {Engine: &engine.Profile{Prefill: 1e6, MaxBatch: 1, MaxQueue: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := inMemory(t, cfg)
				var wg sync.WaitGroup
				for i := range 4 {
					wg.Go(func() {
						time.Sleep(time.Duration(i) * time.Millisecond)
						r.read(textPath, `{"prompt":"a","max_tokens":1}`)
					})
				}
				wg.Wait()
				var got []int
				for _, e := range r.Log() {
					got = append(got, e.Waiting)
				}
				if want := []int{0, 0, 1, 2}; !reflect.DeepEqual(got, want) {
					t.Errorf("waiting %v, want %v", got, want)
				}
			})
		})
	}
}

// TestDie lets the fourth request kill the server when its token 2 is due. The killer and a later request wait
// for a slot until the third request leaves. The second one is then in the middle of its answer. All lose their
// connections, as do later requests.
func TestDie(t *testing.T) {
	r := onLoopback(t, Config{PerToken: 20 * time.Millisecond, Slots: 2, Faults: []fault.Fault{{Kind: fault.Die, Every: 4, At: 2}}})
	if status, _, err := r.read(textPath, `{"prompt":"a","max_tokens":1}`); status != 200 || err != nil {
		t.Fatalf("before the death: %d, %v", status, err)
	}
	long := `{"prompt":"a","max_tokens":100000,"stream":true}`
	ask := func(running, waiting int) <-chan error {
		got := make(chan error, 1)
		go func() {
			_, _, err := r.read(textPath, long)
			got <- err
		}()
		settled(t, "free slots", func() bool { return r.plan.Load() == engine.Load{Running: running, Waiting: waiting} })
		return got
	}
	middle := ask(1, 0)
	leaves, err := r.post(t.Context(), textPath, long)
	if err != nil {
		t.Fatal(err)
	}
	killer, waiter := ask(2, 1), ask(2, 2)
	leaves.Body.Close()
	for who, err := range map[string]error{"the request in the middle": <-middle, "the killer": <-killer, "the request that waits": <-waiter} {
		if !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v, want a reset", who, err)
		}
	}
	for _, path := range []string{textPath, "/health", "/metrics"} {
		req, err := http.NewRequestWithContext(context.Background(), "POST", r.url+path, strings.NewReader(long))
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := r.client.Do(req); err == nil {
			t.Errorf("%s of a dead server: %s, want an error", path, resp.Status)
		}
	}
	if !strings.HasPrefix(r.get("/mock/log"), "[{") {
		t.Error("a dead server does not show its log")
	}
	settled(t, "requests", func() bool { return len(r.Log()) == 6 })
	var dead, aborted []uint64
	for _, e := range r.Log() {
		if e.Dead {
			dead = append(dead, e.Ordinal)
		}
		if e.Aborted {
			aborted = append(aborted, e.Ordinal)
		}
		if e.Fault != "" && e.Fault != fault.Die {
			t.Errorf("Log() has %+v", e)
		}
	}
	if !slices.Equal(dead, []uint64{6}) || !slices.Equal(aborted, []uint64{2, 3, 5}) {
		t.Errorf("requests %d came after the death and %d were cut off, want 6, and 2, 3 and 5: %+v", dead, aborted, r.Log())
	}
}

// TestLoRA checks what names an adapter: the answer, the list of models, the metric while requests run and
// wait, and the prefix cache.
func TestLoRA(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &engine.Profile{Prefill: 1e6, MaxBatch: 1, BlockTokens: 2, PrefixCache: true}
		r := inMemory(t, Config{Engine: e, LoRA: []string{"sql", "chat"}, MaxLoRA: 4})
		ask := func(model string) string {
			return r.must(textPath, `{"model":"`+model+`","prompt":"a b c d e","max_tokens":1}`)
		}
		var wg sync.WaitGroup
		for i, model := range []string{"sql", "chat", "mock", "sql"} {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				want := model
				if got := ask(model); !strings.Contains(got, `"model":"`+want+`"`) {
					t.Errorf("the answer of %s is %s", model, got)
				}
			})
		}
		time.Sleep(500 * time.Millisecond)
		if metrics := r.get("/metrics"); !strings.Contains(metrics, `vllm:lora_requests_info{max_lora="4",running_lora_adapters="sql",waiting_lora_adapters="sql,chat"} 9.46684`) {
			t.Errorf("metrics:\n%s", metrics)
		}
		wg.Wait()
		if metrics := r.get("/metrics"); !strings.Contains(metrics, `vllm:lora_requests_info{max_lora="4",running_lora_adapters="",waiting_lora_adapters=""}`) {
			t.Errorf("metrics after the requests:\n%s", metrics)
		}
		want := []string{"sql 0", "chat 0", " 0", "sql 4"} // of four equal prompts, only the last one is cached for its adapter
		for i, e := range r.Log() {
			if got := e.Adapter + " " + string(rune('0'+e.CachedTokens)); got != want[i] {
				t.Errorf("request %d: adapter and cached tokens %q, want %q", i+1, got, want[i])
			}
		}
		if got := r.get("/v1/models"); !strings.Contains(got, `,{"id":"sql","object":"model","created":946684800,"owned_by":"mockserver","parent":"mock"},{"id":"chat",`) {
			t.Errorf("models: %s", got)
		}
	})
}

// TestRetryAfter checks the header Retry-After of refusals.
func TestRetryAfter(t *testing.T) {
	for _, tt := range []struct {
		kind  fault.Kind
		after time.Duration
		want  string
	}{
		{fault.HTTP429, 0, "1"}, {fault.HTTP429, 1500 * time.Millisecond, "2"},
		{fault.HTTP503, 0, ""}, {fault.HTTP503, time.Second, "1"}, {fault.HTTP500, time.Second, ""},
	} {
		w := call(mustNew(t, Config{RetryAfter: tt.after, Faults: always1(tt.kind)}), "POST", chatPath, chatWhole)
		if got := w.Header().Get("Retry-After"); got != tt.want {
			t.Errorf("%s with %v: Retry-After %q, want %q", tt.kind, tt.after, got, tt.want)
		}
	}
}
