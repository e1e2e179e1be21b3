package backends_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/llamatest"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/llamatest/tinygguf"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/scenariostest"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
)

// TestRealServer uses both OpenAI dialects with a real llama-server.
func TestRealServer(t *testing.T) {
	t.Parallel()
	url := llamatest.Start(t, llamatest.Options{})
	for _, d := range []dialect.Dialect{dialect.OpenAIChat{}, dialect.OpenAICompletions{}} {
		t.Run(d.Name(), func(t *testing.T) {
			target := backends.URL{URL: url, Dialect: d}.Start(t)
			assert.Assert(t, target.Model != "", "the name of the server's only model was not found")
			for _, tokens := range []int{1, 24, 200} {
				llamatest.Ask(t, target, tokens)
			}
		})
	}
}

// TestMessagesOfRealServer uses Anthropic's API of a real llama-server, which ends no text early if the body
// says so. The API has no timings.
func TestMessagesOfRealServer(t *testing.T) {
	t.Parallel()
	url := llamatest.Start(t, llamatest.Options{})
	target := backends.URL{URL: url, Dialect: dialect.AnthropicMessages{}, Body: json.RawMessage(`{"ignore_eos":true}`)}.Start(t)
	for _, stream := range []bool{true, false} {
		for _, tokens := range []int{1, 24, 200} {
			s := llmbench.Do(t.Context(), target, llmbench.Request{Prompt: "Tell me about the sea.", MaxTokens: tokens}, stream)
			assert.NilError(t, s.Err)
			assert.Equal(t, s.OutputTokens, tokens)
			assert.Equal(t, s.Finish, "max_tokens")
			assert.Assert(t, s.PromptTokens > 0 && (!stream || s.Deltas > 0 && s.Deltas <= tokens), "%+v", s)
		}
	}
}

// TestDraftsOfRealServer checks what a real llama-server that drafts by n-grams reports about its
// drafts. The answer and the server's counters must agree. The server makes drafts only now and
// then. So the mean over all decode steps, which answers report, is smaller than the mean over the
// steps with a draft.
func TestDraftsOfRealServer(t *testing.T) {
	t.Parallel()
	url := llamatest.Start(t, llamatest.Options{Args: []string{"--spec-default", "--metrics"}})
	target := backends.URL{URL: url, Dialect: dialect.LlamaCPP{}, Body: json.RawMessage(`{"temperature":0}`)}.Start(t) // with greedy decoding the model repeats itself
	o := target.Observe()
	assert.NilError(t, o.Before(t.Context()))
	s := llmbench.Do(t.Context(), target, llmbench.Request{Prompt: "a" + strings.Repeat(" a", 15), MaxTokens: 800, FixedOutput: true}, true)
	assert.NilError(t, s.Err)
	figures, err := o.After(t.Context())
	assert.NilError(t, err)
	drafted, accepted := s.Server.DraftTokens, s.Server.AcceptedTokens
	assert.Assert(t, drafted > 0 && accepted > 0 && accepted <= drafted, "%+v", s.Server)
	assert.Equal(t, figures["srv-accept-%"], 100*float64(accepted)/float64(drafted))
	tokens, steps, known := s.Accepted()
	assert.Assert(t, known && tokens == 799 && steps == 799-accepted, "%d tokens in %d steps, %v", tokens, steps, known)
	assert.Assert(t, figures["srv-accept-len"] > float64(tokens)/float64(steps), "%v", figures)
}

