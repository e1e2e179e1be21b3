package clients

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// TestOpenAIErrors checks the errors that the SDK returns for refused requests, with and without
// streaming.
func TestOpenAIErrors(t *testing.T) {
	for _, c := range []struct {
		fault         fault.Kind
		status        int
		kind, message string
		param         string
	}{
		{"http-400", 400, "BadRequestError", "This model's maximum context length is 4096 tokens.", "input_tokens"},
		{"http-404", 404, "NotFoundError", "The model `mock` does not exist.", "model"},
		{"http-413", 413, "RequestTooLargeError", "Request body too large.", ""},
		{"http-422", 422, "", "", ""}, // FastAPI's body has no member "error"
		{"http-429", 429, "RateLimitError", "Rate limit reached", ""},
		{"http-500", 500, "InternalServerError", "mockserver: injected fault", ""},
		{"http-503", 503, "ServiceUnavailableError", "Maximum number of queued requests (8) reached.", ""},
		{"html-502", 502, "", "", ""},
	} {
		t.Run(string(c.fault), func(t *testing.T) {
			m := spoiled(t, c.fault, 0)
			for _, ask := range []request{chat, completion, response} {
				for _, stream := range []bool{false, true} {
					_, err := ask(t, m, 4, stream)
					e, ok := errors.AsType[*openai.Error](err)
					assert.Assert(t, ok, "%T: %v", err, err)
					assert.Equal(t, e.StatusCode, c.status)
					assert.Equal(t, e.Type, c.kind)
					assert.Equal(t, e.Param, c.param)
					assert.Assert(t, strings.HasPrefix(e.Message, c.message), "message %q", e.Message)
				}
			}
		})
	}
}

// TestOpenAIUnauthorized sends vLLM's error, {"error":"Unauthorized"}. The SDK expects an
// object there, and loses the status.
func TestOpenAIUnauthorized(t *testing.T) {
	_, err := chat(t, spoiled(t, fault.HTTP401, 0), 4, true)
	assert.ErrorContains(t, err, "cannot unmarshal string into Go value of type apierror.Error")
}

// TestOpenAIBadRequest checks the error of an invalid request.
func TestOpenAIBadRequest(t *testing.T) {
	_, err := chat(t, serve(t, mockserver.Config{}), 0, false)
	e, ok := errors.AsType[*openai.Error](err)
	assert.Assert(t, ok && e.StatusCode == 400 && e.Param == "max_tokens" && e.Code == "400", "%+v", e)
}

// TestOpenAIRetry refuses every second request. The SDK waits for the time in the header
// Retry-After and sends the request again.
func TestOpenAIRetry(t *testing.T) {
	m := serve(t, mockserver.Config{Faults: []fault.Fault{{Kind: fault.HTTP429, Every: 2}}})
	c := sdk(m, option.WithMaxRetries(1))
	for range 2 {
		_, err := c.Chat.Completions.New(t.Context(), chatFor(4))
		assert.NilError(t, err)
	}
	log := m.Log()
	assert.Assert(t, len(log) == 3 && log[1].Status == 429 && log[2].Status == 200, "%+v", log)
	assert.Assert(t, log[2].Accepted-log[1].End >= time.Second, "the SDK retried after %v, Retry-After is 1s", log[2].Accepted-log[1].End)
}

// TestOpenAIBrokenStreams breaks streams at their third token. If the body ends early but cleanly,
// the SDK treats the stream as complete.
func TestOpenAIBrokenStreams(t *testing.T) {
	for _, c := range []struct {
		fault fault.Kind
		err   string // a part of the error; empty if no error is expected
	}{
		{"error-event", "mockserver: injected fault"},
		{"named-error", "mockserver: injected fault"},
		{"error-string", "mockserver: injected fault"},
		{"malformed", "unexpected end of JSON input"},
		{"reset", "connection reset by peer"},
		{"fin", "unexpected EOF"},
		{"truncate", ""},
		{"empty", ""},
		{"html-200", ""},
		{"json", ""},
		{"no-done", ""},
	} {
		t.Run(string(c.fault), func(t *testing.T) {
			m := spoiled(t, c.fault, 2)
			_, err := chat(t, m, 4, true)
			if c.err == "" {
				assert.NilError(t, err)
				return
			}
			assert.ErrorContains(t, err, c.err)
			if e, ok := errors.AsType[*ssestream.StreamError](err); ok {
				assert.Assert(t, strings.HasPrefix(string(e.Event.Data), `{"error":`), "%s", e.Event.Data)
			} else {
				assert.Assert(t, !strings.Contains(string(c.fault), "error"), "%T: %v", err, err)
			}
		})
	}
}

// TestOpenAILeaves cancels a request in the middle of its stream.
func TestOpenAILeaves(t *testing.T) {
	m := serve(t, hourly)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := sdk(m)
	s := c.Chat.Completions.NewStreaming(ctx, chatFor(4))
	defer s.Close()
	text := ""
	for s.Next() {
		if chunk := s.Current(); len(chunk.Choices) > 0 && chunk.Choices[0].Delta.Content != "" {
			text += chunk.Choices[0].Delta.Content
			cancel()
		}
	}
	assert.ErrorIs(t, s.Err(), context.Canceled)
	assert.Equal(t, text, " the")
	m.leaves(t)
}
