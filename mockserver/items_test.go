package mockserver

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// itemBodies has a request in each format whose answer has vectors or scores, and the number of its tokens.
// The query of a ranking counts for each document.
var itemBodies = []struct {
	name, path, body string
	tokens           int
}{
	{"embeddings", "/v1/embeddings", `{"model":"x","input":["a b","c d"],"dimensions":2}`, 4},
	{"embeddings-base64", "/v1/embeddings", `{"input":["a b","c d"],"dimensions":2,"encoding_format":"base64"}`, 4},
	{"embeddings-ids", "/v1/embeddings", `{"input":[[1,2,3],[4]],"dimensions":2}`, 4},
	{"tei-embed", "/embed", `{"inputs":["a b","c d"],"dimensions":2}`, 4},
	{"ollama-embed", "/api/embed", `{"model":"x","input":["a b","c d"],"dimensions":2}`, 4},
	{"rerank", "/v1/rerank", `{"model":"x","query":"a b","documents":["c","b a"],"return_documents":true}`, 7},
	{"rerank-v2", "/v2/rerank", `{"model":"x","query":"a b","documents":["c",{"text":"b a"}],"top_n":1}`, 7},
	{"classify", "/classify", `{"input":["a b","c d"]}`, 4},
	{"score", "/score", `{"text_1":"a b","text_2":["c","b a"]}`, 7},
	{"tei-rerank", "/rerank", `{"query":"a b","texts":["c","b a"]}`, 7},
}

// TestItems compares answers with golden files. An answer is due when the prompt has been processed.
func TestItems(t *testing.T) {
	for name, cfg := range map[string]Config{
		"fixed":    {Model: "m", TTFT: time.Second, PerPromptToken: time.Second / 10, PerToken: time.Second},
		"batching": {Model: "m", Engine: &engine.Profile{Prefill: 1e6, PrefillPerToken: 1e5, Step: 1e5, MaxBatch: 1}},
	} {
		for _, tt := range itemBodies {
			t.Run(name+"/"+tt.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := inMemory(t, cfg)
					golden(t, "dialect/"+tt.name+".txt", r.must(tt.path, tt.body))
					due := time.Second + time.Duration(tt.tokens)*time.Second/10
					if e := r.only(); e.End != due || e.PromptTokens != tt.tokens || e.OutputTokens != 0 || e.Stream || e.Status != 200 {
						t.Errorf("Log()[0] = %+v, want an end at %v after %d tokens", e, due, tt.tokens)
					}
				})
			})
		}
	}
}

// embed returns the vectors of an answer of /v1/embeddings.
func embed(t *testing.T, s *Server, body string) (all [][]float64) {
	t.Helper()
	w := call(s, "POST", "/v1/embeddings", body)
	var answer struct {
		Data []struct{ Embedding []float64 }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); w.Code != 200 || err != nil {
		t.Fatalf("%s = %d %s, %v", body, w.Code, w.Body, err)
	}
	for _, d := range answer.Data {
		all = append(all, d.Embedding)
	}
	return all
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// TestVectors checks that vectors have the length 1, that equal texts have equal vectors wherever they are,
// and that different texts have dissimilar ones.
func TestVectors(t *testing.T) {
	s := mustNew(t, Config{})
	v := embed(t, s, `{"input":["a text","another text","a text"]}`)
	again := embed(t, s, `{"input":"a text","encoding_format":"float"}`)
	if !reflect.DeepEqual(v[0], v[2]) || !reflect.DeepEqual(v[0], again[0]) {
		t.Error("equal texts have different vectors")
	}
	if len(v[0]) != 384 || math.Abs(dot(v[0], v[0])-1) > 1e-6 || math.Abs(dot(v[0], v[1])) > 0.3 {
		t.Errorf("a vector of %d elements, norm² %v, product with another %v", len(v[0]), dot(v[0], v[0]), dot(v[0], v[1]))
	}
	short := embed(t, s, `{"input":"a text","dimensions":8}`)[0]
	if len(short) != 8 || math.Abs(dot(short, short)-1) > 1e-6 || math.Abs(short[0]/short[1]-v[0][0]/v[0][1]) > 1e-4 {
		t.Errorf("8 elements = %v, want the first ones of %v, scaled to the length 1", short, v[0][:8])
	}
	var answer struct{ Data []struct{ Embedding string } }
	w := call(s, "POST", "/v1/embeddings", `{"input":"a text","encoding_format":"base64"}`)
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatal(err)
	}
	raw, err := base64.StdEncoding.DecodeString(answer.Data[0].Embedding)
	if err != nil || len(raw) != 4*384 {
		t.Fatalf("%d bytes of base64, %v", len(raw), err)
	}
	for i, want := range v[0] {
		if got := math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])); got != float32(want) {
			t.Fatalf("element %d is %v in base64, %v as a number", i, got, want)
		}
	}
}

