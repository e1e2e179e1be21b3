package dialect

import "time"

// A Delta is what one event of a stream, or one whole answer, carried. Its
// bytes are reused: they hold until the next event.
type Delta struct {
	// Text, Reasoning and ToolCall are what was generated, unquoted: the
	// answer itself, the thoughts before it, and the arguments of calls.
	Text, Reasoning, ToolCall []byte
	// ToolName is what is called, where the event said so: the names of the
	// calls that begin with it, parted by spaces. It is not generated text.
	ToolName []byte
	// Chunks is how many JSON documents of the event carried generated text:
	// 1 for nearly every event that carried any, more where a proxy lost the
	// blank lines between events.
	Chunks int
	// Choices is how many JSON documents of the event had a choice in them,
	// with text or without: 0 in dialects other than OpenAI's, which have none.
	// Other tools count from the first of those, whatever it carries.
	Choices int
	// Tokens is how many tokens the server said came with the event: by their
	// ids, by a count that runs along with the text, or by sending one token
	// an event. It is 0 where the server does not say.
	Tokens int
	// Finish is the server's finish reason in its own words, empty before the
	// end.
	Finish string
	// Usage is what the server stated about tokens so far; its zero value
	// means that it stated nothing.
	Usage Usage
	// Timings is what the server stated about its own work. llama.cpp's are
	// read once it said why the text ended: before, they are provisional.
	Timings Timings
	// Fault is what the server said went wrong; empty when nothing did.
	Fault string
	// Done tells that the event was the dialect's end marker.
	Done bool
}

// Generated reports whether d carries generated text of any kind. Only then is
// its instant that of a token: the first event of many servers names a role and
// comes before anything was generated.
func (d *Delta) Generated() bool {
	return len(d.Text) > 0 || len(d.Reasoning) > 0 || len(d.ToolCall) > 0
}

// onlyText reports whether d is one piece of the answer's text and says nothing
// else.
func (d *Delta) onlyText() bool {
	return len(d.Text) > 0 && len(d.Reasoning) == 0 && len(d.ToolCall) == 0 && len(d.ToolName) == 0 && d.Chunks == 1 && d.Tokens == 0 &&
		d.Finish == "" && d.Usage == Usage{} && d.Timings == Timings{} && d.Fault == "" && !d.Done
}

func (d *Delta) reset() {
	*d = Delta{Text: d.Text[:0], Reasoning: d.Reasoning[:0], ToolCall: d.ToolCall[:0], ToolName: d.ToolName[:0]}
}

// A mark is how much text a delta held at some point.
type mark struct{ text, reasoning, toolCall, toolName int }

func (d *Delta) mark() mark {
	return mark{len(d.Text), len(d.Reasoning), len(d.ToolCall), len(d.ToolName)}
}

// since reports whether generated text came after m.
func (d *Delta) since(m mark) bool {
	return len(d.Text) != m.text || len(d.Reasoning) != m.reasoning || len(d.ToolCall) != m.toolCall
}

// called takes the name of a call that begins.
func (d *Delta) called(name []byte) {
	if len(name) > 0 {
		d.ToolName = AppendName(d.ToolName, name)
	}
}

// AppendName appends the names of calls to those in dst, with a space between.
func AppendName(dst, names []byte) []byte {
	if len(dst) > 0 && len(names) > 0 {
		dst = append(dst, ' ')
	}
	return append(dst, names...)
}

// rewind forgets the text that came after m.
func (d *Delta) rewind(m mark) {
	d.Text, d.Reasoning = d.Text[:m.text], d.Reasoning[:m.reasoning]
	d.ToolCall, d.ToolName = d.ToolCall[:m.toolCall], d.ToolName[:m.toolName]
}

// Usage is a server's own count of tokens. A count that it did not state is 0.
type Usage struct {
	PromptTokens, OutputTokens int
	CachedTokens               int // those of the prompt that came from a cache
}

// Timings is what a server measured of its own work on one request, on its own
// clock. What it did not state is 0.
type Timings struct {
	Load    time.Duration // of the model, if the request had to wait for that
	Queue   time.Duration // until the server began to work on the request
	Prompt  time.Duration // processing the prompt (prefill)
	Predict time.Duration // generating the output (decode)
	Total   time.Duration // from the request's arrival to its last token

	// Over which tokens it measured: those of the prompt that it processed,
	// those that it took from a cache instead, and those that it generated.
	PromptTokens, CachedTokens, OutputTokens int
}
