package scenarios

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// studies returns the studies of the catalogue.
func studies() (all []*study) {
	for _, sc := range catalogue {
		if sc.study != nil {
			all = append(all, sc.study)
		}
	}
	return all
}

// TestStudies checks the tables of loads: benchmark names, that each reduced form
// needs no file, and that each published load says how to get its file.
func TestStudies(t *testing.T) {
	for _, st := range studies() {
		if len(st.reduced) == 0 || len(st.published) == 0 {
			t.Errorf("%s: no reduced or no published loads", st.name)
		}
		names := map[string]bool{}
		for _, c := range slices.Concat(st.reduced, st.published) {
			name := st.cellName(c)
			for part := range strings.SplitSeq(name, "/") {
				key, value, _ := strings.Cut(part, "=")
				if !slices.Contains([]string{"workload", "stream", "rate", "concurrency"}, key) || value != llmbench.NameValue(value) {
					t.Errorf("%s: %s: no name of the scheme", st.name, name)
				}
			}
			if reduced := c.experiment == ""; reduced && names[name] || reduced && c.data.file != "" {
				t.Errorf("%s: %s: twice, or needs a file in its reduced form", st.name, name)
			}
			names[name] = true
			switch {
			case (c.concurrency > 0) == (c.rate > 0):
				t.Errorf("%s: %s: want either a concurrency or a rate", st.name, name)
			case c.requests < max(c.concurrency, 1) || c.data.in < 1 || c.data.limit < 1:
				t.Errorf("%s: %s: %d requests of %d and %d tokens", st.name, name, c.requests, c.data.in, c.data.limit)
			case c.data.file != "" && c.data.get == "":
				t.Errorf("%s: %s: nobody says how to get %s", st.name, name, c.data.file)
			case c.data.file != "" && c.data.simulated().name == c.data.name:
				t.Errorf("%s: %s: the mock's words have the name of the file", st.name, name)
			}
		}
		full, err := st.cells(Options{Full: "1", Simulated: true})
		assert.NilError(t, err)
		seen := map[string]bool{}
		for _, c := range full {
			mock := c
			mock.data = c.data.simulated()
			for _, name := range slices.Compact([]string{st.cellName(c), st.cellName(mock)}) {
				if seen[name] {
					t.Errorf("%s: %s: twice in the full form", st.name, name)
				}
				seen[name] = true
			}
		}
		for _, c := range st.published {
			if !seen[st.cellName(c)] {
				t.Errorf("%s: %s: not in the full form", st.name, st.cellName(c))
			}
		}
	}
}

// TestStudyData reads each file that a full form needs, in small, and checks what
// becomes of it.
func TestStudyData(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"open_qa.jsonl":     `{"question": "什么 是 光 ？", "human_answers": []}` + "\n" + `{"question": "and what is heat?"}`,
		"data.json":         `{"id": 1, "input": "write it", "output": "…"}` + "\n" + `{"input": "test it"}`,
		"long.jsonl":        `{"question": "an article. Translate to French."}`,
		"long-in6385.jsonl": `{"question": "two articles. Translate to French."}`,
		"continuation.txt":  strings.Repeat("天地玄黄，宇宙洪荒。", 4000),
		"ShareGPT_V3_unfiltered_cleaned_split.json": `[{"conversations": [{"from": "human", "value": "one two three four"}, {"from": "gpt", "value": "one two three four five"}]}]`,
	} {
		assert.NilError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	s := server{tokens: tokenizer.Words{}}
	files := map[string]bool{}
	for _, st := range studies() {
		for _, c := range st.published {
			if c.data.file == "" {
				continue
			}
			files[c.data.file] = true
			for _, folder := range []string{"", t.TempDir()} {
				if _, err := c.data.path(folder); err == nil || !strings.Contains(err.Error(), c.data.file) || !strings.Contains(err.Error(), c.data.get) {
					t.Errorf("%s in %q: %v, want what is missing and how to get it", c.data.name, folder, err)
				}
			}
			path, err := c.data.path(dir)
			assert.NilError(t, err)
			requests, err := c.data.draw(s, path, c.requests, 1)
			if err != nil {
				t.Errorf("%s: %v", c.data.name, err)
				continue
			}
			blocks := c.requests // what the text has, of those to be continued
			if n, err := fmt.Sscanf(c.data.name, "continuation-in%d", &blocks); n == 1 && err == nil {
				blocks = min(40000/blocks, c.requests)
			}
			if len(requests) != blocks || requests[0].FixedOutput != (c.data.name == "sharegpt") {
				t.Errorf("%s: %d requests, want %d; the first is %+v", c.data.name, len(requests), blocks, requests[0])
			}
			if want := c.data.limit; requests[0].MaxTokens != want && c.data.endpoint != completionEndpoint {
				t.Errorf("%s: answers of at most %d tokens, want %d", c.data.name, requests[0].MaxTokens, want)
			}
			mock := c.data.simulated()
			requests, err = mock.draw(s, "", 2, 1)
			assert.NilError(t, err)
			limit, fixed := c.data.limit, c.data.out > 0
			if fixed {
				limit = c.data.out
			}
			if got := (tokenizer.Words{}).Count(requests[0].Prompt); got != c.data.in || requests[0].FixedOutput != fixed || requests[0].MaxTokens != limit {
				t.Errorf("%s on the mock: a prompt of %d words, %+v", c.data.name, got, requests[0])
			}
		}
	}
	assert.Equal(t, len(files), 6)
}

