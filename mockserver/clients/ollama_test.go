package clients

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"testing"
	"time"

	"github.com/ollama/ollama/api"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// ollama returns an Ollama client for a mock.
func ollama(t *testing.T, m mock) *api.Client {
	t.Helper()
	base, err := url.Parse(m.url)
	assert.NilError(t, err)
	return api.NewClient(base, m.client)
}

func ollamaChatFor(tokens int, stream bool) *api.ChatRequest {
	return &api.ChatRequest{
		Model: "mock", Stream: &stream, Options: map[string]any{"num_predict": tokens},
		Messages: []api.Message{{Role: "system", Content: "say"}, {Role: "user", Content: "three words"}},
	}
}

func ollamaChat(t *testing.T, m mock, tokens int, stream bool) (reply, error) {
	var got reply
	err := ollama(t, m).Chat(t.Context(), ollamaChatFor(tokens, stream), func(r api.ChatResponse) error {
		got.Text += r.Message.Content
		got.Reasoning += r.Message.Thinking
		for _, call := range r.Message.ToolCalls {
			got.Tool = call.Function.Name
			arguments, err := json.Marshal(call.Function.Arguments)
			assert.NilError(t, err)
			got.Arguments = string(arguments)
		}
		got.end(r.Done, r.DoneReason, r.Metrics)
		return nil
	})
	return got, err
}

func ollamaGenerate(t *testing.T, m mock, tokens int, stream bool) (reply, error) {
	var got reply
	err := ollama(t, m).Generate(t.Context(), &api.GenerateRequest{
		Model: "mock", System: "say", Prompt: "three words", Stream: &stream, Options: map[string]any{"num_predict": tokens},
	}, func(r api.GenerateResponse) error {
		got.Text += r.Response
		got.end(r.Done, r.DoneReason, r.Metrics)
		return nil
	})
	return got, err
}

// end reads the last line of an answer.
func (s *reply) end(done bool, reason string, m api.Metrics) {
	if done {
		s.Finish, s.Prompt, s.Output = reason, m.PromptEvalCount, m.EvalCount
	}
}

// TestOllamaShapes reads each shape of a stream.
func TestOllamaShapes(t *testing.T) {
	broken := map[string]string{
		"bom": "\ufeff{", "after-done": "{", "nul-raw": " the\x00", // if a line is not JSON, the error is the line itself
		"twice": `parsing time ""`, "number-strings": "cannot unmarshal string into",
	}
	t.Run("chat", func(t *testing.T) { everyShape(t, broken, ollamaChat) })
	t.Run("generate", func(t *testing.T) { everyShape(t, broken, ollamaGenerate) })
}

// TestOllamaMetrics checks that the timings in an answer follow the schedule.
func TestOllamaMetrics(t *testing.T) {
	m := serve(t, mockserver.Config{TTFT: 3 * time.Millisecond, PerToken: time.Millisecond})
	var got api.Metrics
	err := ollama(t, m).Chat(t.Context(), ollamaChatFor(4, true), func(r api.ChatResponse) error {
		assert.Assert(t, !r.CreatedAt.Before(m.Epoch().Truncate(0)), "created at %v", r.CreatedAt)
		got = r.Metrics
		return nil
	})
	assert.NilError(t, err)
	got.TotalDuration -= got.LoadDuration // the time from arrival to admission, which varies
	got.LoadDuration = 0
	assert.Equal(t, got, api.Metrics{
		TotalDuration: 6 * time.Millisecond, PromptEvalCount: 3, PromptEvalDuration: 3 * time.Millisecond, EvalCount: 4, EvalDuration: 3 * time.Millisecond,
	})
}

