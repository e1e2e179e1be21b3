package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/vocab"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// An Input has the data that a decoder needs to decode a request.
type Input struct {
	Body         []byte
	NaturalEnd   int            // number of tokens after which the output ends by itself, 0 for never
	Words        *vocab.Lexicon // the words of the output
	PromptTokens vocab.Sink     // receives the tokens of the prompt
	Shape        shape.Shape
	// Oracle returns the right answer to a prompt, if it knows the answer. nil knows none.
	Oracle func(prompt string) (answer string, known bool)
	// Messages receives the text of each message of a chat, followed by a newline, for Oracle.
	Messages *strings.Builder
}

// note keeps the text of a message for the oracle.
func (in Input) note(text string) {
	if in.Messages != nil {
		in.Messages.WriteString(text)
		in.Messages.WriteByte('\n')
	}
}

// A Message is a message of a chat, in OpenAI's and in Ollama's form.
type Message struct {
	Content json.RawMessage `json:"content"`
}

// CountMessages returns the number of tokens in the messages of a chat: the words
// of their texts. The chat template adds none. The error names the field.
func (in Input) CountMessages(field string, messages []Message) (int, *Error) {
	if len(messages) == 0 {
		return 0, BadRequest(field, "%s: missing or empty: want at least one", field)
	}
	n := 0
	for i, m := range messages {
		if absent(m.Content) {
			continue // an assistant's message may have only tool calls
		}
		var text string
		var parts []struct {
			Text string `json:"text"`
		}
		switch {
		case json.Unmarshal(m.Content, &text) == nil:
			n += in.PromptTokens.Words(text)
			in.note(text)
		case json.Unmarshal(m.Content, &parts) == nil:
			for _, p := range parts {
				n += in.PromptTokens.Words(p.Text)
				in.note(p.Text)
			}
		default:
			name := fmt.Sprintf("%s[%d].content", field, i)
			return 0, BadRequest(name, "%s: want a string or an array of parts", name)
		}
	}
	return n, nil
}

// countChat returns the number of tokens in a chat whose body has the system's text and the messages in members
// of their own. It counts the system's text first, because a prompt begins with it.
func (in Input) countChat(system json.RawMessage, messages []Message) (int, *Error) {
	n, fail := 0, (*Error)(nil)
	if !absent(system) {
		n, fail = in.CountMessages("system", []Message{{Content: system}})
	}
	if fail != nil {
		return 0, fail
	}
	more, fail := in.CountMessages("messages", messages)
	return n + more, fail
}

// CountPrompt returns the number of tokens in a prompt. The prompt is a text, an array of one
// text or an array of token ids. If it is a text, CountPrompt also returns the text. The error
// names the field.
func (in Input) CountPrompt(field string, raw json.RawMessage) (int, string, *Error) {
	if absent(raw) {
		return 0, "", BadRequest(field, "%s: missing: want a string or an array of token ids", field)
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return in.PromptTokens.Words(text), text, nil
	}
	var texts []string
	if json.Unmarshal(raw, &texts) == nil && len(texts) == 1 {
		return in.PromptTokens.Words(texts[0]), texts[0], nil
	}
	var ids []uint32
	if json.Unmarshal(raw, &ids) == nil && len(ids) > 0 {
		return in.PromptTokens.IDs(ids), "", nil
	}
	return 0, "", BadRequest(field, "%s: want a string, an array of one string or an array of token ids", field)
}

// absent reports whether a field is missing or null.
func absent(raw json.RawMessage) bool {
	return len(raw) == 0 || bytes.Equal(raw, []byte("null"))
}
