package mockserver

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
)

// get returns the body of the answer to a GET.
func (r *rig) get(path string) string {
	r.t.Helper()
	resp, err := r.client.Get(r.url + path)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusOK || err != nil {
		r.t.Fatalf("GET %s = %d %s, %v, want 200", path, resp.StatusCode, body, err)
	}
	return string(body)
}

// When the metrics are read, two requests run, one waits, and two have ended. Of the two that have
// ended, the second found 8 of its 10 prompt tokens in the prefix cache.
func TestMetrics(t *testing.T) {
	p := engine.Profile{Step: 20_000, PrefillPerToken: 10_000, MaxBatch: 2, KVBlocks: 100, BlockTokens: 4, PrefixCache: true}
	for name, cfg := range map[string]Config{
		"batching": {Model: "m", Engine: &p},
		"fixed":    {Model: "m", PerPromptToken: 10 * time.Millisecond, PerToken: 20 * time.Millisecond, Slots: 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := inMemory(t, cfg)
				for range 2 {
					r.must(textPath, `{"prompt":"a b c d e f g h i j","max_tokens":6,"stream":true}`)
				}
				var wg sync.WaitGroup
				for range 3 {
					wg.Go(func() { r.must(textPath, `{"prompt":"k l m n o p q r s t","max_tokens":50}`) })
				}
				time.Sleep(300 * time.Millisecond)
				golden(t, "metrics/"+name+".txt", r.get("/metrics"))
				wg.Wait()
			})
		})
	}
}

// With speculative decoding, a stream has one chunk for each decode step. After the first chunk, the
// number of chunks must be the number of drafts in the counters. The mean number of tokens per chunk
// must be the profile's acceptance length within 1 %.
func TestSpeculative(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const output, requests = 1001, 20
		r := inMemory(t, Speculative())
		chunks := 0
		var wg sync.WaitGroup
		var mu sync.Mutex
		for i := range requests {
			wg.Go(func() {
				body := r.must(textPath, fmt.Sprintf(`{"prompt":"%d","max_tokens":%d,"stream":true}`, i, output))
				mu.Lock()
				defer mu.Unlock()
				chunks += strings.Count(body, `"text":" `)
			})
		}
		wg.Wait()
		counted := map[string]float64{}
		for line := range strings.Lines(r.get("/metrics")) {
			if name, rest, found := strings.Cut(line, "{"); found && strings.HasPrefix(name, "vllm:spec_decode_num_") {
				_, value, _ := strings.Cut(rest, "} ")
				v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
				if err != nil {
					t.Fatal(err)
				}
				counted[name] += v
			}
		}
		drafts, accepted := counted["vllm:spec_decode_num_drafts_total"], counted["vllm:spec_decode_num_accepted_tokens_total"]
		if float64(chunks-requests) != drafts {
			t.Errorf("%d chunks after the first of each request, and %v drafts; want as many", chunks-requests, drafts)
		}
		if accepted != counted["vllm:spec_decode_num_accepted_tokens_per_pos_total"] || counted["vllm:spec_decode_num_draft_tokens_total"] != 4*drafts {
			t.Errorf("the counters contradict each other: %v", counted)
		}
		const want = 1 + 0.7 + 0.49 + 0.343 + 0.2401
		for by, got := range map[string]float64{"counters": 1 + accepted/drafts, "chunks": (output - 1) * requests / float64(chunks-requests)} {
			if math.Abs(got/want-1) > 0.01 {
				t.Errorf("acceptance length by %s %v, want %v within 1 %%", by, got, want)
			}
		}
	})
}

// The counts of drafts that an answer reports must agree with its chunks.
func TestStatedDrafts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, Speculative())
		llama := r.must("/completion", `{"prompt":"a b","n_predict":101,"stream":true}`)
		var timings struct {
			Timings struct {
				Drafted  int `json:"draft_n"`
				Accepted int `json:"draft_n_accepted"`
			}
		}
		last := llama[strings.LastIndex(llama, "data: ")+len("data: "):]
		if err := json.Unmarshal([]byte(last), &timings); err != nil {
			t.Fatalf("%v: %s", err, last)
		}
		chunks := strings.Count(llama, `"stop":false`)
		if d := timings.Timings; 100-d.Accepted != chunks-1 || d.Drafted < d.Accepted || d.Drafted > 4*(chunks-1) {
			t.Errorf("%d chunks and %+v, want a chunk for each step", chunks, d)
		}
		sglang := r.must("/generate", `{"text":"a b","sampling_params":{"max_new_tokens":101},"stream":true}`)
		if want := fmt.Sprintf(`"spec_verify_ct":%d`, strings.Count(sglang, "data: {")-1); !strings.Contains(sglang, want) {
			t.Errorf("the last chunk of %s has no %s", sglang, want)
		}
	})
}

func TestTokenize(t *testing.T) {
	s := mustNew(t, Config{Engine: &engine.Profile{MaxBatch: 1, MaxContext: 4096}})
	for _, tt := range []struct{ body, want string }{
		{`{"prompt":"the quick fox"}`, `{"count":3,"max_model_len":4096,"tokens":[1000,1001,1003],"token_strs":null}`},
		{`{"prompt":[7,8]}`, `{"count":2,"max_model_len":4096,"tokens":`},
		{`{"messages":[{"role":"user","content":"the"},{"content":[{"type":"text","text":"dog"}]}]}`, `{"count":2,"max_model_len":4096,"tokens":[1000,1008],"token_strs":null}`},
		{`{"content":"the  the"}`, `{"tokens":[1000,1000]}`},
		{`{"content":""}`, `{"tokens":[]}`},
		{`{}`, `{"error":{"message":"prompt: missing`},
		{`{"messages":[]}`, `{"error":{"message":"messages: missing or empty`},
		{`{"prompt":`, `{"error":{"message":"body: unexpected end`},
	} {
		w := call(s, "POST", "/tokenize", tt.body)
		if got := w.Body.String(); !strings.HasPrefix(got, tt.want) || (w.Code == http.StatusOK) == strings.Contains(tt.want, "error") {
			t.Errorf("POST /tokenize %s = %d %s, want %s", tt.body, w.Code, got, tt.want)
		}
	}
	one, other := call(s, "POST", "/tokenize", `{"content":"zebra"}`).Body.String(), call(s, "POST", "/tokenize", `{"content":"zebras"}`).Body.String()
	if one == other || one == `{"tokens":[1000]}` {
		t.Errorf("two words outside the vocabulary have the ids %s and %s, want different ids outside the vocabulary", one, other)
	}
}
