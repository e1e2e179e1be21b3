package scenarios

import (
	"math"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// runItems runs a scenario against the simulated server with the given dialect and faults, and returns the
// server's log.
func runItems(t *testing.T, name string, o Options, d dialect.Dialect, faults ...fault.Fault) (log []mockserver.Entry, failed, skipped bool) {
	for _, name := range env.Names() {
		t.Setenv(name, "") // the variable then counts as not set
	}
	srv, target := backends.Mock{Config: &mockserver.Config{Faults: faults}, Dialect: d}.Serve(t)
	onePass(t, func(b *testing.B) {
		defer func() { failed, skipped = failed || b.Failed(), skipped || b.Skipped() }()
		scenario(name).Run(b, target, o)
	})
	return srv.Log(), failed, skipped
}

// TestItems checks which requests the scenarios send.
func TestItems(t *testing.T) {
	o := Options{Batches: []int{1, 3}, Concurrencies: []int{2}, Requests: 5}
	for _, tt := range []struct {
		scenario string
		d        dialect.Dialect
		path     string
	}{
		{"Embeddings", nil, "/v1/embeddings"},
		{"Embeddings", dialect.OllamaEmbed{}, "/api/embed"},
		{"Rerank", nil, "/v1/rerank"},
		{"Rerank", dialect.Rerank{V2: true}, "/v2/rerank"},
	} {
		log, failed, _ := runItems(t, tt.scenario, o, tt.d)
		assert.Assert(t, !failed, tt.path)
		got := map[int]int{} // number of requests by their inputs
		for _, e := range log {
			assert.Equal(t, e.Path, tt.path)
			size := itemTokens
			if tt.scenario == "Rerank" {
				size += queryTokens
			}
			assert.Equal(t, e.PromptTokens%size, 0)
			got[e.PromptTokens/size]++
		}
		// For each batch: a text alone, the text as the first and the last of at least two, the warm-up and five requests.
		assert.DeepEqual(t, got, map[int]int{1: 1 + 1 + 5 + 1, 2: 1, 3: 1 + 1 + 5})
	}
}

// TestOtherDialects checks that a scenario is skipped if the dialect of the target is for other requests.
func TestOtherDialects(t *testing.T) {
	for name, d := range map[string]dialect.Dialect{"Embeddings": dialect.Rerank{}, "Rerank": dialect.Embeddings{}, "Chat": dialect.Embeddings{}} {
		log, failed, skipped := runItems(t, name, Options{}, d)
		assert.Assert(t, skipped && !failed && len(log) == 0, "%s: skipped %t, failed %t, %d requests", name, skipped, failed, len(log))
	}
}

// TestUnequalItems checks that a server is found out if it gives equal inputs different vectors or scores.
func TestUnequalItems(t *testing.T) {
	for _, name := range []string{"Embeddings", "Rerank"} {
		_, failed, _ := runItems(t, name, Options{Batches: []int{3}, Concurrencies: []int{1}, Requests: 1}, nil, fault.Fault{Kind: fault.Wrong, Every: 2})
		assert.Assert(t, failed, name)
	}
}

func TestItemDiffers(t *testing.T) {
	a := item{vector: []float32{1, 0}}
	turned := func(degrees float64) item {
		sin, cos := math.Sincos(degrees * math.Pi / 180)
		return item{vector: []float32{float32(3 * cos), float32(3 * sin)}}
	}
	for _, tt := range []struct {
		a, b item
		err  string // the beginning
	}{
		{a, turned(0), ""},
		{a, turned(2), ""},
		{a, turned(3), "the cosine between the vectors is 0.998630: want at least 0.999 (cosine in LLMBENCH_DATASET)"},
		{a, turned(180), "the cosine between the vectors is -1.000000: want"},
		{a, item{vector: []float32{1}}, "vectors of 2 and 1 dimensions"},
		{item{score: 0.5}, item{score: 0.505}, ""},
		{item{score: 0.5}, item{score: 0.52}, "the scores 0.5 and 0.52: want a difference of at most 0.01"},
		{item{score: -8}, item{score: -8.07}, ""},
		{item{score: -8}, item{score: -8.1}, "the scores -8 and -8.1: want a difference of at most 0.08"},
	} {
		got := ""
		if err := tt.a.differs(tt.b, leastCosine); err != nil {
			got = err.Error()
		}
		assert.Assert(t, strings.HasPrefix(got, tt.err) && (got == "") == (tt.err == ""), "got %q, want %q", got, tt.err)
	}
}
