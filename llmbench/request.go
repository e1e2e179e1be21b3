package llmbench

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
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

// A Request is a prompt and the output to ask for. It does not depend on the server: a [Target] adds the
// model and the dialect. A [Load] determines when the request is sent and whether the answer is streamed.
type Request struct {
	// Prompt is the text to send. A chat endpoint gets it as the only message of the user, and any other
	// endpoint as the prompt itself.
	Prompt string
	// Messages, if not empty, is a conversation to send instead of Prompt. Only chat dialects support it.
	Messages []Message
	// Inputs are the texts of a request whose answer has a vector or a score for each text. Only dialects
	// such as [dialect.Embeddings] and [dialect.Rerank] have inputs. Prompt is then the query of a ranking,
	// or empty, MaxTokens is 0, and the load's NoStream must be set.
	Inputs []string
	// Model is the name of the model to send, such as a LoRA adapter; "" means the target's.
	Model string
	// Header holds further fields of the request's header, such as a priority, an objective or the key of a
	// tenant, for a gateway. A field replaces the target's field of the same name. Values of at least eight
	// bytes are removed from errors and records. The further turns of a session have the same Model and
	// Header.
	Header http.Header
	// Body, if not empty, changes the body of the request after the target's Body, by the same rules: it sets what only some
	// requests of a load have, such as {"priority":1}. The further turns of a session have the same Body.
	Body json.RawMessage
	// MaxTokens limits the output, in tokens; it must be at least 1, or 0 if there are inputs.
	MaxTokens int
	// FixedOutput asks the server for exactly MaxTokens tokens, by the means that its dialect offers. For
	// most servers these are the parameters ignore_eos and min_tokens.
	FixedOutput bool
	// PromptTokens is the intended length of the prompt, in tokens of the workload's tokenizer; 0 means
	// unknown. The measured length is the number that the server reports.
	PromptTokens int

	// Tools are functions; the answer must call one of them. Schema is a JSON schema that the text of the
	// answer must match. At most one of the two may be set, and neither together with FixedOutput. Few
	// dialects support them. Whether the answer conforms is not checked, unless Check does so.
	Tools  []Tool
	Schema json.RawMessage

	// Check, if set, decides whether the answer is right. It returns nil for a right answer. For a wrong
	// one, it returns an error that says what was expected and what was found; the records hold the first
	// [sample.MaxWrong] bytes of that text. Package check has ready-made checks.
	//
	// Check is called after a request has succeeded, outside the measuring path and by one goroutine at a
	// time. Requests wait for checks only if checks take longer than requests. Check must return, and must
	// not keep the answer. If Check panics, the benchmark fails. A request that failed is not checked: it
	// counts for fail-% and [Load].MaxFail, and not for accuracy-%.
	Check func(Answer) error

	// Then, if not empty, makes the request the first turn of a session, and holds the further turns. Each
	// turn is a request with the whole conversation so far, including the server's replies, and has its own
	// sample. Only chat dialects support sessions.
	Then []Turn
}

// A Turn is a further request of a session. It is sent after the reply to the previous turn. In an open
// loop, only the first turn of a session is scheduled. If a turn fails, the remaining turns of its session
// are not sent, and count as failures, too.
//
// With Every, a turn is sent this long after the send of the previous turn, or at once after the previous reply if
// that ends later. So a user has a rate of turns that a faster server does not change.
type Turn struct {
	Prompt      string
	MaxTokens   int                // see [Request]
	FixedOutput bool               // see [Request]
	Think       time.Duration      // time from the end of the previous reply to the send; must not be negative
	Every       time.Duration      // time from the previous send, in place of Think; must not be negative
	Check       func(Answer) error // see [Request]
}

// request returns the request that sends turn t in a conversation that consists of messages so far.
func (t Turn) request(messages []Message) Request {
	return Request{Messages: messages, MaxTokens: t.MaxTokens, FixedOutput: t.FixedOutput, Check: t.Check}
}

// after returns the request for the next turn of the session of r, after the given replies.
func (r Request) after(replies []string) Request {
	messages := slices.Clip(r.conversation()) // a copy, because another pass may send these messages too
	for i, reply := range replies {
		messages = append(messages, Message{Role: "assistant", Content: reply}, Message{Role: "user", Content: r.Then[i].Prompt})
	}
	next := r.Then[len(replies)-1].request(messages)
	next.Model, next.Header, next.Body = r.Model, r.Header, r.Body
	return next
}

// conversation returns the messages of r. If r has only a prompt, the prompt becomes a message of the user.
func (r Request) conversation() []Message {
	if len(r.Messages) > 0 {
		return r.Messages
	}
	return []Message{{Role: "user", Content: r.Prompt}}
}

// chars returns the number of characters of the text that r sends.
func (r Request) chars() int {
	n := 0
	for _, text := range r.Inputs {
		n += utf8.RuneCountInString(text)
	}
	if len(r.Messages) == 0 {
		return n + utf8.RuneCountInString(r.Prompt)
	}
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
	return prefix.Of(append(texts, r.Inputs...)...)
}

// shuffled returns r with the words of its texts in another order.
func (r Request) shuffled(random *rand.Rand) Request {
	r.Prompt = prefix.Shuffle(r.Prompt, random)
	r.Inputs = slices.Clone(r.Inputs)
	for i, text := range r.Inputs {
		r.Inputs[i] = prefix.Shuffle(text, random)
	}
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
	// Count returns the number of tokens in text, without tokens that a chat template or a server would
	// add. A pass calls Count after a request has ended, by one goroutine at a time.
	Count(text string) int
}
