package llmbench_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/llmbench/testkit/extracases"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
)

// published returns the path of a published trace. The traces are too large to be part of this repository.
func published(t *testing.T, name string) string {
	t.Helper()
	return extracases.Path(t, "data/"+name)
}

// azureInstants reads the arrival times in a trace of Azure. It does not use package benchdata, which the
// test checks.
func azureInstants(t *testing.T, path string) (at []time.Duration) {
	f, err := os.Open(path)
	assert.NilError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	assert.NilError(t, err)
	for _, row := range rows[1:] {
		var hour, minute, second, fraction int64 // in units of 100 ns
		_, err := fmt.Sscanf(row[0], "2023-11-16 %d:%d:%d.%07d", &hour, &minute, &second, &fraction)
		assert.NilError(t, err)
		at = append(at, time.Duration(((hour*60+minute)*60+second)*1e9+fraction*100))
	}
	for i, first := 0, at[0]; i < len(at); i++ {
		at[i] -= first
	}
	return at
}

// mooncakeInstants reads the arrival times in a trace of Mooncake. It does not use package benchdata, which
// the test checks.
func mooncakeInstants(t *testing.T, path string) (at []time.Duration) {
	text, err := os.ReadFile(path)
	assert.NilError(t, err)
	for line := range strings.Lines(string(text)) {
		var row struct{ Timestamp int64 }
		assert.NilError(t, json.Unmarshal([]byte(line), &row))
		at = append(at, time.Duration(row.Timestamp)*time.Millisecond)
	}
	return at
}

