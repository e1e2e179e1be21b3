package llmbench

import (
	"encoding/json"
	"fmt"
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

	// Then, if not empty, makes the request the first turn of a session, turn 0, and holds the further turns. Each turn has its
	// own sample. Only chat dialects support sessions.
	Then []Turn
	// Reply, if not empty, stands for the server's reply in the conversations of further turns; see [Turn].
	Reply string
	// Skip is the number of turns at the beginning of the session that are not sent, so that a pass can begin in the midst of it: from 0
	// to the number of turns in Then. The session begins with turn Skip. Of the other turns, those that wait only for turns that are not
	// sent are due their Think after the begin of the session. A turn that continues a conversation of turns that are not sent must find a
	// Reply to each of them. Before the pass, what the server would have in its prefix cache is sent: the prompts of the turns that are not
	// sent, in order, with one token as the answer to each, without those that a later one of them continues. These requests are not measured.
	Skip int
}

// A Turn is a further request of a session. It is sent after the replies to the turns in After: the turn before it, unless After
// is set. So a session is a list of turns, or else a graph without circles, such as the session of an agent with sub-agents. If
// After is empty and not nil, the turn begins with the session, and must be Whole.
// Turns that wait for the same turn are in flight at the same time. In an open loop, only the first turn of a session is
// scheduled. If a turn fails, the turns of its session that have not been sent are not sent, and count as failures, too.
//
// A turn sends the conversation of the first turn in After, with the reply to it, and then its own messages. The reply is the
// server's, or the Reply of that turn: a recorded or made-up reply keeps the prompts of a session the same for all servers,
// so that a server's prefix cache can find the same blocks in each of them.
//
// With Every, a turn is sent this long after the send of the first turn in After, or at once after the last reply that it waits
// for, if that ends later. So a user has a rate of turns that a faster server does not change.
type Turn struct {
	Prompt       string             // the message of the user
	Messages     []Message          // if not empty, the turn's own messages, instead of Prompt
	Whole        bool               // the turn's own messages are its whole conversation, as when a sub-agent begins
	After        []int              // numbers of turns, smaller than the turn's own; nil means the turn before
	Reply        string             // see [Request]
	MaxTokens    int                // see [Request]
	FixedOutput  bool               // see [Request]
	PromptTokens int                // see [Request]; the length of the whole conversation
	Think        time.Duration      // time from the end of the last reply that it waits for to the send; must not be negative
	Every        time.Duration      // time from the send of the first turn in After, in place of Think; must not be negative
	Check        func(Answer) error // see [Request]
}

// after returns the numbers of the turns that turn i of a session waits for.
func (t Turn) after(i int) []int {
	if t.After == nil {
		return []int{i - 1}
	}
	return t.After
}

// samples returns the number of samples of r: one for each turn that is sent.
func (r Request) samples() int { return 1 + len(r.Then) - r.Skip }

// reply returns the Reply of a turn.
func (r Request) reply(turn int) string {
	if turn == 0 {
		return r.Reply
	}
	return r.Then[turn-1].Reply
}

// noReply is a function for turns whose conversations need no reply of the server.
func noReply(int) string { return "" }

// checkSkip returns an error if the session of r cannot begin with turn r.Skip.
func (r Request) checkSkip() error {
	if r.Skip < 0 || r.Skip > len(r.Then) {
		return fmt.Errorf("the first %d turns are not sent: want from 0 to %d", r.Skip, len(r.Then))
	}
	for i := r.Skip; r.Skip > 0 && i <= len(r.Then); i++ {
		for k := i; k > 0 && !r.Then[k-1].Whole; {
			if k = r.Then[k-1].after(k)[0]; k < r.Skip && r.reply(k) == "" {
				return fmt.Errorf("the first %d turns are not sent, and turn %d continues turn %d, which has no Reply: want one", r.Skip, i, k)
			}
		}
	}
	return nil
}

// primer returns a request that sends what a server has in its prefix cache when the session of r begins with turn r.Skip.
func (r Request) primer() Request {
	continued := make([]bool, r.Skip)
	for i := 1; i < r.Skip; i++ {
		if t := r.Then[i-1]; !t.Whole {
			continued[t.after(i)[0]] = true
		}
	}
	var all []Turn
	for i := range r.Skip {
		if !continued[i] {
			all = append(all, Turn{Messages: r.upTo(i, noReply), Whole: true, MaxTokens: 1, FixedOutput: true})
		}
	}
	return Request{Messages: all[0].Messages, Model: r.Model, Header: r.Header, Body: r.Body, MaxTokens: 1, FixedOutput: true, Then: all[1:]}
}

// messages returns the turn's own messages.
func (t Turn) messages() []Message {
	if len(t.Messages) > 0 {
		return t.Messages
	}
	return []Message{{Role: "user", Content: t.Prompt}}
}

// request returns the request that sends turn t in a conversation that consists of messages so far.
func (t Turn) request(messages []Message) Request {
	return Request{Messages: messages, MaxTokens: t.MaxTokens, FixedOutput: t.FixedOutput, PromptTokens: t.PromptTokens, Check: t.Check}
}

// turn returns the request for turn i of the session of r, from 1. The function replyTo returns the server's reply to an earlier turn.
func (r Request) turn(i int, replyTo func(turn int) string) Request {
	next := r.Then[i-1].request(r.upTo(i, replyTo))
	next.Model, next.Header, next.Body = r.Model, r.Header, r.Body
	return next
}

// upTo returns the conversation of turn i of the session of r.
func (r Request) upTo(i int, replyTo func(turn int) string) []Message {
	if i == 0 {
		return slices.Clip(r.conversation()) // a copy if it grows, because another pass may send these messages too
	}
	t := r.Then[i-1]
	if t.Whole {
		return slices.Clip(t.messages())
	}
	before := t.after(i)[0]
	reply := r.reply(before)
	if reply == "" {
		reply = replyTo(before)
	}
	return append(append(r.upTo(before, replyTo), Message{Role: "assistant", Content: reply}), t.messages()...)
}

// width returns the largest number of turns of the session of r that may be in flight at the same time, or somewhat more. Each turn
// takes a token from the turns that it waits for, if they have one left: one from the first turn, and all from the others, which
// it joins. If they have none, there must be one more.
func (r Request) width() int {
	left := make([]int, 1+len(r.Then))
	left[0] = 1
	width := 1
	for i, t := range r.Then {
		n := i + 1
		for k, before := range t.after(n) {
			taken := left[before]
			if k == 0 {
				taken = min(taken, 1)
			}
			left[before] -= taken
			left[n] += taken
		}
		if left[n] == 0 {
			left[n] = 1
			width++
		}
	}
	return width
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
