package dialect

import (
	"encoding/json"
	"net/url"
	"strings"
)

// Gemini is the API of Google's Gemini models (/v1beta/models/M:streamGenerateContent and :generateContent,
// https://ai.google.dev/api/generate-content). A stream is text/event-stream. Each event is a response with
// a part of the text and with the token counts so far. The last one has the finish reason.
type Gemini struct{}

// Name returns "gemini".
func (Gemini) Name() string { return "gemini" }

// Path returns the path of q's model below "/v1beta/".
func (Gemini) Path(q Query) string { return "/v1beta/" + geminiPath(q) }

// Body returns the JSON body for q. The API has no option that prevents a model from ending its text early,
// so FixedOutput only sets the limit. Messages with the role "system" become the system instruction.
func (d Gemini) Body(q Query) ([]byte, error) { return geminiBody(d.Name(), q) }

// KeyHeader returns the field X-Goog-Api-Key.
func (Gemini) KeyHeader(key string) (name, value string) { return "X-Goog-Api-Key", key }

// NewParser returns a parser for the answers of this dialect.
func (d Gemini) NewParser() Parser { return newGeminiParser(d.Name()) }

// Vertex is the API of Gemini models at Vertex AI
// (https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference). It is the same API as
// [Gemini], at another path and with a bearer token. The base URL of the server includes the publisher:
// https://LOCATION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/LOCATION/publishers/google.
type Vertex struct{}

// Name returns "vertex".
func (Vertex) Name() string { return "vertex" }

// Path returns the path of q's model, "/models/M:streamGenerateContent" or "/models/M:generateContent".
func (Vertex) Path(q Query) string { return "/" + geminiPath(q) }

// Body returns the JSON body for q, see [Gemini.Body].
func (d Vertex) Body(q Query) ([]byte, error) { return geminiBody(d.Name(), q) }

// NewParser returns a parser for the answers of this dialect.
func (d Vertex) NewParser() Parser { return newGeminiParser(d.Name()) }

// geminiPath returns the path and the query of a request. A model with a slash, such as tunedModels/M, is
// the whole name of a resource.
func geminiPath(q Query) string {
	segments := strings.Split(q.Model, "/")
	if len(segments) == 1 {
		segments = []string{"models", q.Model}
	}
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	resource := strings.Join(segments, "/")
	if q.Stream {
		return resource + ":streamGenerateContent?alt=sse"
	}
	return resource + ":generateContent"
}

type geminiRequest struct {
	System     *geminiContent    `json:"systemInstruction,omitempty"`
	Contents   []geminiContent   `json:"contents"`
	Config     geminiConfig      `json:"generationConfig"`
	Tools      []geminiTools     `json:"tools,omitempty"`
	ToolConfig *geminiToolConfig `json:"toolConfig,omitempty"`
}

type geminiContent struct {
	Role  string       `json:"role,omitempty"` // "user" or "model"
	Parts []geminiPart `json:"parts"`
}

type geminiPart struct {
	Text string `json:"text"`
}

type geminiConfig struct {
	MaxTokens   int             `json:"maxOutputTokens"`
	Temperature float64         `json:"temperature"`
	MIMEType    string          `json:"responseMimeType,omitempty"`
	Schema      json.RawMessage `json:"responseJsonSchema,omitempty"`
}

type geminiTools struct {
	Functions []geminiFunction `json:"functionDeclarations"`
}

type geminiFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parametersJsonSchema"`
}

type geminiToolConfig struct {
	Calling geminiCalling `json:"functionCallingConfig"`
}

type geminiCalling struct {
	Mode string `json:"mode"`
}

func geminiBody(dialect string, q Query) ([]byte, error) {
	if err := checkQuery(dialect, q); err != nil {
		return nil, err
	}
	b := geminiRequest{Contents: []geminiContent{}, Config: geminiConfig{MaxTokens: q.MaxTokens}}
	system, turns := q.systemAndTurns()
	if system != "" {
		b.System = &geminiContent{Parts: []geminiPart{{system}}}
	}
	for _, m := range turns {
		role := m.Role
		if role == "assistant" {
			role = "model"
		}
		b.Contents = append(b.Contents, geminiContent{role, []geminiPart{{m.Content}}})
	}
	if len(q.Tools) > 0 {
		var functions []geminiFunction
		for _, t := range q.Tools {
			functions = append(functions, geminiFunction(t))
		}
		b.Tools = []geminiTools{{functions}}
		b.ToolConfig = &geminiToolConfig{geminiCalling{"ANY"}}
	}
	if len(q.Schema) > 0 {
		b.Config.MIMEType, b.Config.Schema = "application/json", q.Schema
	}
	return json.Marshal(b)
}