// TestDraftOfItselfOnRealServer measures a real llama-server whose model drafts for itself, on random words, on text whose
// predictability is known, and on questions from a file. What the answers report about drafts must be what the server has
// counted. The model has random weights, so its answers, and what it accepts, do not depend on the prompt.
func TestDraftOfItselfOnRealServer(t *testing.T) {
	t.Parallel()
	questions := filepath.Join(t.TempDir(), "question.jsonl")
	assert.NilError(t, os.WriteFile(questions, []byte(`{"question_id": 1, "category": "writing", "turns": ["Write a letter to a friend about a long walk by the sea."]}
{"question_id": 2, "category": "math", "turns": ["A train leaves at nine and is two hours late. When does it arrive?"]}
`), 0o600))
	url := llamatest.Start(t, llamatest.Options{Draft: true})
	for _, temperature := range []string{"0", "1"} {
		for _, data := range []string{"random:input=64", "markov:order=0,input=64", "markov:order=1,input=64", "markov:order=3,input=64", "spec-bench:" + questions} {
			out := serve(t, url, "LLMBENCH_DATASET="+data, "LLMBENCH_REQUESTS=4", "LLMBENCH_CONCURRENCY=2", "LLMBENCH_DIALECT=llamacpp",
				"LLMBENCH_UNITS=all", `LLMBENCH_BODY={"temperature":`+temperature+`,"seed":1}`)
			assert.Equal(t, strings.Contains(out, "\ndataset-entropy: "), strings.HasPrefix(data, "markov"), "%s", out)
			values := unitValues(t, out, "concurrency=2", slices.Max)
			share, length := values["accept-%"], values["accept-len"]
			assert.Assert(t, share > 0 && share <= 100 && length > 1 && length <= 4, "%s", out) // a draft has 3 tokens by default
			assert.Equal(t, values["srv-accept-%"], share, "%s", out)
			t.Logf("temperature %s, %s: accept-len %.2f", temperature, strings.TrimSuffix(data, questions), length)
		}
	}
}

// serve runs BenchmarkServe against a real llama-server at url, and returns its output.
func serve(t *testing.T, url string, env ...string) string {
	t.Helper()
	return bench(t, "Serve", url, env...)
}

// bench runs the benchmark of a scenario in a separate process, against a real llama-server at url.
// It returns the output of the benchmark.
func bench(t *testing.T, scenario, url string, env ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, scenariostest.Program(t), "-test.run=^$", "-test.bench=^Benchmark"+scenario+"$", "-test.benchtime=1x", "-test.v")
	cmd.Env = append(os.Environ(), "LLMBENCH_URL="+url, "LLMBENCH_NAME=llamacpp", "LLMBENCH_MODEL=tiny", "LLMBENCH_OUTPUT=64",
		"LLMBENCH_CLIENT_BOUND=report") // the client shares its CPU cores with the server and with other tests
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	assert.NilError(t, err, "%s", out)
	return string(out)
}

// TestServeOnRealServer checks the results of BenchmarkServe on a real llama-server.
func TestServeOnRealServer(t *testing.T) {
	t.Parallel()
	out := serve(t, llamatest.Start(t, llamatest.Options{}), "LLMBENCH_CONCURRENCY=1,8", "LLMBENCH_INPUT=256")
	r := benchfmt.NewReader(strings.NewReader(out), "output")
	rows := 0
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Errorf("%v in:\n%s", rec, out)
		case *benchfmt.Result:
			rows++
			tokens, _ := rec.Value("out-tok/req")
			assert.Equal(t, tokens, 64.0, "%s", rec.Name)
			assert.Equal(t, rec.GetConfig("backend"), "llamacpp")
			assert.Equal(t, rec.GetConfig("model"), "tiny")
			_, counted := rec.Value("srv-prefix-hit-%")
			assert.Assert(t, counted, "%s", out)
		}
	}
	assert.Equal(t, rows, 2, "%s", out)
	for _, wrong := range []string{"the server counted", "counts of the server", "not available"} {
		assert.Assert(t, !strings.Contains(out, wrong), "%s", out)
	}
}

