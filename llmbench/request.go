package llmbench

import "github.com/seed-2b9cec6d/llmbench/llmbench/dialect"

// A Message is one turn of a conversation.
type Message = dialect.Message

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
}

// A Tokenizer tells how many tokens a text is.
type Tokenizer interface {
	// Count returns the number of tokens in text, without any that a chat
	// template or a server would add.
	Count(text string) int
}