// TestOllamaPaths checks the paths that are not for completions.
func TestOllamaPaths(t *testing.T) {
	m := serve(t, mockserver.Config{Model: "org/name:tag"})
	c, ctx := ollama(t, m), t.Context()
	assert.NilError(t, c.Heartbeat(ctx))
	version, err := c.Version(ctx)
	assert.NilError(t, err)
	assert.Equal(t, version, "0.0.0-mock")
	list, err := c.List(ctx)
	assert.NilError(t, err)
	assert.Assert(t, len(list.Models) == 1 && list.Models[0].Name == "org/name:tag", "%+v", list)
	running, err := c.ListRunning(ctx)
	assert.NilError(t, err)
	assert.Assert(t, len(running.Models) == 1 && running.Models[0].Model == "org/name:tag" && running.Models[0].ContextLength == 0, "%+v", running)
	show, err := c.Show(ctx, &api.ShowRequest{Model: "org/name:tag"})
	assert.NilError(t, err)
	assert.Assert(t, show.Details.Format == "gguf" && show.ModelInfo["general.architecture"] == "mock" && !show.ModifiedAt.IsZero(), "%+v", show)
	_, err = c.Show(ctx, &api.ShowRequest{})
	assert.Error(t, err, "model is required")
	err = c.Generate(ctx, &api.GenerateRequest{Model: "mock"}, func(r api.GenerateResponse) error { // loads the model
		assert.Assert(t, r.Done && r.DoneReason == "load" && r.Response == "", "%+v", r)
		return nil
	})
	assert.NilError(t, err)
}

// TestOllamaErrors checks the errors that the client returns for refused requests.
func TestOllamaErrors(t *testing.T) {
	for _, c := range []struct {
		fault   fault.Kind
		status  int
		message string
	}{
		{"http-400", 400, "maximum context length"}, {"http-404", 404, "The model `mock` does not exist."},
		{"http-429", 429, "Rate limit reached"}, {"http-500", 500, "injected fault"}, {"http-503", 503, "queued requests"}, {"html-502", 502, "<html>"},
	} {
		t.Run(string(c.fault), func(t *testing.T) {
			for _, stream := range []bool{false, true} {
				_, err := ollamaChat(t, spoiled(t, c.fault, 0), 4, stream)
				e, ok := errors.AsType[api.StatusError](err)
				assert.Assert(t, ok && e.StatusCode == c.status, "%T: %v", err, err)
				assert.ErrorContains(t, err, c.message)
			}
		})
	}
	_, err := ollamaChat(t, spoiled(t, "http-401", 0), 4, true)
	e, ok := errors.AsType[api.AuthorizationError](err)
	assert.Assert(t, ok && e.StatusCode == 401, "%T: %v", err, err)
}

// TestOllamaBrokenStreams breaks streams at their third token. The client ignores the error of its
// scanner, so it treats a stream that breaks off as complete.
func TestOllamaBrokenStreams(t *testing.T) {
	for _, c := range []struct {
		fault fault.Kind
		err   string // a part of the error; empty if no error is expected
	}{
		{"error-event", "mockserver: injected fault"}, {"error-string", "mockserver: injected fault"}, {"malformed", `{"choices":`},
		{"reset", ""}, {"fin", ""}, {"truncate", ""}, {"empty", ""},
	} {
		t.Run(string(c.fault), func(t *testing.T) {
			got, err := ollamaChat(t, spoiled(t, c.fault, 2), 4, true)
			if c.err != "" {
				assert.ErrorContains(t, err, c.err)
				return
			}
			assert.NilError(t, err)
			assert.Equal(t, got.Finish, "")
		})
	}
}

// TestOllamaLeaves cancels a request in the middle of its stream. The client treats the stream as
// complete.
func TestOllamaLeaves(t *testing.T) {
	m := serve(t, hourly)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	text := ""
	err := ollama(t, m).Chat(ctx, ollamaChatFor(4, true), func(r api.ChatResponse) error {
		text += r.Message.Content
		cancel()
		return nil
	})
	assert.NilError(t, err)
	assert.Equal(t, text, " the")
	m.leaves(t)
}
