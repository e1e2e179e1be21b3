package dialect

import (
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
	// the server is asked for exactly that many.
	MaxTokens   int
	FixedOutput bool
	Stream      bool
}

// A Dialect is what one family of servers speaks. It is a value without state,
// safe for concurrent use.
type Dialect interface {
	// Name is the dialect's name in LLMBENCH_DIALECT.
	Name() string
	// Path is where q is posted, below the server's base URL.
	Path(q Query) string
	// Body returns the JSON to post for q. It fails when the dialect cannot
	// say what q asks for.
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
	// malformed.
	Event(e sse.Event, d *Delta) error
	// End says, after the clean end of the body, whether the stream was
	// whole: its error wraps [ErrTruncated].
	End() error
	// Body reads a whole answer that was not streamed into d.
	Body(body []byte, d *Delta) error
}

// A Delta is what one event of a stream, or one whole answer, carried. Its
// bytes are reused: they hold until the next event.
type Delta struct {
	// Text is generated text of any kind: content, reasoning and the
	// arguments of tool calls, unquoted.
	Text []byte
	// Finish is the server's finish reason, empty before the end.
	Finish string
	// Usage is what the server stated about tokens; its zero value means
	// that it stated nothing.
	Usage Usage
	// Fault is what the server said went wrong; empty when nothing did.
	Fault string
	// Done tells that the event was the dialect's end marker.
	Done bool
}

// Usage is a server's own count of tokens.
type Usage struct {
	PromptTokens, OutputTokens int
}

func (d *Delta) reset() { *d = Delta{Text: d.Text[:0]} }

// dialects lists every dialect there is.
var dialects = []Dialect{OpenAIChat{}, OpenAICompletions{}}

// Names returns the names of all dialects.
func Names() []string {
	var names []string
	for _, d := range dialects {
		names = append(names, d.Name())
	}
	return names
}

// ByName returns the dialect of that name.
func ByName(name string) (Dialect, error) {
	for _, d := range dialects {
		if d.Name() == name {
			return d, nil
		}
	}
	return nil, fmt.Errorf("dialect: %q is none of %s", name, strings.Join(Names(), ", "))
}
