package scenarios

import (
	"cmp"
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
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
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

// TestFullNames checks that LLMBENCH_FULL is the name of an experiment, and that an error comes once.
func TestFullNames(t *testing.T) {
	for value, want := range map[string]string{
		"1": "", "0": "", "A": "",
		"foo": "LLMBENCH_FULL=foo: want 1 or one of A, A0, ",
		" ":   "LLMBENCH_FULL= : want 1, 0 or the name of a published experiment",
	} {
		err := env.Check([]string{"LLMBENCH_FULL=" + value})
		if want == "" {
			assert.NilError(t, err)
			continue
		}
		assert.ErrorContains(t, err, want)
		assert.Equal(t, strings.Count(err.Error(), "LLMBENCH_FULL="), 1, "%v", err)
	}
}

// TestStudies checks the tables of loads. It checks the names of benchmarks, that no reduced form
// needs a file, and that each published load says how to get its file.
func TestStudies(t *testing.T) {
	for _, st := range studies() {
		assert.Assert(t, len(st.reduced) > 0 && len(st.published) > 0, "%s: no reduced or no published loads", st.name)
		reduced := map[string]bool{}
		for _, c := range st.reduced {
			name := st.cellName(c)
			assert.Check(t, !reduced[name], "%s: %s: two loads of the reduced form have this name", st.name, name)
			assert.Check(t, c.data.file == "", "%s: %s: the reduced form needs a file", st.name, name)
			reduced[name] = true
		}
		for _, c := range slices.Concat(st.reduced, st.published) {
			name := st.cellName(c)
			for part := range strings.SplitSeq(name, "/") {
				key, value, _ := strings.Cut(part, "=")
				known := slices.Contains([]string{"workload", "stream", "rate", "concurrency"}, key)
				assert.Check(t, known && value == llmbench.NameValue(value), "%s: %s: %s is no part of a benchmark name", st.name, name, part)
			}
			assert.Check(t, (c.concurrency > 0) != (c.rate > 0), "%s: %s: want a concurrency or a rate", st.name, name)
			assert.Check(t, c.requests >= max(c.concurrency, 1) && c.data.in > 0 && c.data.limit > 0,
				"%s: %s: %d requests of %d and %d tokens", st.name, name, c.requests, c.data.in, c.data.limit)
			if c.data.file != "" {
				assert.Check(t, c.data.get != "", "%s: %s: nothing says how to get %s", st.name, name, c.data.file)
				assert.Check(t, c.data.simulated().name != c.data.name, "%s: %s: the random words of the simulated server have the name of the file", st.name, name)
			}
		}
	}
}

// TestFullForm checks that the full form of a study contains every published load exactly once,
// also on the simulated server.
func TestFullForm(t *testing.T) {
	for _, st := range studies() {
		full, err := st.cells(Options{Full: "1", Simulated: true})
		assert.NilError(t, err)
		seen := map[string]bool{}
		for _, c := range full {
			onMock := c
			onMock.data = c.data.simulated()
			for _, name := range slices.Compact([]string{st.cellName(c), st.cellName(onMock)}) {
				assert.Check(t, !seen[name], "%s: two loads of the full form have the name %s", st.name, name)
				seen[name] = true
			}
		}
		for _, c := range st.published {
			assert.Check(t, seen[st.cellName(c)], "%s: the full form lacks %s", st.name, st.cellName(c))
		}
	}
}

// TestStudyData makes requests from small files, which stand for the data sets of the full forms,
// and from the words that the simulated server is sent.
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
	s := server{counter: counter{tokens: tokenizer.Words{}}}
	files := map[string]bool{}
	for _, st := range studies() {
		for _, c := range st.published {
			if c.data.file == "" {
				continue
			}
			files[c.data.file] = true
			for _, folder := range []string{"", t.TempDir()} {
				_, err := c.data.path(folder)
				assert.ErrorContains(t, err, c.data.file)
				assert.ErrorContains(t, err, c.data.get)
			}
			path, err := c.data.path(dir)
			assert.NilError(t, err)
			requests, err := c.data.draw(s, path, c.requests, 1)
			assert.NilError(t, err, c.data.name)
			want := c.requests
			var chars int // the length of a block that is to be continued; the text has 40,000 characters
			if n, err := fmt.Sscanf(c.data.name, "continuation-in%d", &chars); n == 1 && err == nil {
				want = min(40000/chars, c.requests)
			}
			assert.Equal(t, len(requests), want, c.data.name)
			assert.Equal(t, requests[0].FixedOutput, c.data.name == "sharegpt", c.data.name)
			if c.data.endpoint != completionEndpoint { // for a completion endpoint the reference answer is the limit
				assert.Equal(t, requests[0].MaxTokens, c.data.limit, c.data.name)
			}
			checkSimulated(t, s, c.data)
		}
	}
	assert.Equal(t, len(files), 6)
}

