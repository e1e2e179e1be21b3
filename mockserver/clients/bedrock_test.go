package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/aws/smithy-go"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// bedrock returns the client of Amazon Bedrock for a mock, without retries.
func bedrock(m mock) *bedrockruntime.Client { return bedrockruntime.New(bedrockOptions(m)) }

func bedrockOptions(m mock) bedrockruntime.Options {
	return bedrockruntime.Options{
		BaseEndpoint: aws.String(m.url), Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("none", "none", ""),
		HTTPClient: inMemory{m.client}, RetryMaxAttempts: 1,
	}
}

// An inMemory is an HTTP client that sends a copy of the request's body. The SDK closes the body as soon as
// the response begins. With a server as fast as a mock, net/http may still be looking for the end of the
// body, and then closes the connection.
type inMemory struct{ *http.Client }

func (c inMemory) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	return c.Client.Do(r)
}

// converseInput returns a request for the given number of tokens.
func converseInput(tokens int) *bedrockruntime.ConverseInput {
	return &bedrockruntime.ConverseInput{
		ModelId:         aws.String("anthropic.mock-v1:0"),
		System:          []types.SystemContentBlock{&types.SystemContentBlockMemberText{Value: "say"}},
		Messages:        []types.Message{{Role: types.ConversationRoleUser, Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: "three words"}}}},
		InferenceConfig: &types.InferenceConfiguration{MaxTokens: aws.Int32(int32(tokens))},
	}
}

func converse(t *testing.T, m mock, tokens int, stream bool) (reply, error) {
	in := converseInput(tokens)
	var got reply
	if !stream {
		answer, err := bedrock(m).Converse(t.Context(), in)
		if err != nil {
			return got, err
		}
		got.addMessage(t, answer.Output.(*types.ConverseOutputMemberMessage).Value)
		got.Finish, got.Prompt, got.Output = string(answer.StopReason), int(*answer.Usage.InputTokens), int(*answer.Usage.OutputTokens)
		return got, nil
	}
	answer, err := bedrock(m).ConverseStream(t.Context(), &bedrockruntime.ConverseStreamInput{ModelId: in.ModelId, System: in.System, Messages: in.Messages, InferenceConfig: in.InferenceConfig})
	if err != nil {
		return got, err
	}
	s := answer.GetStream()
	defer s.Close()
	for e := range s.Events() {
		got.addConverse(e)
	}
	return got, s.Err()
}

// addMessage adds a whole answer.
func (s *reply) addMessage(t *testing.T, m types.Message) {
	t.Helper()
	for _, b := range m.Content {
		switch b := b.(type) {
		case *types.ContentBlockMemberText:
			s.Text += b.Value
		case *types.ContentBlockMemberReasoningContent:
			s.Reasoning += *b.Value.(*types.ReasoningContentBlockMemberReasoningText).Value.Text
		case *types.ContentBlockMemberToolUse:
			arguments, err := b.Value.Input.MarshalSmithyDocument()
			assert.NilError(t, err)
			s.Tool, s.Arguments = *b.Value.Name, string(arguments)
		}
	}
}

// addConverse adds an event of a stream.
func (s *reply) addConverse(e types.ConverseStreamOutput) {
	switch e := e.(type) {
	case *types.ConverseStreamOutputMemberContentBlockStart:
		s.Tool = *e.Value.Start.(*types.ContentBlockStartMemberToolUse).Value.Name
	case *types.ConverseStreamOutputMemberContentBlockDelta:
		switch d := e.Value.Delta.(type) {
		case *types.ContentBlockDeltaMemberText:
			s.Text += d.Value
		case *types.ContentBlockDeltaMemberToolUse:
			s.Arguments += *d.Value.Input
		case *types.ContentBlockDeltaMemberReasoningContent:
			if text, ok := d.Value.(*types.ReasoningContentBlockDeltaMemberText); ok {
				s.Reasoning += text.Value
			}
		}
	case *types.ConverseStreamOutputMemberMessageStop:
		s.Finish = string(e.Value.StopReason)
	case *types.ConverseStreamOutputMemberMetadata:
		if u := e.Value.Usage; u != nil {
			s.Prompt, s.Output = int(*u.InputTokens), int(*u.OutputTokens)
		}
	}
}

