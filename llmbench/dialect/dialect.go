package dialect

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// ErrTruncated is the error, wrapped with what is missing, for a stream that
// ended before its dialect says it may.
var ErrTruncated = errors.New("stream is truncated")

// A Message is one turn of a conversation.
type Message struct {
	Role    string `json:"role"` // "system", "user" or "assistant"
	Content string `json:"content"`
}

// A Query is one request, in no server's words.
type Query struct {
	Model string // empty: not named to the server
	// Prompt is the text to continue or, in a chat, the user's only message.
	// A chat sends Messages instead when there are any.
	Prompt   string
	Messages []Message
	// MaxTokens limits the output, in tokens, at least 1. With FixedOutput
	// the server is asked for exactly that many, as far as it can be asked:
	// TGI, Ollama and MindIE's /infer know a limit only and may stop earlier.
	MaxTokens   int
	FixedOutput bool
	Stream      bool
	// Tools are functions of which the answer has to call one. Ollama can be
	// asked for no more than that it may.
	Tools []Tool
	// Schema is a JSON schema that the answer's text has to conform to. There
	// are Tools, a Schema or FixedOutput, or none of them.
	Schema json.RawMessage
}

// conversation is what a chat sends.
func (q Query) conversation() []Message {
	if len(q.Messages) > 0 {
		return q.Messages
	}
	return []Message{{Role: "user", Content: q.Prompt}}
}

// A Dialect is what one family of servers speaks. It is a value without state,
// safe for concurrent use.
type Dialect interface {
	// Name is the dialect's name in LLMBENCH_DIALECT.
	Name() string
	// Path is where q is posted, below the server's base URL.
	Path(q Query) string
	// Body returns the JSON to post for q. It fails when the dialect cannot
	// say what q asks for; if that is a conversation, tools or a schema, the
	// error is [errors.ErrUnsupported].
	Body(q Query) ([]byte, error)
	// NewParser returns a parser of answers.
	NewParser() Parser
}

// A Parser reads the answers to requests, one after another: Reset, then
// either Event for each event of a stream and End, or Body once. It is for one
// goroutine.
type Parser interface {
	// Reset readies the parser for the next answer.
	Reset()
	// Event reads one event of a streamed answer into d, whatever d held
	// before. After an error the stream may be read on, but the answer is
	// malformed, or truncated where the error wraps [ErrTruncated].
	Event(e sse.Event, d *Delta) error
	// End says, after the clean end of the body, whether the answer was
	// whole: its error wraps [ErrTruncated]. It is not enough that the stream
	// reached its end marker, see the package's comment.
	End() error
	// Body reads a whole answer that was not streamed into d.
	Body(body []byte, d *Delta) error
}

// dialects lists every dialect there is.
var dialects = []Dialect{
	OpenAIChat{}, OpenAICompletions{}, OpenAIResponses{},
	TGI{}, LlamaCPP{}, Ollama{}, OllamaGenerate{}, SGLang{}, LMDeploy{}, Triton{},
	VLLMDemo{}, MindIEInfer{}, MindIEVLLM{},
}

// aliases are other names of dialects.
var aliases = map[string]string{
	"ollama-chat":       Ollama{}.Name(),
	"sglang-generate":   SGLang{}.Name(),
	"lmdeploy-generate": LMDeploy{}.Name(),
}

// Names returns the names of all dialects.
func Names() []string {
	var names []string
	for _, d := range dialects {
		names = append(names, d.Name())
	}
	return names
}

// ByName returns the dialect of that name. The endpoint may be named where it
// is the only one: "ollama-chat" is "ollama", "sglang-generate" is "sglang" and
// "lmdeploy-generate" is "lmdeploy".
func ByName(name string) (Dialect, error) {
	known := name
	if alias, ok := aliases[name]; ok {
		known = alias
	}
	for _, d := range dialects {
		if d.Name() == known {
			return d, nil
		}
	}
	return nil, fmt.Errorf("dialect: %q is none of %s", name, strings.Join(Names(), ", "))
}

// promptOnly says why q cannot be sent to an endpoint that continues a text, as
// it likes.
func promptOnly(dialect string, q Query) error {
	return cmp.Or(promptOrSchema(dialect, q), noSchema(dialect, q))
}

// promptOrSchema is promptOnly of an endpoint that knows schemas.
func promptOrSchema(dialect string, q Query) error {
	if len(q.Messages) > 0 {
		return unsupported(fmt.Sprintf("%s: a conversation of %d messages; only a prompt can be sent", dialect, len(q.Messages)))
	}
	return cmp.Or(checkQuery(dialect, q), noTools(dialect, q))
}
