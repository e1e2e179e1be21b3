package wire

import (
	"strconv"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// openaiChat and openaiText are OpenAI's chat completions and completions, as vLLM
// answers them. https://platform.openai.com/docs/api-reference/chat
var (
	openaiChat = &Dialect{
		ContentType: "text/event-stream; charset=utf-8", HasDone: true,
		Decode: func(in Input) (Request, *Error) { return decodeOpenAI(true, in) },
		Encode: func(a Answer) Encoder { return newOpenAI(a) }, ErrorBody: OpenAIError,
	}
	openaiText = &Dialect{
		ContentType: "text/event-stream; charset=utf-8", HasDone: true,
		Decode: func(in Input) (Request, *Error) { return decodeOpenAI(false, in) },
		Encode: func(a Answer) Encoder { return newOpenAI(a) }, ErrorBody: OpenAIError,
	}
)

// openai is the encoder of both. It builds the parts that are the same in each event only
// once.
type openai struct {
	Answer
	prefix         string   // the beginning of each object, up to the "[" of choices
	textChunk      surround // for chunks with text
	reasoningChunk surround // for chunks with reasoning
	callChunk      surround // for chunks with a tool call's arguments
	reason         int      // number of reasoning tokens
}

// A surround has the JSON before and after the tokens of a chunk. It is not for the last
// chunk.
type surround struct{ before, after string }

func newOpenAI(a Answer) *openai {
	o := &openai{Answer: a}
	id, object := `cmpl-`, `text_completion`
	if a.Request.chat {
		id, object = `chatcmpl-`, `chat.completion`
		o.reason = a.Shape.ReasoningOf(a.Request.Output)
		if a.Request.Stream {
			object += `.chunk`
		}
	}
	o.prefix = `{"id":"` + id + strconv.FormatUint(a.Ordinal, 10) + `","object":"` + object +
		`","created":` + strconv.FormatInt(a.Created.Unix(), 10) + `,"model":` + a.Model + `,"choices":[`
	if !a.Request.chat {
		o.textChunk = surround{o.prefix + `{"index":0,"text":"`, `","logprobs":null,"finish_reason":null,"stop_reason":null,"prompt_token_ids":null,"token_ids":null}]`}
		return o
	}
	role := ""
	if a.Shape.Role == shape.RoleEach {
		role = `"role":"assistant",`
	}
	delta := func(before, after string) surround {
		return surround{o.prefix + `{"index":0,"delta":{` + role + before + `"`, `"` + after + `},"logprobs":null,"finish_reason":null,"token_ids":null}]`}
	}
	o.textChunk = delta(`"content":`, ``)
	o.reasoningChunk = delta(`"`+a.Shape.Reasoning+`":`, ``)
	o.callChunk = delta(`"tool_calls":[{"index":0,"function":{"arguments":`, `}}]`)
	return o
}

// calls reports whether the output is the arguments of a tool call.
func (o *openai) calls() bool { return o.calledFunction(o.reason) != "" }

// hasRole reports whether the role is sent in a separate chunk.
func (o *openai) hasRole() bool {
	return o.Request.chat && o.Shape.Role != shape.RoleNever && o.Shape.Role != shape.RoleEach
}

func (o *openai) Opening() {
	if o.Shape.EmptyChoices {
		o.noChoices()
	}
	if !o.hasRole() {
		return
	}
	content := `,"content":""`
	switch o.Shape.Role {
	case shape.RoleNull:
		content = `,"content":null`
	case shape.RoleBare:
		content = ``
	}
	o.Begin("")
	o.Add(o.prefix, `{"index":0,"delta":{"role":"assistant"`, content, `},"logprobs":null,"finish_reason":null}]`)
	o.usageSoFar(0)
	o.Add(`,"prompt_token_ids":null}`)
	o.End()
}

// noChoices renders a chunk with neither choices nor usage.
func (o *openai) noChoices() {
	o.Begin("")
	o.Add(o.prefix, `]}`)
	o.End()
}

// boundary returns the end, at most to, of the tokens that share a field with token from.
func (o *openai) boundary(from, to int) int {
	if from < o.reason {
		return min(to, o.reason)
	}
	return to
}

func (o *openai) Tokens(from, to int) {
	for from < to {
		end := o.boundary(from, to)
		if o.calls() && from == o.reason {
			o.call()
		}
		s := o.surround(from)
		o.BeginTokens("")
		o.Add(s.before)
		o.arguments(from, end)
		o.Add(s.after)
		o.usageSoFar(end)
		o.Add(`}`)
		o.EndTokens()
		from = end
	}
}

// surround returns the surround for a chunk whose first token is from.
func (o *openai) surround(from int) *surround {
	switch {
	case from < o.reason:
		return &o.reasoningChunk
	case o.calls():
		return &o.callChunk
	}
	return &o.textChunk
}

// arguments renders tokens that share a field. If the output is a tool call, tokens after the
// reasoning are a part of the call's arguments.
func (o *openai) arguments(from, to int) {
	if o.calls() && from >= o.reason {
		o.callText(o.reason, from, to)
		return
	}
	o.text(from, to)
}

// call renders the chunk that names the called function.
func (o *openai) call() {
	o.Begin("")
	o.Add(o.prefix, `{"index":0,"delta":{"tool_calls":[{"id":"call_`)
	o.Buf = strconv.AppendUint(o.Buf, o.Ordinal, 10)
	o.Add(`","type":"function","index":0,"function":{"name":`, jsontext.Quote(o.calledFunction(o.reason)), `}}]},"logprobs":null,"finish_reason":null,"token_ids":null}]`)
	o.usageSoFar(o.reason)
	o.Add(`}`)
	o.End()
}

func (o *openai) Last(from, to int) {
	// Only tokens of text can be in the chunk with the finish reason. Render the other tokens
	// in earlier chunks.
	first := from
	if o.Shape.FinishAlone || o.calls() || to <= o.reason {
		first = to
	} else if from < o.reason {
		first = o.reason
	}
	o.Tokens(from, first)
	if first < to {
		o.BeginTokens("")
	} else {
		o.Begin("")
	}
	switch {
	case !o.Request.chat:
		o.Add(o.textChunk.before)
		o.text(first, to)
		o.Add(`","logprobs":null,"finish_reason":"`, o.finish(), `","stop_reason":`, o.stopReason(), `,"prompt_token_ids":null,"token_ids":null}]`)
	case o.Shape.FinishAlone:
		o.Add(o.prefix, `{"index":0,"delta":{},"logprobs":null,"finish_reason":"`, o.finish(), `","stop_reason":`, o.stopReason(), `,"token_ids":null}]`)
	default:
		o.Add(o.textChunk.before)
		o.text(first, to)
		o.Add(`"},"logprobs":null,"finish_reason":"`, o.finish(), `","stop_reason":`, o.stopReason(), `,"token_ids":null}]`)
	}
	trailing := o.Request.usage && o.Shape.Usage != shape.UsageNever && o.Shape.Usage != shape.UsageLast
	if o.Request.usage && o.Shape.Usage == shape.UsageLast {
		o.usage(o.Request.Output)
	} else {
		o.usageSoFar(o.Request.Output)
	}
	o.Add(`}`)
	if first < to {
		o.EndTokens()
	} else {
		o.End()
	}
	if o.Shape.EmptyChoices {
		o.noChoices()
	}
	if trailing {
		o.Begin("")
		o.Add(o.prefix, `]`)
		o.usage(o.Request.Output)
		o.Add(`}`)
		o.End()
	}
}

func (o *openai) Whole() {
	o.Begin("")
	if o.Request.chat {
		o.Add(o.prefix, `{"index":0,"message":{"role":"assistant","content":`)
		o.content()
		o.Add(`}`)
	} else {
		o.Add(o.prefix, `{"index":0,"text":"`)
		o.text(0, o.Request.Output)
		o.Add(`"`)
	}
	o.Add(`,"logprobs":null,"finish_reason":"`, o.finish(), `","stop_reason":`, o.stopReason(), `}]`)
	o.usage(o.Request.Output)
	o.Add(`}`)
	o.End()
}

// content renders, for a whole answer, the value of the message's content and the message's
// fields after content.
func (o *openai) content() {
	if o.calls() {
		o.Add(`null`)
	} else {
		o.Add(`"`)
		o.text(o.reason, o.Request.Output)
		o.Add(`"`)
	}
	if o.reason > 0 {
		o.Add(`,"`, o.Shape.Reasoning, `":"`)
		o.text(0, o.reason)
		o.Add(`"`)
	}
	if o.calls() {
		o.Add(`,"tool_calls":[{"id":"call_`)
		o.Buf = strconv.AppendUint(o.Buf, o.Ordinal, 10)
		o.Add(`","type":"function","function":{"name":`, jsontext.Quote(o.calledFunction(o.reason)), `,"arguments":"`)
		o.arguments(o.reason, o.Request.Output)
		o.Add(`"}}]`)
	}
}

// usageSoFar renders the usage in a chunk other than the final usage chunk, if the shape or the
// request asks for that. n is the number of tokens sent so far, including this chunk's.
func (o *openai) usageSoFar(n int) {
	switch {
	case o.Shape.Usage == shape.UsageNull:
		o.Add(`,"usage":null`)
	case o.Shape.Usage == shape.UsageEach || o.Request.usageEach && o.Shape.Usage != shape.UsageNever:
		o.usage(n)
	}
}

// usage renders the field with the token counts.
func (o *openai) usage(n int) {
	o.Add(`,"usage":{"prompt_tokens":`)
	o.AddInt(o.Request.Prompt)
	o.Add(`,"total_tokens":`)
	o.AddInt(o.Request.Prompt + n)
	o.Add(`,"completion_tokens":`)
	o.AddInt(n)
	if cached := o.Cached(); cached > 0 { // like vLLM with --enable-prompt-tokens-details
		o.Add(`,"prompt_tokens_details":{"cached_tokens":`)
		o.AddInt(cached)
		o.Add(`}`)
	}
	o.Add(`}`)
}

func (o *openai) finish() string {
	if o.calls() && (o.Request.script == nil || o.Request.Finish == "stop") {
		return "tool_calls"
	}
	return o.Request.Finish
}

// stopReason returns, as JSON, the stop string that ended the output, or null if no stop string
// did.
func (o *openai) stopReason() string {
	if o.Request.stop == "" {
		return "null"
	}
	return jsontext.Quote(o.Request.stop)
}
