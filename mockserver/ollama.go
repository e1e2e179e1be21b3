package mockserver

import (
	"encoding/json"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// ollamaChat and ollamaGenerate are Ollama's own endpoints: lines of JSON, and
// the durations that the server measured, in nanoseconds, on the last.
var (
	ollamaChat = &dialect{
		stream: "application/x-ndjson", lines: "\n",
		decode: func(in input) (request, *apiError) { return decodeOllama(true, in) },
		encode: func(a answer) encoder { return newOllama(a) }, errorBody: plainError,
	}
	ollamaGenerate = &dialect{
		stream: "application/x-ndjson", lines: "\n",
		decode: func(in input) (request, *apiError) { return decodeOllama(false, in) },
		encode: func(a answer) encoder { return newOllama(a) }, errorBody: plainError,
	}
)

func decodeOllama(chat bool, in input) (request, *apiError) {
	var w struct {
		Messages []message `json:"messages"`
		Prompt   string    `json:"prompt"`
		System   string    `json:"system"`
		Stream   *bool     `json:"stream"`
		Options  *struct {
			NumPredict *int            `json:"num_predict"`
			Stop       json.RawMessage `json:"stop"`
		} `json:"options"`
	}
	if err := json.Unmarshal(in.body, &w); err != nil {
		return request{}, badBody(err)
	}
	r := request{chat: chat, stream: w.Stream == nil || *w.Stream}
	l := limits{name: "num_predict", orNone: true}
	if o := w.Options; o != nil {
		l.max, l.stops = o.NumPredict, o.Stop
		if l.max != nil && *l.max < 0 { // no limit, or the context
			l.max = nil
		}
	}
	var fail *apiError
	if chat {
		r.load = len(w.Messages) == 0
		if !r.load {
			r.prompt, fail = in.countMessages("messages", w.Messages)
		}
	} else {
		r.load = w.Prompt == ""
		r.prompt, r.text = in.prompt.count(w.System)+in.prompt.count(w.Prompt), w.Prompt
	}
	if fail == nil && !r.load {
		r.script, fail = in.written(true)
	}
	if r, fail = r.planned(l, in, fail); r.load {
		r.output, r.finish = 0, "load"
	}
	return r, fail
}

type ollama struct {
	answer
	reason int // tokens of thinking
}

func newOllama(a answer) *ollama {
	o := &ollama{answer: a}
	if a.req.chat {
		o.reason = a.shape.ReasoningOf(a.req.output)
	}
	return o
}

// calls reports whether the output ends in a call, which goes out whole or not at
// all: one that was cut is text.
func (o *ollama) calls() bool { return o.called(o.reason) != "" && !o.req.cut(o.reason) }

func (o *ollama) opening() {}

func (o *ollama) tokens(from, to int) {
	for from < to {
		end := to
		if from < o.reason {
			end = min(to, o.reason)
		} else if o.calls() {
			return // they all come with the last
		}
		o.head()
		o.piece(from, end)
		o.add(`,"done":false}`)
		o.endTokens()
		from = end
	}
}

// head begins a line and adds what stands in each.
func (o *ollama) head() {
	o.beginTokens("")
	o.add(`{"model":`, o.model, `,"created_at":"`)
	o.buf = o.clock.epoch.Add(o.clock.now()).UTC().AppendFormat(o.buf, time.RFC3339Nano)
	o.add(`",`)
}

// piece adds the field with the text of tokens that share one.
func (o *ollama) piece(from, to int) {
	switch {
	case !o.req.chat:
		o.add(`"response":"`)
		o.text(from, to)
		o.add(`"`)
	case from < o.reason:
		o.add(`"message":{"role":"assistant","content":"","thinking":"`)
		o.text(from, to)
		o.add(`"}`)
	default:
		o.add(`"message":{"role":"assistant","content":"`)
		o.text(from, to)
		o.add(`"}`)
	}
}

// call adds the message with the tool call.
func (o *ollama) call() {
	o.add(`"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":`, quoted(o.called(o.reason)), `,"arguments":`)
	if s := o.req.script; s != nil {
		o.add(s.text)
	} else {
		o.add(`{"text":"`)
		o.text(o.reason, o.req.output)
		o.add(`"}`)
	}
	o.add(`}}]}`)
}

func (o *ollama) last(from, to int) {
	o.tokens(from, to)
	if o.calls() {
		o.head()
		o.call()
		o.add(`,"done":false}`)
		o.endTokens()
	}
	o.head()
	o.piece(to, to)
	o.metrics()
	o.end()
}

func (o *ollama) whole() {
	o.head()
	switch {
	case o.calls():
		o.call()
	case o.reason > 0:
		o.add(`"message":{"role":"assistant","content":"`)
		o.text(o.reason, o.req.output)
		o.add(`","thinking":"`)
		o.text(0, o.reason)
		o.add(`"}`)
	default:
		o.piece(0, o.req.output)
	}
	o.metrics()
	o.end()
}

// metrics adds the end of the last line. As in Ollama itself, what is 0 is left
// out. Loading, which takes no time here, is the wait for a slot.
func (o *ollama) metrics() {
	o.add(`,"done":true,"done_reason":"`, o.req.finish, `"`)
	if o.req.load {
		o.add(`}`)
		return
	}
	if !o.req.chat {
		o.add(`,"context":`)
		o.ids(0, min(o.req.output, 8))
	}
	prefill, decode := o.prefill(), o.decode(o.req.output)
	o.field("total_duration", int(*o.queued+prefill+decode))
	o.field("load_duration", int(*o.queued))
	if o.shape.Usage != shape.UsageNever {
		o.field("prompt_eval_count", o.req.prompt)
	}
	o.field("prompt_eval_duration", int(prefill))
	if o.shape.Usage != shape.UsageNever {
		o.field("eval_count", o.req.output)
	}
	o.field("eval_duration", int(decode))
	o.add(`}`)
}

func (o *ollama) field(name string, v int) {
	if v != 0 {
		o.add(`,"`, name, `":`)
		o.addInt(v)
	}
}
