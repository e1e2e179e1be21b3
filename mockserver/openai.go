package mockserver

import (
	"strconv"

	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// openaiChat and openaiText are OpenAI's two endpoints as vLLM answers them, and
// as every Shape changes that.
var (
	openaiChat = &dialect{
		stream: "text/event-stream; charset=utf-8", done: true,
		decode: func(in input) (request, *apiError) { return decodeOpenAI(true, in) },
		encode: func(a answer) encoder { return newOpenAI(a) }, errorBody: openaiError,
	}
	openaiText = &dialect{
		stream: "text/event-stream; charset=utf-8", done: true,
		decode: func(in input) (request, *apiError) { return decodeOpenAI(false, in) },
		encode: func(a answer) encoder { return newOpenAI(a) }, errorBody: openaiError,
	}
)

// openai encodes for both endpoints. What stays the same from event to event is
// built once.
type openai struct {
	answer
	made     string // an object up to the entries of its choices
	chunk    head   // a chunk with text
	thinking head   // one with reasoning
	calling  head   // one with arguments of a tool call
	reason   int    // tokens of reasoning
}

// A head is what stands before and after the text of a choice that is not the last.
type head struct{ before, after string }

func newOpenAI(a answer) *openai {
	o := &openai{answer: a}
	id, object := `cmpl-`, `text_completion`
	if a.req.chat {
		id, object = `chatcmpl-`, `chat.completion`
		o.reason = a.shape.ReasoningOf(a.req.output)
		if a.req.stream {
			object += `.chunk`
		}
	}
	o.made = `{"id":"` + id + strconv.FormatUint(a.ordinal, 10) + `","object":"` + object +
		`","created":` + strconv.FormatInt(a.created.Unix(), 10) + `,"model":` + a.model + `,"choices":[`
	if !a.req.chat {
		o.chunk = head{o.made + `{"index":0,"text":"`, `","logprobs":null,"finish_reason":null,"stop_reason":null,"prompt_token_ids":null,"token_ids":null}]`}
		return o
	}
	role := ""
	if a.shape.Role == shape.RoleEach {
		role = `"role":"assistant",`
	}
	delta := func(before, after string) head {
		return head{o.made + `{"index":0,"delta":{` + role + before + `"`, `"` + after + `},"logprobs":null,"finish_reason":null,"token_ids":null}]`}
	}
	o.chunk = delta(`"content":`, ``)
	o.thinking = delta(`"`+a.shape.Reasoning+`":`, ``)
	o.calling = delta(`"tool_calls":[{"index":0,"function":{"arguments":`, `}}]`)
	return o
}

// calls reports whether the output is the arguments of a tool call.
func (o *openai) calls() bool { return o.called(o.reason) != "" }

// hasRole reports whether there is a chunk of its own for the role.
func (o *openai) hasRole() bool {
	return o.req.chat && o.shape.Role != shape.RoleNever && o.shape.Role != shape.RoleEach
}

func (o *openai) opening() {
	if o.shape.EmptyChoices {
		o.noChoices()
	}
	if !o.hasRole() {
		return
	}
	content := `,"content":""`
	switch o.shape.Role {
	case shape.RoleNull:
		content = `,"content":null`
	case shape.RoleBare:
		content = ``
	}
	o.begin("")
	o.add(o.made, `{"index":0,"delta":{"role":"assistant"`, content, `},"logprobs":null,"finish_reason":null}]`)
	o.usageSoFar(0)
	o.add(`,"prompt_token_ids":null}`)
	o.end()
}

// noChoices adds a chunk that tells nothing.
func (o *openai) noChoices() {
	o.begin("")
	o.add(o.made, `]}`)
	o.end()
}

// boundary is where the tokens from on change their field.
func (o *openai) boundary(from, to int) int {
	if from < o.reason {
		return min(to, o.reason)
	}
	return to
}

func (o *openai) tokens(from, to int) {
	for from < to {
		end := o.boundary(from, to)
		if o.calls() && from == o.reason {
			o.call()
		}
		h := o.head(from)
		o.beginTokens("")
		o.add(h.before)
		o.arguments(from, end)
		o.add(h.after)
		o.usageSoFar(end)
		o.add(`}`)
		o.endTokens()
		from = end
	}
}

// head is that of a chunk whose first token is from.
func (o *openai) head(from int) *head {
	switch {
	case from < o.reason:
		return &o.thinking
	case o.calls():
		return &o.calling
	}
	return &o.chunk
}

// arguments adds the text of tokens that share a field, which is the JSON of a
// tool call's arguments if they are that.
func (o *openai) arguments(from, to int) {
	if o.calls() && from >= o.reason {
		o.callText(o.reason, from, to)
		return
	}
	o.text(from, to)
}

// call adds the chunk that names the tool.
func (o *openai) call() {
	o.begin("")
	o.add(o.made, `{"index":0,"delta":{"tool_calls":[{"id":"call_`)
	o.buf = strconv.AppendUint(o.buf, o.ordinal, 10)
	o.add(`","type":"function","index":0,"function":{"name":`, quoted(o.called(o.reason)), `}}]},"logprobs":null,"finish_reason":null,"token_ids":null}]`)
	o.usageSoFar(o.reason)
	o.add(`}`)
	o.end()
}

func (o *openai) last(from, to int) {
	// All but a chunk of text with a finish reason in it is as ever.
	first := from
	if o.shape.FinishAlone || o.calls() || to <= o.reason {
		first = to
	} else if from < o.reason {
		first = o.reason
	}
	o.tokens(from, first)
	if first < to {
		o.beginTokens("")
	} else {
		o.begin("")
	}
	switch {
	case !o.req.chat:
		o.add(o.chunk.before)
		o.text(first, to)
		o.add(`","logprobs":null,"finish_reason":"`, o.finish(), `","stop_reason":`, o.stopReason(), `,"prompt_token_ids":null,"token_ids":null}]`)
	case o.shape.FinishAlone:
		o.add(o.made, `{"index":0,"delta":{},"logprobs":null,"finish_reason":"`, o.finish(), `","stop_reason":`, o.stopReason(), `,"token_ids":null}]`)
	default:
		o.add(o.chunk.before)
		o.text(first, to)
		o.add(`"},"logprobs":null,"finish_reason":"`, o.finish(), `","stop_reason":`, o.stopReason(), `,"token_ids":null}]`)
	}
	trailing := o.req.usage && o.shape.Usage != shape.UsageNever && o.shape.Usage != shape.UsageLast
	if o.req.usage && o.shape.Usage == shape.UsageLast {
		o.usage(o.req.output)
	} else {
		o.usageSoFar(o.req.output)
	}
	o.add(`}`)
	if first < to {
		o.endTokens()
	} else {
		o.end()
	}
	if o.shape.EmptyChoices {
		o.noChoices()
	}
	if trailing {
		o.begin("")
		o.add(o.made, `]`)
		o.usage(o.req.output)
		o.add(`}`)
		o.end()
	}
}

func (o *openai) whole() {
	o.begin("")
	if o.req.chat {
		o.add(o.made, `{"index":0,"message":{"role":"assistant","content":`)
		o.content()
		o.add(`}`)
	} else {
		o.add(o.made, `{"index":0,"text":"`)
		o.text(0, o.req.output)
		o.add(`"`)
	}
	o.add(`,"logprobs":null,"finish_reason":"`, o.finish(), `","stop_reason":`, o.stopReason(), `}]`)
	o.usage(o.req.output)
	o.add(`}`)
	o.end()
}

// content adds the value of a whole message's content and the fields beside it.
func (o *openai) content() {
	if o.calls() {
		o.add(`null`)
	} else {
		o.add(`"`)
		o.text(o.reason, o.req.output)
		o.add(`"`)
	}
	if o.reason > 0 {
		o.add(`,"`, o.shape.Reasoning, `":"`)
		o.text(0, o.reason)
		o.add(`"`)
	}
	if o.calls() {
		o.add(`,"tool_calls":[{"id":"call_`)
		o.buf = strconv.AppendUint(o.buf, o.ordinal, 10)
		o.add(`","type":"function","function":{"name":`, quoted(o.called(o.reason)), `,"arguments":"`)
		o.arguments(o.reason, o.req.output)
		o.add(`"}}]`)
	}
}

// usageSoFar adds the usage of a chunk that is not the one for it: n tokens have
// been sent.
func (o *openai) usageSoFar(n int) {
	switch {
	case o.shape.Usage == shape.UsageNull:
		o.add(`,"usage":null`)
	case o.shape.Usage == shape.UsageEach || o.req.usageEach && o.shape.Usage != shape.UsageNever:
		o.usage(n)
	}
}

// usage adds the field with the token counts.
func (o *openai) usage(n int) {
	o.add(`,"usage":{"prompt_tokens":`)
	o.addInt(o.req.prompt)
	o.add(`,"total_tokens":`)
	o.addInt(o.req.prompt + n)
	o.add(`,"completion_tokens":`)
	o.addInt(n)
	if cached := o.cached(); cached > 0 { // vLLM's with --enable-prompt-tokens-details
		o.add(`,"prompt_tokens_details":{"cached_tokens":`)
		o.addInt(cached)
		o.add(`}`)
	}
	o.add(`}`)
}

func (o *openai) finish() string {
	if o.calls() && (o.req.script == nil || o.req.finish == "stop") {
		return "tool_calls"
	}
	return o.req.finish
}

// stopReason is the stop string that ended the output, in JSON, or null.
func (o *openai) stopReason() string {
	if o.req.stop == "" {
		return "null"
	}
	return quoted(o.req.stop)
}
