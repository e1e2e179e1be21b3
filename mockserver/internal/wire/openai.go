package wire

import (
	"strconv"

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
	chat
	prefix string      // the beginning of each object, up to the "[" of choices
	chunks [3]surround // for the chunks of each part, indexed by part; a completion has only textPart
}

// A surround has the JSON before and after the tokens of a chunk. It is not for the last
// chunk.
type surround struct{ before, after string }

func newOpenAI(a Answer) *openai {
	o := &openai{chat: newChat(a)}
	id, object := `cmpl-`, `text_completion`
	if a.Request.chat {
		id, object = `chatcmpl-`, `chat.completion`
		if a.Request.Stream {
			object += `.chunk`
		}
	}
	o.prefix = `{"id":"` + id + strconv.FormatUint(a.Ordinal, 10) + `","object":"` + object +
		`","created":` + strconv.FormatInt(a.Created.Unix(), 10) + `,"model":` + a.Model + `,"choices":[`
	if !a.Request.chat {
		o.chunks[textPart] = surround{o.prefix + `{"index":0,"text":"`, `","logprobs":null,"finish_reason":null,"stop_reason":null,"prompt_token_ids":null,"token_ids":null}]`}
		return o
	}
	role := ""
	if a.Shape.Role == shape.RoleEach {
		role = `"role":"assistant",`
	}
	delta := func(before, after string) surround {
		return surround{o.prefix + `{"index":0,"delta":{` + role + before + `"`, `"` + after + `},"logprobs":null,"finish_reason":null,"token_ids":null}]`}
	}
	o.chunks = [...]surround{
		reasoningPart: delta(`"`+a.Shape.Reasoning+`":`, ``),
		textPart:      delta(`"content":`, ``),
		callPart:      delta(`"tool_calls":[{"index":0,"function":{"arguments":`, `}}]`),
	}
	return o
}

func (o *openai) Opening() {
	if o.Shape.EmptyChoices {
		o.noChoices()
	}
	if !o.Request.chat || o.Shape.Role == shape.RoleNever || o.Shape.Role == shape.RoleEach {
		return // the role is not in a separate chunk
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
func (o *openai) noChoices() { o.Document("", o.prefix, `]}`) }

func (o *openai) Tokens(from, to int) {
	for from < to {
		p, end := o.partAt(from), to
		if p == reasoningPart {
			end = min(to, o.reason)
		} else if p == callPart && from == o.reason {
			o.call()
		}
		o.BeginTokens("")
		o.Add(o.chunks[p].before)
		o.partText(from, end)
		o.Add(o.chunks[p].after)
		o.usageSoFar(end)
		o.Add(`}`)
		o.End()
		from = end
	}
}

// call renders the chunk that names the called function.
func (o *openai) call() {
	o.Begin("")
	o.Add(o.prefix)
	o.AddInt(`{"index":0,"delta":{"tool_calls":[{"id":"call_`, int(o.Ordinal))
	o.Add(`","type":"function","index":0,"function":{"name":`, o.quotedCall(), `}}]},"logprobs":null,"finish_reason":null,"token_ids":null}]`)
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
	o.BeginEvent("", first < to)
	switch before := o.chunks[textPart].before; {
	case !o.Request.chat:
		o.textBetween(before, first, to, `"`)
		o.finished()
		o.Add(`,"prompt_token_ids":null,"token_ids":null}]`)
	case o.Shape.FinishAlone:
		o.Add(o.prefix, `{"index":0,"delta":{}`)
		o.finished()
		o.Add(`,"token_ids":null}]`)
	default:
		o.textBetween(before, first, to, `"}`)
		o.finished()
		o.Add(`,"token_ids":null}]`)
	}
	trailing := o.Request.usage && o.Shape.Usage != shape.UsageNever && o.Shape.Usage != shape.UsageLast
	if o.Request.usage && o.Shape.Usage == shape.UsageLast {
		o.usage(o.Request.Output)
	} else {
		o.usageSoFar(o.Request.Output)
	}
	o.Add(`}`)
	o.End()
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
		o.Add(o.prefix)
		o.textBetween(`{"index":0,"text":"`, 0, o.Request.Output, `"`)
	}
	o.finished()
	o.Add(`}]`)
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
		o.textBetween(`"`, o.reason, o.Request.Output, `"`)
	}
	if o.reason > 0 {
		o.Add(`,"`, o.Shape.Reasoning)
		o.textBetween(`":"`, 0, o.reason, `"`)
	}
	if o.calls() {
		o.AddInt(`,"tool_calls":[{"id":"call_`, int(o.Ordinal))
		o.Add(`","type":"function","function":{"name":`, o.quotedCall(), `,"arguments":"`)
		o.partText(o.reason, o.Request.Output)
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
	o.AddInt(`,"usage":{"prompt_tokens":`, o.Request.Prompt)
	o.AddInt(`,"total_tokens":`, o.Request.Prompt+n)
	o.AddInt(`,"completion_tokens":`, n)
	if cached := o.Cached(); cached > 0 { // like vLLM with --enable-prompt-tokens-details
		o.AddInt(`,"prompt_tokens_details":{"cached_tokens":`, cached)
		o.Add(`}`)
	}
	o.Add(`}`)
}

// finished renders the fields of a choice that say why the output ended.
func (o *openai) finished() {
	o.Add(`,"logprobs":null,"finish_reason":"`, o.finish("tool_calls", "stop", "stop", "length"), `","stop_reason":`, o.stopString())
}
