package dialect

import "time"

// A Delta is the content of one event of a stream, or of one whole answer. Its
// slices belong to the parser, which reuses them for the next event.
type Delta struct {
	// Text, Reasoning and ToolCall are the generated text, unquoted: the answer, the reasoning before the
	// answer, and the arguments of tool calls.
	Text, Reasoning, ToolCall []byte
	// ToolName holds the names of the tool calls that begin in this event,
	// separated by spaces. A name is not generated text.
	ToolName []byte
	// Chunks is the number of JSON documents in the event that have generated text. It is 1 for nearly
	// every event with text. It is larger if a proxy removed the blank lines between events.
	Chunks int
	// Choices is the number of JSON documents in the event that have a choice, with or without text. Other
	// benchmark tools count the first such document as the first token. Only OpenAI's chat and completions
	// dialects have choices; in all others, Choices is 0.
	Choices int
	// Tokens is the number of tokens in the event according to the server. It comes from a list of token
	// IDs or from a running count, or is 1 because the server sends one token per event. It is 0 if the
	// server does not report a number.
	Tokens int
	// Finish is the server's finish reason, as the server spells it. It is empty before the end of the
	// answer.
	Finish string
	// UnknownFinish reports that the answer ended, but with a finish reason that the dialect does not
	// document, or without one although the dialect has finish reasons, if the end marker says so or the
	// answer was not streamed. Finish does then not show that the answer is complete.
	UnknownFinish bool
	// Unread is the name of a member that the dialect does not know and that may have text, such as
	// "delta.thoughts". It is empty if the member came together with text that was read, or after the end of
	// the text. The times between the deltas, and the time to the first, mean nothing if there is such a
	// member.
	Unread string
	// Strange is the beginning of the last document of the event that has no member of an answer, but other
	// members that may have text. It is empty if there is no such document.
	Strange string
	// Usage holds the token counts that the server reported. It is the zero value if the server reported
	// none.
	Usage Usage
	// Timings holds the durations that the server reported about its own work. llama.cpp's timings are
	// provisional until generation ends, so they are only read then.
	Timings Timings
	// Fault is the error message of the server. It is empty if the server
	// reported no error.
	Fault string
	// FaultStatus is the HTTP status, from 400 to 599, that the error states for itself, as a number or as digits
	// in a member such as "code". It is 0 if the error states none. SGLang reports most refusals so, in an answer
	// with status 200.
	FaultStatus int
	// Done reports that the event was the end marker of the dialect.
	Done bool
	// Progress reports that the server is processing the prompt. llama.cpp says so if the request has the member
	// return_progress.
	Progress bool
	// Vectors has the vector of each input, in the order of the inputs, in dialects for embeddings. Scores
	// has the scores of the inputs, in the order of the answer, in dialects for ranking.
	Vectors [][]float32
	Scores  []Score
}

// A Score is the relevance of one input.
type Score struct {
	Index int // index of the input, from 0
	Score float64
}

// Generated reports whether d has generated text of any kind. Only then may the instant of the event count
// as the instant of a token. Many servers begin with an event that only names the role, before any token
// exists.
func (d *Delta) Generated() bool {
	return len(d.Text) > 0 || len(d.Reasoning) > 0 || len(d.ToolCall) > 0
}

// onlyText reports whether d has one piece of the answer's text and nothing else.
func (d *Delta) onlyText() bool {
	return len(d.Text) > 0 && len(d.Reasoning) == 0 && len(d.ToolCall) == 0 && len(d.ToolName) == 0 && d.Chunks == 1 && d.Tokens == 0 &&
		d.Finish == "" && d.Unread == "" && d.Strange == "" && d.Usage == Usage{} && d.Timings == Timings{} && d.Fault == "" && !d.Done
}

// reset clears d and keeps its buffers.
func (d *Delta) reset() {
	*d = Delta{Text: d.Text[:0], Reasoning: d.Reasoning[:0], ToolCall: d.ToolCall[:0], ToolName: d.ToolName[:0]}
}

// addToolName adds the name of a tool call that begins in the event.
func (d *Delta) addToolName(name []byte) {
	if len(name) > 0 {
		d.ToolName = AppendName(d.ToolName, name)
	}
}

// AppendName appends the names of tool calls to dst, separated by a space.
func AppendName(dst, names []byte) []byte {
	if len(dst) > 0 && len(names) > 0 {
		dst = append(dst, ' ')
	}
	return append(dst, names...)
}

// A mark holds the lengths of a delta's slices at one moment.
type mark struct{ text, reasoning, toolCall, toolName int }

func (d *Delta) mark() mark {
	return mark{len(d.Text), len(d.Reasoning), len(d.ToolCall), len(d.ToolName)}
}

// generatedSince reports whether generated text was added after m.
func (d *Delta) generatedSince(m mark) bool {
	return len(d.Text) != m.text || len(d.Reasoning) != m.reasoning || len(d.ToolCall) != m.toolCall
}

// rewind removes everything that was added to the slices after m.
func (d *Delta) rewind(m mark) {
	d.Text, d.Reasoning = d.Text[:m.text], d.Reasoning[:m.reasoning]
	d.ToolCall, d.ToolName = d.ToolCall[:m.toolCall], d.ToolName[:m.toolName]
}

// Usage holds token counts that a server reported. A count that the server did not report is 0. If a stream
// reports several times, a later statement of CachedTokens replaces an earlier one, also if it is 0.
type Usage struct {
	PromptTokens int
	OutputTokens int
	CachedTokens int // the part of PromptTokens that came from a cache
	// CachedStated reports that the server stated CachedTokens, which may be 0.
	CachedStated bool
	// ReasoningTokens is the number of reasoning tokens. Most servers also count them in OutputTokens. Some
	// servers do not send the text of the reasoning.
	ReasoningTokens int
}

// Timings holds durations that a server measured for one request, on the server's clock. A duration or
// count that the server did not report is 0.
type Timings struct {
	Load    time.Duration // loading the model, if the request had to wait for that
	Queue   time.Duration // waiting before the server started to process the request
	Prompt  time.Duration // processing the prompt (prefill)
	Predict time.Duration // generating the output (decode)
	Total   time.Duration // from the arrival of the request to the last token

	// The tokens to which the durations refer: prompt tokens that were processed, prompt tokens that came
	// from a cache instead, and generated tokens.
	PromptTokens, CachedTokens, OutputTokens int

	// Speculative decoding: the tokens that were drafted, how many of them were accepted, and the request's
	// decode steps. Each step yields one token besides the accepted ones. Servers report either the tokens
	// or the steps.
	DraftTokens, AcceptedTokens, DecodeSteps int
}