// TestEndpoints checks which servers take what was published for a chat, and what
// for a bare prompt.
func TestEndpoints(t *testing.T) {
	for _, tt := range []struct {
		is   dialect.Dialect
		e    endpoint
		want dialect.Dialect // nil: none
	}{
		{nil, completionEndpoint, dialect.OpenAICompletions{}},
		{dialect.OpenAIChat{}, completionEndpoint, dialect.OpenAICompletions{}},
		{dialect.OpenAIChat{}, chatEndpoint, dialect.OpenAIChat{}},
		{dialect.OpenAICompletions{}, completionEndpoint, dialect.OpenAICompletions{}},
		{dialect.OpenAICompletions{}, chatEndpoint, nil},
		{dialect.TGI{}, completionEndpoint, dialect.TGI{}},
		{dialect.TGI{}, chatEndpoint, nil},
		{dialect.TGI{}, anyEndpoint, dialect.TGI{}},
		{dialect.Ollama{}, chatEndpoint, dialect.Ollama{}},
		{dialect.Ollama{}, completionEndpoint, nil},
		{dialect.OpenAIResponses{}, completionEndpoint, nil},
	} {
		s, ok := server{target: llmbench.Target{Dialect: tt.is}, template: 7}.forEndpoint(tt.e)
		if ok != (tt.want != nil) || ok && s.target.Dialect != tt.want {
			t.Errorf("%v for %d: %v, %t; want %v", tt.is, tt.e, s.target.Dialect, ok, tt.want)
		}
		if changed := ok && tt.is != tt.want; changed && s.template != 0 {
			t.Errorf("%v for %d: a template of %d tokens, want none", tt.is, tt.e, s.template)
		}
	}
}

func TestCachedShare(t *testing.T) {
	answer := func(prompt, cached int) sample.Sample {
		return sample.Sample{Outcome: sample.OK, PromptTokens: prompt, CachedTokens: cached}
	}
	failed := sample.Sample{Outcome: sample.Truncated, PromptTokens: 100, CachedTokens: 100}
	for _, tt := range []struct {
		samples []sample.Sample
		want    float64
	}{{nil, 0}, {[]sample.Sample{failed}, 0}, {[]sample.Sample{answer(100, 3), answer(300, 110), failed}, 0.25}, {[]sample.Sample{answer(0, 0)}, 0}} {
		if got := cachedShare(tt.samples, 10); got != tt.want {
			t.Errorf("%d samples: %g, want %g", len(tt.samples), got, tt.want)
		}
	}
}

// TestServerSpeeds checks the arithmetic of what servers say of themselves.
func TestServerSpeeds(t *testing.T) {
	answer := func(prompt, output int, took, took2 time.Duration) sample.Sample {
		return sample.Sample{Outcome: sample.OK, Server: sample.ServerTimings{PromptTokens: prompt, OutputTokens: output, Prompt: took, Predict: took2}}
	}
	failed := sample.Sample{Outcome: sample.Truncated}
	for _, tt := range []struct {
		samples        []sample.Sample
		prompt, output float64
	}{
		{nil, 0, 0},
		{[]sample.Sample{failed}, 0, 0},
		{[]sample.Sample{answer(500, 11, time.Second, time.Second), failed, answer(100, 31, 2*time.Second, time.Second)}, 200, 20},
		{[]sample.Sample{answer(500, 1, time.Second, time.Millisecond)}, 500, 0},
		{[]sample.Sample{answer(500, 11, time.Second, time.Second), answer(0, 0, 0, 0)}, 0, 0},
	} {
		if prompt, output := serverSpeeds(tt.samples); prompt != tt.prompt || output != tt.output {
			t.Errorf("%d samples: %g and %g, want %g and %g", len(tt.samples), prompt, output, tt.prompt, tt.output)
		}
	}
}
