package mockserver

import (
	"io"
	"net/http"
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

// Two requests run, one waits, and two have ended. The second of these found 8 of its 10
// prompt tokens in the prefix cache.
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
