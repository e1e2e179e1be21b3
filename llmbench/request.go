package llmbench

import (
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
)

// A Message is one turn of a conversation.
type Message = dialect.Message

// A Tool is a function that a request offers to the model.
type Tool = dialect.Tool

// A Request is one prompt to send and the output to ask for. It names no
// server: a [Target] adds the model and the dialect, a [Load] says when it is
// sent and whether the answer is streamed.
type Request struct {
	// Prompt is the text to send: the user's only message to a chat
	// endpoint, the bare prompt to any other.
	Prompt string
	// Messages is a whole conversation, sent instead of Prompt when it is
	// not empty. Only chat dialects take it.
	Messages []Message
	// MaxTokens limits the output, in tokens; it must be at least 1.
	MaxTokens int
	// FixedOutput asks the server for exactly MaxTokens tokens, in whatever
	// way that server has (ignore_eos and min_tokens for most).
	FixedOutput bool
	// PromptTokens is the prompt length the workload meant, in tokens as its
	// tokenizer counted them; 0 means unknown. It is never reported as the
	// measured length: that comes from the server.
	PromptTokens int

	// Tools are functions of which the answer has to call one, and Schema is
	// a JSON schema that its text has to conform to. At most one of them is
	// set, and neither with FixedOutput. Few dialects can ask for them, and
	// not every server does as it is asked: nothing here looks at the answer,
	// which [Load].KeepText keeps.
	Tools  []Tool
	Schema json.RawMessage

	// Then makes this the first turn of a conversation, a session, and says
	// what its user does from there. Each turn is a request with all that was
	// said before in it, the server's own replies too, and a sample of its
	// own. Only chat dialects take it.
	Then []Turn
}

// A Turn is what the user of a session says to the last reply: one more request,
// sent when that has ended. In an open loop the first turn alone is scheduled.
// When a turn fails its session has ended, and those left are failures too.
type Turn struct {
	Prompt      string
	MaxTokens   int           // as in [Request]
	FixedOutput bool          // the same
	Think       time.Duration // from the end of the last reply to the send; 0 or more
}

// request returns the request of turn t in a conversation that began with messages.
func (t Turn) request(messages []Message) Request {
	return Request{Messages: messages, MaxTokens: t.MaxTokens, FixedOutput: t.FixedOutput}
}

// chars returns how many characters the text is that r sends.
func (r Request) chars() int {
	if len(r.Messages) == 0 {
		return utf8.RuneCountInString(r.Prompt)
	}
	n := 0
	for _, m := range r.Messages {
		n += utf8.RuneCountInString(m.Content)
	}
	return n
}

// A Tokenizer tells how many tokens a text is.
type Tokenizer interface {
	// Count returns the number of tokens in text, without any that a chat
	// template or a server would add.
	Count(text string) int
}
