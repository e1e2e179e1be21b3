package clients

import (
	"errors"
	"io"
	"testing"

	cohere "github.com/cohere-ai/cohere-go/v2"
	"github.com/cohere-ai/cohere-go/v2/client"
	"github.com/cohere-ai/cohere-go/v2/core"
	"github.com/cohere-ai/cohere-go/v2/option"
	"github.com/cohere-ai/cohere-go/v2/v2"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// command returns Cohere's client for a mock, without retries.
func command(m mock) *v2.Client {
	return client.NewClient(option.WithBaseURL(m.url), option.WithToken("none"), option.WithHTTPClient(m.client), option.WithMaxAttempts(1)).V2
}

// threeWords is a conversation of three tokens.
var threeWords = cohere.ChatMessages{
	{System: &cohere.SystemMessageV2{Content: &cohere.SystemMessageV2Content{String: "say"}}},
	{User: &cohere.UserMessageV2{Content: &cohere.UserMessageV2Content{String: "three words"}}},
}

func cohereChat(t *testing.T, m mock, tokens int, stream bool) (reply, error) {
	if !stream {
		answer, err := command(m).Chat(t.Context(), &cohere.V2ChatRequest{Model: "mock", Messages: threeWords, MaxTokens: &tokens})
		if err != nil {
			return reply{}, err
		}
		return saidByCommand(answer), nil
	}
	s, err := command(m).ChatStream(t.Context(), &cohere.V2ChatStreamRequest{Model: "mock", Messages: threeWords, MaxTokens: &tokens})
	if err != nil {
		return reply{}, err
	}
	defer s.Close()
	var got reply
	for {
		e, err := s.Recv()
		if err != nil {
			return got, err
		}
		// The methods named Get return zero values for events of other types.
		delta := e.GetContentDelta().GetDelta().GetMessage().GetContent()
		got.Text += value(delta.GetText())
		got.Reasoning += value(delta.GetThinking()) + value(e.GetToolPlanDelta().GetDelta().GetMessage().GetToolPlan())
		got.Tool += value(e.GetToolCallStart().GetDelta().GetMessage().GetToolCalls().GetFunction().GetName())
		got.Arguments += value(e.GetToolCallDelta().GetDelta().GetMessage().GetToolCalls().GetFunction().GetArguments())
		if end := e.GetMessageEnd(); end != nil {
			if why := end.Delta.Error; why != nil {
				return got, errors.New(*why)
			}
			got.Finish = string(value(end.Delta.FinishReason))
			got.count(end.Delta.Usage)
			return got, nil
		}
	}
}

func saidByCommand(a *cohere.V2ChatResponse) reply {
	got := reply{Finish: string(a.FinishReason), Reasoning: value(a.Message.ToolPlan)}
	got.count(a.Usage)
	for _, c := range a.Message.Content {
		got.Text += c.GetText().GetText()
		got.Reasoning += c.GetThinking().GetThinking()
	}
	for _, c := range a.Message.ToolCalls {
		got.Tool, got.Arguments = value(c.Function.Name), value(c.Function.Arguments)
	}
	return got
}

// count sets the numbers of tokens.
func (s *reply) count(u *cohere.Usage) {
	s.Prompt, s.Output = int(value(u.GetTokens().GetInputTokens())), int(value(u.GetTokens().GetOutputTokens()))
}

// value returns what p points to, or the zero value for nil.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// TestCohereShapes reads each shape of a stream. The SDK does not accept lines that end with CR LF or CR,
// comments, events without data and data that is not JSON.
func TestCohereShapes(t *testing.T) {
	everyShape(t, map[string]string{
		"crlf": "invalid character '{' after top-level value", "cr": "unexpected end of JSON input", "ping": "unexpected end of JSON input",
		"ping-event": "invalid character '-' after top-level value", "event-lines": "unexpected end of JSON input",
		"number-strings": "cannot unmarshal string", "nul-raw": `invalid character '\x00' in string literal`,
	}, cohereChat)
}

// TestCohereErrors checks the errors that the SDK returns for refused requests and for streams that fail.
func TestCohereErrors(t *testing.T) {
	for kind, want := range map[fault.Kind]error{
		fault.HTTP400: new(cohere.BadRequestError), fault.HTTP401: new(cohere.UnauthorizedError), fault.HTTP404: new(cohere.NotFoundError),
		fault.HTTP422: new(cohere.UnprocessableEntityError), fault.HTTP429: new(cohere.TooManyRequestsError),
		fault.HTTP500: new(cohere.InternalServerError), fault.HTTP503: new(cohere.ServiceUnavailableError), fault.HTTP413: new(core.APIError),
	} {
		for _, stream := range []bool{false, true} {
			m := spoiled(t, kind, 0)
			_, err := cohereChat(t, m, 4, stream)
			assert.Assert(t, err != nil, kind)
			assert.ErrorType(t, err, want)
			e, ok := errors.AsType[*core.APIError](err)
			assert.Assert(t, ok && e.StatusCode == m.Log()[0].Status, "%s: %v", kind, err)
			assert.ErrorContains(t, err, `{"message":"`)
		}
	}
	_, err := cohereChat(t, spoiled(t, fault.ErrorEvent, 2), 4, true)
	assert.Error(t, err, "mockserver: injected fault")
	_, err = cohereChat(t, spoiled(t, fault.NamedError, 2), 4, true) // the SDK reads only the type in the data
	assert.ErrorContains(t, err, "did not include discriminant type")
	_, err = cohereChat(t, spoiled(t, fault.Truncate, 2), 4, true)
	assert.ErrorIs(t, err, io.EOF)
}

// TestCohereDone reads on after message-end. The SDK takes [DONE], which Cohere's server sends, too, for a
// malformed event.
func TestCohereDone(t *testing.T) {
	for kind, want := range map[fault.Kind]string{fault.NoDone: "EOF", "": "invalid character 'D' looking for beginning of value"} {
		cfg := mockserver.Config{}
		if kind != "" {
			cfg.Faults = []fault.Fault{{Kind: kind, Every: 1}}
		}
		s, err := command(serve(t, cfg)).ChatStream(t.Context(), &cohere.V2ChatStreamRequest{Model: "mock", Messages: threeWords})
		assert.NilError(t, err)
		last := ""
		for {
			e, err := s.Recv()
			if err != nil {
				assert.Error(t, err, want)
				break
			}
			last = e.Type
		}
		assert.Equal(t, last, "message-end")
		assert.NilError(t, s.Close())
	}
}

// TestCohereCache checks the number of cached tokens.
func TestCohereCache(t *testing.T) {
	c := command(serve(t, mockserver.Config{Engine: &engine.Profile{MaxBatch: 1, PrefixCache: true, BlockTokens: 1}}))
	for _, want := range []float64{0, 2} { // the last token of a prompt is always computed
		answer, err := c.Chat(t.Context(), &cohere.V2ChatRequest{Model: "mock", Messages: threeWords})
		assert.NilError(t, err)
		assert.Equal(t, *answer.Usage.CachedTokens, want)
		assert.Equal(t, *answer.Usage.Tokens.InputTokens, 3.0)
	}
}

// TestCohereTools requests a call of a function and an instance of a schema.
func TestCohereTools(t *testing.T) {
	c := command(serve(t, mockserver.Config{}))
	schema := map[string]any{"type": "object", "properties": map[string]any{"n": map[string]any{"type": "integer"}}}
	answer, err := c.Chat(t.Context(), &cohere.V2ChatRequest{
		Model: "mock", Messages: threeWords, ToolChoice: cohere.V2ChatRequestToolChoiceRequired.Ptr(),
		Tools: []*cohere.ToolV2{{Function: &cohere.ToolV2Function{Name: "f", Parameters: schema}}},
	})
	assert.NilError(t, err)
	got := saidByCommand(answer)
	assert.DeepEqual(t, got, reply{Tool: "f", Arguments: `{"n": 7}`, Finish: "TOOL_CALL", Prompt: 3, Output: got.Output})
	answer, err = c.Chat(t.Context(), &cohere.V2ChatRequest{
		Model: "mock", Messages: threeWords,
		ResponseFormat: &cohere.ResponseFormatV2{JsonObject: &cohere.JsonResponseFormatV2{JsonSchema: schema}},
	})
	assert.NilError(t, err)
	got = saidByCommand(answer)
	assert.DeepEqual(t, got, reply{Text: `{"n": 7}`, Finish: "COMPLETE", Prompt: 3, Output: got.Output})
}

// TestCohereRerank ranks three documents.
func TestCohereRerank(t *testing.T) {
	m := serve(t, mockserver.Config{})
	top := 2
	answer, err := command(m).Rerank(t.Context(), &cohere.V2RerankRequest{Model: "mock", Query: "a b", Documents: []string{"c", "b", "b a"}, TopN: &top})
	assert.NilError(t, err)
	assert.Equal(t, len(answer.Results), 2)
	assert.Equal(t, answer.Results[0].Index, 2)
	assert.Equal(t, answer.Results[1].Index, 1)
	assert.Assert(t, answer.Results[0].RelevanceScore > answer.Results[1].RelevanceScore)
	e := m.Log()[0]
	assert.Assert(t, e.Path == "/v2/rerank" && e.Status == 200 && e.OutputTokens == 0, "Log()[0] = %+v", e)

	_, err = command(m).Rerank(t.Context(), &cohere.V2RerankRequest{Model: "mock", Query: "a"})
	_, ok := errors.AsType[*cohere.BadRequestError](err)
	assert.Assert(t, ok, "%T: %v", err, err)
}