// invoke sends a request of Anthropic's API through Bedrock, and reads the answer with Anthropic's types.
func invoke(t *testing.T, m mock, tokens int, stream bool) (reply, error) {
	body, err := json.Marshal(messageFor(tokens))
	assert.NilError(t, err)
	model, js := aws.String("anthropic.mock-v1:0"), aws.String("application/json")
	var all anthropic.Message
	if !stream {
		answer, err := bedrock(m).InvokeModel(t.Context(), &bedrockruntime.InvokeModelInput{ModelId: model, Body: body, ContentType: js})
		if err != nil {
			return reply{}, err
		}
		assert.NilError(t, json.Unmarshal(answer.Body, &all))
		return saidByClaude(&all), nil
	}
	answer, err := bedrock(m).InvokeModelWithResponseStream(t.Context(), &bedrockruntime.InvokeModelWithResponseStreamInput{ModelId: model, Body: body, ContentType: js})
	if err != nil {
		return reply{}, err
	}
	s := answer.GetStream()
	defer s.Close()
	for e := range s.Events() {
		var event anthropic.MessageStreamEventUnion
		if err := json.Unmarshal(e.(*types.ResponseStreamMemberChunk).Value.Bytes, &event); err != nil {
			return reply{}, err
		}
		if err := all.Accumulate(event); err != nil {
			return reply{}, err
		}
	}
	return saidByClaude(&all), s.Err()
}

// TestBedrockShapes reads each shape of a stream.
func TestBedrockShapes(t *testing.T) {
	t.Run("converse", func(t *testing.T) {
		everyShape(t, map[string]string{"twice": "union has more than one non-nil member: text", "number-strings": "expected number", "nul-raw": "invalid control character"}, converse)
	})
	t.Run("invoke", func(t *testing.T) {
		everyShape(t, map[string]string{"twice": "silent", "nul-raw": `invalid character '\x00' in string literal`}, invoke)
	})
}

// TestBedrockErrors checks the errors that the SDK returns for refused requests and for streams that fail.
func TestBedrockErrors(t *testing.T) {
	code := func(err error) string {
		t.Helper()
		e, ok := errors.AsType[smithy.APIError](err)
		assert.Assert(t, ok, "%T: %v", err, err)
		return e.ErrorCode()
	}
	for kind, want := range map[fault.Kind]string{
		"http-400": "ValidationException", "http-401": "AccessDeniedException", "http-404": "ResourceNotFoundException",
		"http-429": "ThrottlingException", "http-500": "InternalServerException", "http-503": "ServiceUnavailableException",
	} {
		for _, ask := range []request{converse, invoke} {
			for _, stream := range []bool{false, true} {
				_, err := ask(t, spoiled(t, kind, 0), 4, stream)
				assert.Equal(t, code(err), want)
			}
		}
	}
	for _, ask := range []request{converse, invoke} {
		_, err := ask(t, spoiled(t, fault.ErrorEvent, 2), 4, true)
		assert.Equal(t, code(err), "InternalServerException")
		_, err = ask(t, spoiled(t, fault.NamedError, 2), 4, true)
		assert.Equal(t, code(err), "ModelStreamErrorException")
	}
}

// FuzzMessages compares llmbench's decoder of Amazon's event stream with the SDK's.
func FuzzMessages(f *testing.F) {
	var b bytes.Buffer
	m := eventstream.Message{Headers: eventstream.Headers{{Name: ":event-type", Value: eventstream.StringValue("a")}, {Name: "n", Value: eventstream.Int64Value(7)}}, Payload: []byte("{}")}
	if err := eventstream.NewEncoder().Encode(&b, m); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(append(b.Bytes(), b.Bytes()[:20]...))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, body []byte) {
		ours, theirs, src := dialect.BedrockConverse{}.NewDecoder(bytes.NewReader(body)), eventstream.NewDecoder(), bytes.NewReader(body)
		for {
			e, err := ours.Next()
			m, want := theirs.Decode(src, nil)
			if (err == nil) != (want == nil) {
				t.Fatalf("%q: %v; the SDK returns %v", body, err, want)
			}
			if err != nil { // the SDK may return EOF for a message that is cut off
				return
			}
			name := ""
			if v := m.Headers.Get(":event-type"); v != nil {
				name = v.String()
			}
			if !bytes.Equal(e.Data, m.Payload) || m.Headers.Get(":exception-type") == nil && m.Headers.Get(":error-code") == nil && m.Headers.Get(":error-message") == nil && name != "" && string(e.Type) != name {
				t.Fatalf("%q: %s %q; the SDK returns %s %q", body, e.Type, e.Data, name, m.Payload)
			}
		}
	})
}