// checkSimulated checks the requests that the simulated server is sent in place of those from a
// file.
func checkSimulated(t *testing.T, s server, d data) {
	t.Helper()
	requests, err := d.simulated().draw(s, "", 2, 1)
	assert.NilError(t, err)
	assert.Equal(t, tokenizer.Words{}.Count(requests[0].Prompt), d.in, d.name)
	assert.Equal(t, requests[0].FixedOutput, d.out > 0, d.name)
	assert.Equal(t, requests[0].MaxTokens, cmp.Or(d.out, d.limit), d.name)
}

// TestEndpoints checks which dialects can be used for a load that needs a chat endpoint, and which
// one for a load that needs a completion endpoint.
func TestEndpoints(t *testing.T) {
	for _, tt := range []struct {
		dialect  dialect.Dialect
		endpoint endpoint
		want     dialect.Dialect // nil means that the load cannot be sent
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
		{dialect.AnthropicMessages{}, chatEndpoint, dialect.AnthropicMessages{}},
		{dialect.BedrockConverse{}, chatEndpoint, dialect.BedrockConverse{}},
		{dialect.Gemini{}, completionEndpoint, nil},
		{dialect.Cohere{}, chatEndpoint, dialect.Cohere{}},
	} {
		s, ok := server{target: llmbench.Target{Dialect: tt.dialect}, counter: counter{template: 7}}.forEndpoint(tt.endpoint)
		assert.Equal(t, ok, tt.want != nil, "%v for endpoint %d", tt.dialect, tt.endpoint)
		if !ok {
			continue
		}
		assert.Equal(t, s.target.Dialect, tt.want)
		template := 7
		if tt.dialect != tt.want { // a completion endpoint adds no template
			template = 0
		}
		assert.Equal(t, s.template, template, "%v for endpoint %d", tt.dialect, tt.endpoint)
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
	}{
		{nil, 0},
		{[]sample.Sample{failed}, 0},
		{[]sample.Sample{answer(100, 3), answer(300, 110), failed}, 0.25},
		{[]sample.Sample{answer(0, 0)}, 0},
	} {
		assert.Equal(t, cachedShare(sample.All(tt.samples...), 10), tt.want)
	}
}

// TestServerSpeeds checks the speeds that are computed from the server's own times.
func TestServerSpeeds(t *testing.T) {
	answer := func(prompt, output int, promptTime, outputTime time.Duration) sample.Sample {
		return sample.Sample{Outcome: sample.OK, Server: sample.ServerTimings{PromptTokens: prompt, OutputTokens: output, Prompt: promptTime, Predict: outputTime}}
	}
	failed := sample.Sample{Outcome: sample.Truncated}
	for _, tt := range []struct {
		name           string
		samples        []sample.Sample
		prompt, output float64
	}{
		{"no sample", nil, 0, 0},
		{"only a failed request", []sample.Sample{failed}, 0, 0},
		{"two answers", []sample.Sample{answer(500, 11, time.Second, time.Second), failed, answer(100, 31, 2*time.Second, time.Second)}, 200, 20},
		{"one output token", []sample.Sample{answer(500, 1, time.Second, time.Millisecond)}, 500, 0},
		{"an answer without times", []sample.Sample{answer(500, 11, time.Second, time.Second), answer(0, 0, 0, 0)}, 0, 0},
	} {
		prompt, output := serverSpeeds(sample.All(tt.samples...))
		assert.Equal(t, prompt, tt.prompt, tt.name)
		assert.Equal(t, output, tt.output, tt.name)
	}
}
