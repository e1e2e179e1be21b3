package clients

import (
	"errors"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// claude returns Anthropic's client for a mock, without retries.
func claude(m mock) anthropic.Client {
	return anthropic.NewClient(option.WithBaseURL(m.url+"/"), option.WithAPIKey("none"), option.WithHTTPClient(m.client), option.WithMaxRetries(0))
}

// messageFor returns a request for n tokens after a prompt of three tokens.
func messageFor(tokens int) anthropic.MessageNewParams {
	return anthropic.MessageNewParams{
		Model: "mock", MaxTokens: int64(tokens), System: []anthropic.TextBlockParam{{Text: "say"}},
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("three words"))},
	}
}

func message(t *testing.T, m mock, tokens int, stream bool) (reply, error) {
	c := claude(m)
	if !stream {
		answer, err := c.Messages.New(t.Context(), messageFor(tokens))
		if err != nil {
			return reply{}, err
		}
		return saidByClaude(answer), nil
	}
	s := c.Messages.NewStreaming(t.Context(), messageFor(tokens))
	defer s.Close()
	var all anthropic.Message
	for s.Next() {
		if err := all.Accumulate(s.Current()); err != nil {
			return reply{}, err
		}
	}
	return saidByClaude(&all), s.Err()
}

func saidByClaude(a *anthropic.Message) reply {
	got := reply{Finish: string(a.StopReason), Prompt: int(a.Usage.InputTokens), Output: int(a.Usage.OutputTokens)}
	for _, b := range a.Content {
		got.Text += b.Text
		got.Reasoning += b.Thinking
		if b.Type == "tool_use" {
			got.Tool, got.Arguments = b.Name, string(b.Input)
		}
	}
	return got
}

// TestAnthropicShapes reads each shape of a stream. The SDK does not accept CR as the end of a line, reads
// on after message_stop, and uses the first of two equal keys.
func TestAnthropicShapes(t *testing.T) {
	everyShape(t, map[string]string{"cr": "silent", "after-done": "silent", "twice": "silent", "nul-raw": `invalid character '\x00' in string literal`}, message)
}

// TestAnthropicErrors checks the errors that the SDK returns for refused requests and for streams that
// fail.
func TestAnthropicErrors(t *testing.T) {
	for _, c := range []struct {
		fault  fault.Kind
		status int
		kind   string
	}{
		{"http-400", 400, "invalid_request_error"}, {"http-401", 401, "authentication_error"}, {"http-404", 404, "not_found_error"},
		{"http-413", 413, "request_too_large"}, {"http-429", 429, "rate_limit_error"}, {"http-500", 500, "api_error"}, {"http-529", 529, "overloaded_error"},
	} {
		for _, stream := range []bool{false, true} {
			_, err := message(t, spoiled(t, c.fault, 0), 4, stream)
			e, ok := errors.AsType[*anthropic.Error](err)
			assert.Assert(t, ok, "%s: %T: %v", c.fault, err, err)
			assert.Equal(t, e.StatusCode, c.status)
			assert.Equal(t, string(e.Type()), c.kind)
		}
	}
	_, err := message(t, spoiled(t, fault.NamedError, 2), 4, true)
	assert.ErrorContains(t, err, "mockserver: injected fault")
}

// TestAnthropicCache checks the number of cached tokens.
func TestAnthropicCache(t *testing.T) {
	c := claude(serve(t, mockserver.Config{Engine: &engine.Profile{MaxBatch: 1, PrefixCache: true, BlockTokens: 1}}))
	for _, want := range []int64{0, 2} { // the last token of a prompt is always computed
		answer, err := c.Messages.New(t.Context(), messageFor(2))
		assert.NilError(t, err)
		assert.Equal(t, answer.Usage.CacheReadInputTokens, want)
		assert.Equal(t, answer.Usage.InputTokens, 3-want)
	}
}