// TestItemRefusals checks the errors of requests that are refused.
func TestItemRefusals(t *testing.T) {
	for _, tt := range []struct{ path, body, message string }{
		{"/v1/embeddings", `{}`, "input: missing: want a string or an array of strings"},
		{"/v1/embeddings", `{"input":[]}`, "input: 0 inputs: want 1 to 2048"},
		{"/v1/embeddings", `{"input":["a",""]}`, "input[1]: empty: want at least one character"},
		{"/v1/embeddings", `{"input":[[]]}`, "input: want a string or an array of strings"},
		{"/v1/embeddings", `{"input":"a","dimensions":0}`, "dimensions: 0: want 1 to 384"},
		{"/v1/embeddings", `{"input":"a","dimensions":385}`, "dimensions: 385: want 1 to 384"},
		{"/v1/embeddings", `{"input":"a","encoding_format":"int8"}`, `encoding_format: \"int8\": want float or base64`},
		{"/embed", `{"inputs":3}`, "inputs: want a string or an array of strings"},
		{"/api/embed", `{}`, "input: missing"},
		{"/v1/rerank", `{"documents":["a"]}`, "query: missing or empty: want a string"},
		{"/v2/rerank", `{"query":"q"}`, "documents: 0: want 1 to 2048"},
		{"/v2/rerank", `{"query":"q","documents":[3]}`, "documents[0]: want a string or an object with a text"},
		{"/v2/rerank", `{"query":"q","documents":["a"],"top_n":0}`, "top_n: 0: want at least 1"},
		{"/classify", `{}`, "input: missing"},
		{"/score", `{"text_2":["a"]}`, "text_1: missing or empty: want a string"},
		{"/rerank", `{"query":"q"}`, "texts: 0: want 1 to 2048"},
	} {
		if w := call(mustNew(t, Config{}), "POST", tt.path, tt.body); w.Code != 400 || !strings.Contains(w.Body.String(), tt.message) {
			t.Errorf("%s %s = %d %s, want 400 and %q", tt.path, tt.body, w.Code, w.Body, tt.message)
		}
	}
}

// TestItemFaults checks the faults that change vectors and scores.
func TestItemFaults(t *testing.T) {
	const body = `{"input":["a","b"]}`
	right := embed(t, mustNew(t, Config{}), body)
	with := func(k fault.Kind) *Server { return mustNew(t, Config{Faults: []fault.Fault{{Kind: k, Every: 1}}}) }
	if v := embed(t, with(fault.Short), body); !reflect.DeepEqual(v, right[:1]) {
		t.Errorf("short: %d vectors, want the first of two", len(v))
	}
	if v := embed(t, with(fault.Wrong), body); len(v) != 2 || math.Abs(dot(v[0], right[0])) > 0.3 {
		t.Errorf("wrong: %d vectors, the first like the right one", len(v))
	}
	for kind, want := range map[fault.Kind]string{"": `[{"index":1,`, fault.Wrong: `[{"index":0,`} {
		s := mustNew(t, Config{})
		if kind != "" {
			s = with(kind)
		}
		if w := call(s, "POST", "/rerank", `{"query":"q","texts":["a","q"]}`); w.Code != 200 || !strings.HasPrefix(w.Body.String(), want) {
			t.Errorf("fault %q: %d %s, want %s first", kind, w.Code, w.Body, want)
		}
	}
}

// FuzzItems sends any body to the paths of vectors and scores. An answer must be JSON, and one of status 200
// must have an item for each input.
func FuzzItems(f *testing.F) {
	for i, b := range itemBodies {
		f.Add(i, b.body)
	}
	f.Add(0, `{"input":"a","dimensions":1e2}`)
	f.Fuzz(func(t *testing.T, i int, body string) {
		path := itemBodies[uint(i)%uint(len(itemBodies))].path
		s := mustNew(t, Config{})
		w := call(s, "POST", path, body)
		if !json.Valid(w.Body.Bytes()) || w.Code != 200 && w.Code != 400 && w.Code != 413 {
			t.Fatalf("%s %q = %d %.200q", path, body, w.Code, w.Body)
		}
		if e := s.Log()[0]; e.Status != w.Code || e.OutputTokens != 0 {
			t.Fatalf("%s %q = %d, log %+v", path, body, w.Code, e)
		}
		if strings.Contains(w.Body.String(), fmt.Sprint(math.NaN())) {
			t.Fatalf("%s %q = %.200q", path, body, w.Body)
		}
	})
}
