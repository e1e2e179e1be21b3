package clients

import (
	"encoding/json"
	"errors"
	"testing"

	"google.golang.org/genai"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// gemini sends a request to the Gemini API of a mock, and vertex to the API of Vertex AI.
func gemini(t *testing.T, m mock, tokens int, stream bool) (reply, error) {
	return generate(t, m, genai.ClientConfig{APIKey: "none", Backend: genai.BackendGeminiAPI}, tokens, stream)
}

func vertex(t *testing.T, m mock, tokens int, stream bool) (reply, error) {
	return generate(t, m, genai.ClientConfig{Project: "p", Location: "l", Backend: genai.BackendVertexAI}, tokens, stream)
}

func generate(t *testing.T, m mock, cfg genai.ClientConfig, tokens int, stream bool) (reply, error) {
	cfg.HTTPClient, cfg.HTTPOptions.BaseURL = m.client, m.url
	c, err := genai.NewClient(t.Context(), &cfg)
	assert.NilError(t, err)
	config := &genai.GenerateContentConfig{MaxOutputTokens: int32(tokens), SystemInstruction: genai.NewContentFromText("say", genai.RoleUser)}
	var got reply
	if !stream {
		answer, err := c.Models.GenerateContent(t.Context(), "mock", genai.Text("three words"), config)
		if err != nil {
			return got, err
		}
		got.addGemini(t, answer)
		return got, nil
	}
	for answer, err := range c.Models.GenerateContentStream(t.Context(), "mock", genai.Text("three words"), config) {
		if err != nil {
			return got, err
		}
		got.addGemini(t, answer)
	}
	return got, nil
}

// addGemini adds a response of a stream, or a whole answer.
func (s *reply) addGemini(t *testing.T, r *genai.GenerateContentResponse) {
	t.Helper()
	for _, c := range r.Candidates {
		s.Finish += string(c.FinishReason)
		for _, p := range c.Content.Parts {
			switch {
			case p.FunctionCall != nil:
				arguments, err := json.Marshal(p.FunctionCall.Args)
				assert.NilError(t, err)
				s.Tool, s.Arguments = p.FunctionCall.Name, string(arguments)
			case p.Thought:
				s.Reasoning += p.Text
			default:
				s.Text += p.Text
			}
		}
	}
	if u := r.UsageMetadata; u != nil {
		s.Prompt, s.Output = int(u.PromptTokenCount), int(u.CandidatesTokenCount+u.ThoughtsTokenCount)
	}
}

// TestGeminiShapes reads each shape of a stream. The SDK accepts only lines of data and empty lines, which
// do not end in CR alone.
func TestGeminiShapes(t *testing.T) {
	const line, document = "invalid stream chunk", "error unmarshalling data"
	everyShape(t, map[string]string{
		"bom": line, "ping": line, "ping-event": line, "event-lines": line, "cr": document, "nul-raw": document, "number-strings": "mapToStruct: error unmarshalling input",
	}, gemini)
}

// TestGeminiErrors checks the errors that the SDK returns for refused requests and for streams that fail.
func TestGeminiErrors(t *testing.T) {
	for _, c := range []struct {
		fault  fault.Kind
		code   int
		status string
	}{
		{"http-400", 400, "INVALID_ARGUMENT"}, {"http-401", 401, "UNAUTHENTICATED"}, {"http-404", 404, "NOT_FOUND"}, {"http-500", 500, "INTERNAL"}, {"http-503", 503, "UNAVAILABLE"},
	} {
		for _, stream := range []bool{false, true} {
			_, err := gemini(t, spoiled(t, c.fault, 0), 4, stream)
			e, ok := errors.AsType[genai.APIError](err)
			assert.Assert(t, ok, "%s: %T: %v", c.fault, err, err)
			assert.Equal(t, e.Code, c.code)
			assert.Equal(t, e.Status, c.status)
		}
	}
	_, err := gemini(t, spoiled(t, fault.ErrorEvent, 2), 4, true)
	assert.ErrorContains(t, err, "mockserver: injected fault")
}