// TestReplayOfTraces replays every row of two published traces in virtual time. Each request must reach the
// server within a millisecond of its time in the trace.
func TestReplayOfTraces(t *testing.T) {
	for _, tt := range []struct {
		format   benchdata.TraceFormat
		file     string
		instants func(*testing.T, string) []time.Duration
		rows     int
		speed    float64
	}{
		{benchdata.Azure, "AzureLLMInferenceTrace_conv.csv", azureInstants, 19366, 1},
		{benchdata.Mooncake, "mooncake_conversation_trace.jsonl", mooncakeInstants, 12031, 1},
		{benchdata.Mooncake, "mooncake_conversation_trace.jsonl", mooncakeInstants, 12031, 7},
	} {
		t.Run(fmt.Sprintf("%s at speed %g", tt.format, tt.speed), func(t *testing.T) {
			path := published(t, tt.file)
			want := tt.instants(t, path)
			assert.Equal(t, len(want), tt.rows)
			// With a template that is longer than every prompt, each prompt has only one word.
			trace := benchdata.Trace{Format: tt.format, Path: path, Speed: tt.speed, Template: 1 << 20}
			requests, replay, err := trace.Load(0)
			assert.NilError(t, err)
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var came []time.Duration
				epoch := time.Now()
				target, stop := llmbench.InMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					mu.Lock()
					came = append(came, time.Since(epoch))
					mu.Unlock()
					time.Sleep(2 * time.Second) // other requests are in flight meanwhile
					w.Header().Set("Content-Type", "application/json")
					fmt.Fprint(w, `{"choices":[{"message":{"content":"yes"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)
				}))
				defer stop()
				samples := llmbench.OnePass(t, target, llmbench.Load{Requests: requests, Arrivals: replay, NoStream: true})
				slices.Sort(came)
				assert.Equal(t, len(came), tt.rows)
				var worst time.Duration
				for i := range came {
					due := time.Duration(float64(want[i]) / tt.speed)
					worst = max(worst, (came[i] - due).Abs(), (samples[i].Start - due).Abs())
					assert.Equal(t, samples[i].Outcome, sample.OK)
					assert.Equal(t, samples[i].AskedTokens, requests[i].PromptTokens)
				}
				t.Logf("%d requests over %v, the farthest %v from its instant", len(came), came[len(came)-1], worst)
				assert.Assert(t, worst < time.Millisecond, "%v", worst)
			})
		})
	}
}

// hitRatio returns the number of all prompt tokens in rows, and how many of them an unlimited prefix cache
// with blocks of 16 tokens would hold if the requests were sent one after another. The names of the blocks
// in a trace tell which prompts share a beginning. Each named block has the given number of tokens.
func hitRatio(rows []benchdata.TraceRow, tokens int) (hits, all int) {
	const block = 16
	type name struct {
		before string // the earlier names: a block is only found after the same blocks
		of     uint64
		index  int // index of the block in the prompt
	}
	seen := map[name]bool{}
	for _, r := range rows {
		all += r.Input
		found, missed := 0, false
		for i := range r.Input / block {
			k := i * block / tokens
			if k >= len(r.Blocks) {
				break
			}
			n := name{fmt.Sprint(r.Blocks[:k]), r.Blocks[k], i}
			if missed = missed || !seen[n]; !missed {
				found++
			}
			seen[n] = true
		}
		if found*block == r.Input && found > 0 {
			found-- // the server always computes at least one block
		}
		hits += found * block
	}
	return hits, all
}

var (
	queried = regexp.MustCompile(`(?m)^vllm:prefix_cache_queries_total\{.*\} (\S+)$`)
	found   = regexp.MustCompile(`(?m)^vllm:prefix_cache_hits_total\{.*\} (\S+)$`)
)

// TestPrefixHitsOfTraces sends traces with named blocks, one request after another, to a simulated server
// with a prefix cache. The cache must find exactly the tokens that the names imply.
func TestPrefixHitsOfTraces(t *testing.T) {
	dir := t.TempDir()
	crafted := func(name string, rows ...string) string {
		path := filepath.Join(dir, name)
		assert.NilError(t, os.WriteFile(path, []byte(strings.Join(rows, "\n")), 0o666))
		return path
	}
	row := func(input int, names ...int) string {
		text, err := json.Marshal(map[string]any{"timestamp": 0, "input_length": input, "output_length": 1, "hash_ids": names})
		assert.NilError(t, err)
		return string(text)
	}
	for _, tt := range []struct {
		name   string
		format benchdata.TraceFormat
		path   func(t *testing.T) string
		rows   int
		hits   int // expected hits; -1 compares only with hitRatio
	}{
		{"mooncake", benchdata.Mooncake, func(t *testing.T) string {
			return crafted("m", row(1100, 1, 2, 3), row(1100, 1, 2, 4), row(1024, 1, 2), row(1300, 1, 5, 6), row(1300, 1, 5, 6), row(600, 7, 8), row(513, 7, 9), row(600, 2, 1))
		}, 8, 1024 + (1024 - 16) + 512 + 1296 + 512},
		{"bailian", benchdata.Bailian, func(t *testing.T) string {
			return crafted("b", row(40, 1, 2, 3), row(52, 1, 2, 4, 5), row(52, 1, 2, 4, 5), row(32, 1, 2), row(90, 1), row(40, 2, 1, 3))
		}, 6, 32 + 48 + 16 + 16},
		{"published", benchdata.Mooncake, func(t *testing.T) string { return published(t, "mooncake_conversation_trace.jsonl") }, 200, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			trace := benchdata.Trace{Format: tt.format, Path: tt.path(t), Seed: 11}
			var rows []benchdata.TraceRow
			for r, err := range trace.Rows() {
				assert.NilError(t, err)
				if rows = append(rows, r); len(rows) == tt.rows {
					break
				}
			}
			hits, all := hitRatio(rows, tt.format.BlockTokens())
			if tt.hits >= 0 {
				assert.Equal(t, hits, tt.hits)
			}
			requests, err := trace.Requests(tt.rows)
			assert.NilError(t, err)
			for i := range requests {
				requests[i].MaxTokens = 1
			}
			synctest.Test(t, func(t *testing.T) {
				srv, err := mockserver.New(mockserver.Config{Engine: &engine.Profile{Step: 1000, PrefillPerToken: 1, MaxBatch: 4, PrefixCache: true}})
				assert.NilError(t, err)
				target, stop := llmbench.InMemory(t, srv)
				defer stop()
				for _, s := range llmbench.OnePass(t, target, llmbench.Load{Requests: requests, Concurrency: 1, NoStream: true}) {
					assert.Equal(t, s.Outcome, sample.OK)
				}
				w := httptest.NewRecorder()
				srv.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
				value := func(of *regexp.Regexp) int {
					m := of.FindStringSubmatch(w.Body.String())
					assert.Assert(t, len(m) == 2, "%s", w.Body)
					x, err := strconv.ParseFloat(m[1], 64)
					assert.NilError(t, err)
					return int(x)
				}
				t.Logf("%d requests of %d tokens, %d of them (%.2f %%) in the cache", len(requests), value(queried), value(found), 100*float64(value(found))/float64(value(queried)))
				assert.Equal(t, value(queried), all)
				assert.Equal(t, value(found), hits)
			})
		})
	}
}
