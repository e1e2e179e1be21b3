package llmbench

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/seed-2b9cec6d/llmbench/llmbench/check"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/prefix"
)

// A Message is one turn of a conversation.
type Message = dialect.Message

// A Tool is a function that a request offers to the model.
type Tool = dialect.Tool

// An Answer is what a server generated for one request.
type Answer = check.Answer

// A Request is a prompt and the output to ask for. It does not depend on the server: a [Target]
// adds the model and the dialect, and a [Load] says when the request is sent and whether the
// answer is streamed.
type Request struct {
	// Prompt is the text to send: the only message of the user for a chat endpoint, and the
	// prompt itself for any other.
	Prompt string
	// Messages, unless empty, is a conversation that is sent instead of Prompt. Only chat
	// dialects support it.
	Messages []Message
	// MaxTokens limits the output, in tokens; it must be at least 1.
	MaxTokens int
	// FixedOutput asks the server for exactly MaxTokens tokens, as its dialect can
	// (ignore_eos and min_tokens for most servers).
	FixedOutput bool
	// PromptTokens is the intended length of the prompt, in tokens of the workload's
	// tokenizer; 0 means unknown. The measured length is what the server states.
	PromptTokens int

	// Tools are functions of which the answer must call one, and Schema is a JSON schema
	// that the answer's text must match. At most one of them may be set, and neither with
	// FixedOutput. Few dialects support them. The harness does not check that the
	// answer conforms; Check can.
	Tools  []Tool
	Schema json.RawMessage

	// Check, if set, says whether the answer is right. The error says what was expected and what was
	// found; records have its first [sample.MaxWrong] bytes. Package check has ready checks.
	//
	// Check is called when a request has ended well, off the measuring path and by one goroutine at
	// a time; requests wait only if checks take longer than requests. It must return, and must not
	// keep the answer. If it panics, the benchmark fails. A request that failed is not checked: it
	// counts for fail-% and [Load].MaxFail, and not for accuracy-%.
	Check func(Answer) error

	// Then, unless empty, makes the request the first turn of a session, and holds the
	// further turns. Each turn is a request with the whole conversation so far, the server's
	// replies included, and has a sample of its own. Only chat dialects support it.
	Then []Turn
}

// A Turn is a further request of a session, sent after the reply to the turn before it. Only the
// first turn of a session is scheduled in an open loop. If a turn fails, the remaining turns of its
// session are not sent, and are failures too.
type Turn struct {
	Prompt      string
	MaxTokens   int                // see [Request]
	FixedOutput bool               // see [Request]
	Think       time.Duration      // from the end of the last reply to the send; must not be negative
	Check       func(Answer) error // see [Request]
}

// request returns the request of turn t in a conversation that began with messages.
func (t Turn) request(messages []Message) Request {
	return Request{Messages: messages, MaxTokens: t.MaxTokens, FixedOutput: t.FixedOutput, Check: t.Check}
}

// after returns the turn of the session of r that follows so many replies.
func (r Request) after(replies []string) Request {
	messages := slices.Clip(r.conversation()) // another pass may send them too
	for i, reply := range replies {
		messages = append(messages, Message{Role: "assistant", Content: reply}, Message{Role: "user", Content: r.Then[i].Prompt})
	}
	return r.Then[len(replies)-1].request(messages)
}

// conversation returns the messages of r; its prompt is a message of the user.
func (r Request) conversation() []Message {
	if len(r.Messages) > 0 {
		return r.Messages
	}
	return []Message{{Role: "user", Content: r.Prompt}}
}

// chars returns the number of characters of the text that r sends.
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

// opening returns the beginning of the request's prompt.
func (r Request) opening() prefix.Opening {
	var texts []string
	for _, m := range r.conversation() {
		texts = append(texts, m.Content)
	}
	return prefix.Of(texts...)
}

// shuffled returns r with the words of its texts in another order.
func (r Request) shuffled(random *rand.Rand) Request {
	r.Prompt = prefix.Shuffle(r.Prompt, random)
	messages := r.Messages
	r.Messages = nil
	for _, m := range messages {
		m.Content = prefix.Shuffle(m.Content, random)
		r.Messages = append(r.Messages, m)
	}
	return r
}

// A Tokenizer counts the tokens of a text.
type Tokenizer interface {
	// Count returns the number of tokens in text, without any that a chat
	// template or a server would add. A pass calls Count when a request has ended, by
	// one goroutine at a time.
	Count(text string) int
}
