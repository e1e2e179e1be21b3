package clients

import (
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/respjson"
	"github.com/openai/openai-go/v3/shared"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// sdk returns an OpenAI client for a mock, without retries.
func sdk(m mock, more ...option.RequestOption) openai.Client {
	return openai.NewClient(append([]option.RequestOption{
		option.WithBaseURL(m.url + "/v1/"), option.WithAPIKey("none"), option.WithHTTPClient(m.client), option.WithMaxRetries(0),
	}, more...)...)
}

// chatFor returns a request for n tokens after a prompt of three tokens.
func chatFor(tokens int) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:     "mock",
		MaxTokens: openai.Int(int64(tokens)),
		Messages: []openai.ChatCompletionMessageParamUnion{
			openai.SystemMessage("say"), openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{openai.TextContentPart("three words")}),
		},
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: "speak"})},
	}
}

func chat(t *testing.T, m mock, tokens int, stream bool) (reply, error) {
	c, params := sdk(m), chatFor(tokens)
	if !stream {
		answer, err := c.Chat.Completions.New(t.Context(), params)
		if err != nil {
			return reply{}, err
		}
		got := saidByChat(answer)
		got.Reasoning = extra(answer.Choices[0].Message.JSON.ExtraFields)
		return got, nil
	}
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	s := c.Chat.Completions.NewStreaming(t.Context(), params)
	defer s.Close()
	var all openai.ChatCompletionAccumulator
	reasoning := ""
	for s.Next() {
		chunk := s.Current()
		assert.Assert(t, all.AddChunk(chunk), "the accumulator refuses %s", chunk.RawJSON())
		for _, choice := range chunk.Choices {
			reasoning += extra(choice.Delta.JSON.ExtraFields)
		}
	}
	if s.Err() != nil || len(all.Choices) == 0 {
		return reply{}, s.Err()
	}
	got := saidByChat(&all.ChatCompletion)
	got.Reasoning = reasoning
	return got, nil
}

// extra returns the reasoning. The SDK has no field for it.
func extra(fields map[string]respjson.Field) string {
	for _, name := range []string{"reasoning", "reasoning_content"} {
		if f, ok := fields[name]; ok {
			return unquoted(f.Raw())
		}
	}
	return ""
}

func saidByChat(c *openai.ChatCompletion) reply {
	choice := c.Choices[0]
	got := reply{
		Text: choice.Message.Content, Finish: choice.FinishReason, Prompt: int(c.Usage.PromptTokens), Output: int(c.Usage.CompletionTokens),
	}
	for _, call := range choice.Message.ToolCalls {
		got.Tool, got.Arguments = call.Function.Name, call.Function.Arguments
	}
	return got
}

func completion(t *testing.T, m mock, tokens int, stream bool) (reply, error) {
	c := sdk(m)
	params := openai.CompletionNewParams{
		Model: "mock", MaxTokens: openai.Int(int64(tokens)), Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String("say three words")},
	}
	if !stream {
		answer, err := c.Completions.New(t.Context(), params)
		if err != nil {
			return reply{}, err
		}
		return saidByCompletion(answer), nil
	}
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	s := c.Completions.NewStreaming(t.Context(), params)
	defer s.Close()
	var got reply
	for s.Next() {
		event := s.Current()
		one := saidByCompletion(&event)
		got.Text += one.Text
		if one.Finish != "" {
			got.Finish = one.Finish
		}
		got.Prompt, got.Output = max(got.Prompt, one.Prompt), max(got.Output, one.Output)
	}
	return got, s.Err()
}

func saidByCompletion(c *openai.Completion) reply {
	got := reply{Prompt: int(c.Usage.PromptTokens), Output: int(c.Usage.CompletionTokens)}
	if len(c.Choices) > 0 {
		got.Text, got.Finish = c.Choices[0].Text, string(c.Choices[0].FinishReason)
	}
	return got
}

// TestOpenAIShapes reads each shape of a stream.
func TestOpenAIShapes(t *testing.T) {
	const (
		pinged = "invalid character '-' after top-level value" // the SDK parses the data of unknown events
		nul    = `invalid character '\x00' in string literal`  // JSON forbids this byte
		silent = "silent"
	)
	// The SDK does not accept CR as the end of a line. It drops a data line after a byte
	// order mark; in a chat, this line has no text. Of two equal keys, it uses the first.
	t.Run("chat", func(t *testing.T) {
		everyShape(t, map[string]string{"cr": silent, "twice": silent, "ping-event": pinged, "nul-raw": nul}, chat)
	})
	t.Run("completion", func(t *testing.T) {
		everyShape(t, map[string]string{"cr": silent, "bom": silent, "twice": silent, "ping-event": pinged, "nul-raw": nul}, completion)
	})
	t.Run("response", func(t *testing.T) {
		everyShape(t, map[string]string{
			"cr": silent, "twice": "event 1 has sequence number 0", "ping-event": pinged, "nul-raw": nul,
			"after-done": "the deltas come to", // the SDK reads on after the last event
		}, response)
	})
}

func TestOpenAIModels(t *testing.T) {
	c := sdk(serve(t, mockserver.Config{Model: "org/name"}))
	page, err := c.Models.List(t.Context())
	assert.NilError(t, err)
	assert.Assert(t, len(page.Data) == 1 && page.Data[0].ID == "org/name" && page.Data[0].Created > 0, "%+v", page.Data)
}