// TestShortAnswersOfRealServer checks answers that a real llama-server ends before the requested
// length, because its context is full. They must be reported. benchgate must not compare them with
// whole answers.
func TestShortAnswersOfRealServer(t *testing.T) {
	t.Parallel()
	const short = "answers are shorter than asked: mean 32 of 64 output tokens"
	results := func(context int) (out, file string) {
		url := llamatest.Start(t, llamatest.Options{Context: context})
		out = serve(t, url, "LLMBENCH_INPUT=480", "LLMBENCH_REQUESTS=4", "LLMBENCH_CONCURRENCY=2")
		file = filepath.Join(t.TempDir(), "results")
		assert.NilError(t, os.WriteFile(file, []byte(out), 0o644))
		return out, file
	}
	whole, wholeFile := results(1024)
	assert.Assert(t, !strings.Contains(whole, "shorter than asked") && !strings.Contains(whole, " asked-out-tok/req\t"), "%s", whole)
	cut, cutFile := results(512)
	assert.Assert(t, strings.Contains(cut, short), "%s", cut)
	assert.Assert(t, strings.Contains(cut, " 64.00 asked-out-tok/req\t") && strings.Contains(cut, " 32.00 out-tok/req\t"), "%s", cut)

	report, err := exec.CommandContext(t.Context(), "go", "tool", "benchgate", wholeFile, cutFile).CombinedOutput()
	exit, ok := errors.AsType[*exec.ExitError](err)
	assert.Assert(t, ok, "%v: %s", err, report)
	assert.Equal(t, exit.ExitCode(), 2, "%s", report)
	assert.Assert(t, strings.Contains(string(report), "the median of out-tok/req is 32, but 64 in"), "%s", report)
}

// TestKeptConnections sends many requests over kept connections to a real llama-server. After its
// first streamed answer, the server closes each connection without announcing it. No request may
// fail. Each worker may send at most one request again, because after that the client knows.
func TestKeptConnections(t *testing.T) {
	t.Parallel()
	url := llamatest.Start(t, llamatest.Options{})
	target := backends.URL{URL: url}.Start(t)
	for _, c := range []struct {
		concurrency int
		noStream    bool
		requests    int
	}{{1, false, 500}, {8, false, 200}, {4, true, 200}} {
		t.Run(fmt.Sprintf("concurrency=%d,stream=%v", c.concurrency, !c.noStream), func(t *testing.T) {
			l := llmbench.Load{Concurrency: c.concurrency, NoStream: c.noStream, ClientBound: llmbench.BoundReported}
			for i := range c.requests {
				l.Requests = append(l.Requests, llmbench.Request{Prompt: fmt.Sprint("Tell me about number ", i), MaxTokens: 4, FixedOutput: true})
			}
			result, err := llmbench.Pass(t.Context(), "KeptConnections", target, l)
			assert.NilError(t, err)
			resent := 0
			for s := range result.All() {
				assert.NilError(t, s.Err)
				resent += s.Resent
			}
			assert.Assert(t, resent <= c.concurrency, "%d requests were sent again", resent)
		})
	}
}

// TestAgreementOnRealServer checks the results of BenchmarkAgreement for a real llama-server. A
// server must agree with itself if it answers one user. Quantized weights must give different
// answers.
func TestAgreementOnRealServer(t *testing.T) {
	t.Parallel()
	answers := filepath.Join(t.TempDir(), "answers")
	agreement := func(typ tinygguf.Type, users, results string) float64 {
		value, has := unitValues(t, results, "concurrency="+users, slices.Max)["agree-%"]
		assert.Assert(t, has, "%s", results)
		t.Logf("%s, %s at once: agree-%% %v", typ, users, value)
		return value
	}
	results := func(typ tinygguf.Type) string {
		url := llamatest.Start(t, llamatest.Options{Parallel: 4, Model: tinygguf.Options{Type: typ}})
		return bench(t, "Agreement", url, "LLMBENCH_ANSWERS="+answers)
	}
	whole, quantized := results(tinygguf.F16), results(tinygguf.Q8_0)
	assert.Equal(t, agreement(tinygguf.F16, "1", whole), 100.0)
	for _, users := range []string{"1", "16"} { // the server answers 4 of 16 requests at the same time
		same, other := agreement(tinygguf.F16, users, whole), agreement(tinygguf.Q8_0, users, quantized)
		assert.Assert(t, other < same, "%s at once: Q8_0 %v, F16 %v", users, other, same)
	}
}
