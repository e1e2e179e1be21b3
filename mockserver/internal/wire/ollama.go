package wire

import (
	"encoding/json"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// ollamaChat and ollamaGenerate are Ollama's /api/chat and /api/generate. They send lines of
// JSON. The last line has the durations that the server measured, in nanoseconds.
// https://github.com/ollama/ollama/blob/main/docs/api.md
var (
	ollamaChat = &Dialect{
		ContentType: "application/x-ndjson", DocumentEnd: "\n",
		Decode: func(in Input) (Request, *Error) { return decodeOllama(true, in) },
		Encode: func(a Answer) Encoder { return &ollama{newChat(a)} }, ErrorBody: PlainError,
	}
	ollamaGenerate = &Dialect{
		ContentType: "application/x-ndjson", DocumentEnd: "\n",
		Decode: func(in Input) (Request, *Error) { return decodeOllama(false, in) },
		Encode: func(a Answer) Encoder { return &ollama{newChat(a)} }, ErrorBody: PlainError,
	}
)

func decodeOllama(chat bool, in Input) (Request, *Error) {
	var w struct {
		Messages []Message `json:"messages"`
		Prompt   string    `json:"prompt"`
		System   string    `json:"system"`
		Stream   *bool     `json:"stream"`
		Options  *struct {
			NumPredict *int            `json:"num_predict"`
			Stop       json.RawMessage `json:"stop"`
		} `json:"options"`
	}
	if err := json.Unmarshal(in.Body, &w); err != nil {
		return Request{}, BadBody(err)
	}
	r := Request{chat: chat, Stream: w.Stream == nil || *w.Stream}
	l := limits{name: "num_predict", zeroAllowed: true}
	if o := w.Options; o != nil {
		l.max, l.stops = o.NumPredict, o.Stop
		if l.max != nil && *l.max < 0 { // no limit
			l.max = nil
		}
	}
	var fail *Error
	if chat {
		r.loadOnly = len(w.Messages) == 0
		if !r.loadOnly {
			r.Prompt, fail = in.CountMessages("messages", w.Messages)
		}
	} else {
		r.loadOnly = w.Prompt == ""
		r.Prompt, r.text = in.PromptTokens.Words(w.System)+in.PromptTokens.Words(w.Prompt), w.Prompt
	}
	if !r.loadOnly {
		return r.planned(l, in, in.scriptOrCall, fail)
	}
	if r, fail = r.planned(l, in, nil, fail); fail == nil {
		r.Output, r.Finish = 0, "load"
	}
	return r, fail
}

// An ollama is the encoder of one answer. A tool call is sent as a whole. If the token limit cuts the call off,
// the output is sent as text instead.
type ollama struct{ chat }

func (o *ollama) Opening() {}

func (o *ollama) Tokens(from, to int) {
	for from < to {
		end := to
		if from < o.reason {
			end = min(to, o.reason)
		} else if o.callsWhole() {
			return // the call is sent with the last token
		}
		o.head(true)
		o.piece(from, end)
		o.Add(`,"done":false}`)
		o.End()
		from = end
	}
}

// head begins a line and renders the fields that all lines have. tokens says whether the line carries tokens.
func (o *ollama) head(tokens bool) {
	o.BeginEvent("", tokens)
	o.Add(`{"model":`, o.Model, `,"created_at":"`)
	o.Buf = o.Now().UTC().AppendFormat(o.Buf, time.RFC3339Nano)
	o.Add(`",`)
}

// piece renders the tokens with indices from to to-1 and the field that contains them. All of
// them must belong to the same field.
func (o *ollama) piece(from, to int) {
	switch {
	case !o.Request.chat:
		o.textBetween(`"response":"`, from, to, `"`)
	case from < o.reason:
		o.textBetween(`"message":{"role":"assistant","content":"","thinking":"`, from, to, `"}`)
	default:
		o.textBetween(`"message":{"role":"assistant","content":"`, from, to, `"}`)
	}
}

// call renders the message with the tool call.
func (o *ollama) call() {
	o.Add(`"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":`, o.quotedCall(), `,"arguments":`)
	o.callObject()
	o.Add(`}}]}`)
}

func (o *ollama) Last(from, to int) {
	o.Tokens(from, to)
	if o.callsWhole() {
		o.head(true)
		o.call()
		o.Add(`,"done":false}`)
		o.End()
	}
	o.head(false)
	o.piece(to, to)
	o.metrics()
	o.End()
}

func (o *ollama) Whole() {
	o.head(false)
	switch {
	case o.callsWhole():
		o.call()
	case o.reason > 0:
		o.textBetween(`"message":{"role":"assistant","content":"`, o.reason, o.Request.Output, `"`)
		o.textBetween(`,"thinking":"`, 0, o.reason, `"}`)
	default:
		o.piece(0, o.Request.Output)
	}
	o.metrics()
	o.End()
}

// metrics renders the end of the last line. Like Ollama, it omits fields that are 0. The
// reported load_duration is the time from arrival to admission.
func (o *ollama) metrics() {
	o.Add(`,"done":true,"done_reason":"`, o.Request.Finish, `"`)
	if o.Request.loadOnly {
		o.Add(`}`)
		return
	}
	if !o.Request.chat {
		o.Add(`,"context":`)
		o.ids(0, min(o.Request.Output, 8))
	}
	prefill, decode := o.prefillTime(), o.decodeTime(o.Request.Output)
	o.field("total_duration", int(*o.Queued+prefill+decode))
	o.field("load_duration", int(*o.Queued))
	if o.Shape.Usage != shape.UsageNever {
		o.field("prompt_eval_count", o.Request.Prompt)
	}
	o.field("prompt_eval_duration", int(prefill))
	if o.Shape.Usage != shape.UsageNever {
		o.field("eval_count", o.Request.Output)
	}
	o.field("eval_duration", int(decode))
	o.Add(`}`)
}

// field renders a field with a number, unless the number is 0.
func (o *ollama) field(name string, v int) {
	if v != 0 {
		o.Add(`,"`, name)
		o.AddInt(`":`, v)
	}
}
