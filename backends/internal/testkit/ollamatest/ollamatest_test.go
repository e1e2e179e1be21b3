package ollamatest_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/llamatest/tinygguf"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/ollamatest"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/scenariostest"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestDialects uses every dialect that Ollama supports, with a real Ollama.
func TestDialects(t *testing.T) {
	url := ollamatest.Start(t, ollamatest.Options{})
	for _, d := range []dialect.Dialect{
		dialect.Ollama{}, dialect.OllamaGenerate{}, dialect.OpenAIChat{}, dialect.OpenAICompletions{}, dialect.OpenAIResponses{}, dialect.AnthropicMessages{},
	} {
		for _, stream := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/stream=%t", d.Name(), stream), func(t *testing.T) {
				target := backends.URL{URL: url, Dialect: d}.Start(t)
				assert.Equal(t, target.Model, ollamatest.ModelName+":latest")
				for _, tokens := range []int{1, 24, 200} {
					s := llmbench.Do(t.Context(), target, llmbench.Request{Prompt: "Tell me about the sea.", MaxTokens: tokens}, stream)
					assert.NilError(t, s.Err)
					assert.Equal(t, s.OutputTokens, tokens)
					assert.Equal(t, s.TokenSource, sample.FromUsage)
					assert.Assert(t, s.PromptTokens > 0, "%+v", s)
					assert.Assert(t, !stream || s.Deltas > 0 && s.Deltas <= tokens, "%+v", s)
					if strings.HasPrefix(d.Name(), "ollama") {
						assert.Equal(t, s.Finish, "length")
						assert.Equal(t, s.Server.OutputTokens, tokens)
						assert.Assert(t, s.Server.Total > 0 && s.Server.Total < s.End-s.Start, "%+v", s)
					}
				}
			})
		}
	}
}

// TestScenarios runs scenarios in the three dialects that people use with Ollama. Chat sends the most tokens, and in Ollama's
// own dialect only.
func TestScenarios(t *testing.T) {
	url := ollamatest.Start(t, ollamatest.Options{})
	program := scenariostest.Program(t)
	outputs := map[string]float64{"Chat": 200, "Concurrency": 128, "MultiTurn": 32}
	const (
		chat        = "^BenchmarkChat$/./././stream=true/^concurrency=4$"
		concurrency = "^BenchmarkConcurrency$/./././stream=true/^concurrency=1$"
		others      = "^Benchmark(MultiTurn|StructuredOutput)$/./././stream=true/^concurrency=1$"
	)
	for dialect, tt := range map[string]struct {
		bench string
		want  map[string]int
	}{
		"ollama":             {chat + "|" + concurrency + "|" + others, map[string]int{"Chat": 1, "Concurrency": 1, "MultiTurn": 1, "StructuredOutput": 1}},
		"openai-chat":        {concurrency + "|" + others, map[string]int{"Concurrency": 1, "MultiTurn": 1, "StructuredOutput": 1}},
		"openai-completions": {concurrency + "|" + others, map[string]int{"Concurrency": 1}}, // this API has neither conversations nor an output format
	} {
		t.Run(dialect, func(t *testing.T) {
			out := run(t, []string{
				"LLMBENCH_URL=" + url, "LLMBENCH_NAME=ollama", "LLMBENCH_DIALECT=" + dialect,
				"LLMBENCH_REQUESTS=4",          // for all scenarios except Chat
				"LLMBENCH_CLIENT_BOUND=report", // the client shares its CPU cores with the server and with other tests
			}, program, "-test.run=^$", "-test.benchtime=1x", "-test.bench="+tt.bench)
			got := map[string]int{}
			r := benchfmt.NewReader(strings.NewReader(out), "output")
			for r.Scan() {
				switch rec := r.Result().(type) {
				case *benchfmt.SyntaxError:
					t.Errorf("%v in:\n%s", rec, out)
				case *benchfmt.Result:
					name, _, _ := strings.Cut(string(rec.Name), "/")
					got[name]++
					if tokens, ok := outputs[name]; ok {
						value, _ := rec.Value("out-tok/req")
						assert.Equal(t, value, tokens, "%s", rec.Name)
						if name != "MultiTurn" { // the prompts of MultiTurn contain answers
							value, _ = rec.Value("in-tok/req")
							assert.Equal(t, value, 512.0, "%s", rec.Name)
						}
					} else {
						valid, _ := rec.Value("valid-%")
						assert.Equal(t, valid, 100.0, "%s", rec.Name)
					}
				}
			}
			assert.DeepEqual(t, got, tt.want)
		})
	}
}

const (
	// maxDurationError is the largest accepted difference between the duration of a decode that the
	// client measures and the one that Ollama reports, as a share of the latter.
	maxDurationError = 0.05
	// maxDurationSpread is the largest interquartile range of the ratios of these durations, over
	// the requests of a round, at which TestDurations can fail.
	maxDurationSpread = 0.02
)

// TestDurations sends requests one at a time. For each, it compares the time from the first token
// to the last with Ollama's eval_duration, which is the time for all tokens after the first. Noise
// of the machine lengthens both. The test fails if the ratios of each of three rounds agree and
// their median is wrong in each round. If the ratios do not agree, the test is skipped.
func TestDurations(t *testing.T) {
	url := ollamatest.Start(t, ollamatest.Options{
		Parallel: 1, Model: tinygguf.Options{Dim: 512, Layers: 4, Heads: 8, KVHeads: 4, FF: 1024},
	})
	for _, d := range []dialect.Dialect{dialect.Ollama{}, dialect.OllamaGenerate{}} {
		t.Run(d.Name(), func(t *testing.T) {
			target := llmbench.Target{URL: url, Model: ollamatest.ModelName, Dialect: d}
			for round := 1; ; round++ {
				median, spread := decodeRatios(t, target)
				t.Logf("round %d: the client's durations are %.4f times those of Ollama; interquartile range %.4f", round, median, spread)
				switch wrong := max(median-1, 1-median) > maxDurationError; {
				case !wrong:
					return
				case spread > maxDurationSpread:
					t.Skipf("too noisy to tell: the interquartile range is %.3f, more than %.3f", spread, maxDurationSpread)
				case round == 3:
					t.Fatalf("in three rounds the client's durations are not within %.0f %% of Ollama's", 100*maxDurationError)
				}
			}
		})
	}
}

// decodeRatios returns the median and the interquartile range of the ratios of two durations: the
// one that the client measures for a decode, and the one that the server reports.
func decodeRatios(t *testing.T, target llmbench.Target) (median, spread float64) {
	t.Helper()
	const tokens, requests = 64, 12
	var ratios []float64
	for i := range requests {
		s := llmbench.Do(t.Context(), target, llmbench.Request{Prompt: fmt.Sprintf("Tell me about the number %d.", i), MaxTokens: tokens}, true)
		assert.NilError(t, s.Err)
		assert.Equal(t, s.OutputTokens, tokens)
		assert.Assert(t, s.Deltas > tokens/2, "%+v", s)
		assert.Assert(t, s.Server.Predict > time.Millisecond, "%+v", s.Server)
		ratios = append(ratios, float64(s.Last-s.First)/float64(s.Server.Predict))
	}
	slices.Sort(ratios)
	return (ratios[requests/2-1] + ratios[requests/2]) / 2, ratios[3*requests/4-1] - ratios[requests/4]
}

// run runs a command and returns its standard output.
func run(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	var out, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), env...), &out, &stderr
	assert.NilError(t, cmd.Run(), "%s %q:\n%s%s", name, args, &out, &stderr)
	return out.String()
}
