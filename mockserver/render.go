package mockserver

import (
	"encoding/json"
	"strconv"
)

// A renderer builds the bytes of one request's answer, as vLLM writes them. What
// stays the same from event to event is built once, and so is the buffer, so an
// event allocates nothing.
type renderer struct {
	req   request
	shape Shape
	id    []byte // `"id":…,"object":`
	made  []byte // `,"created":…,"model":…,"choices":[`
	head  []byte // an event up to its text
	tail  []byte // and from there on, in all chunks but the last
	buf   []byte // what the next Write sends
}

// newRenderer makes the renderer of a request; model is a JSON string.
func newRenderer(req request, shape Shape, ordinal uint64, created int64, model []byte) *renderer {
	r := &renderer{req: req, shape: shape}
	kind, chunk := `"id":"cmpl-`, `"text_completion"`
	if req.chat {
		kind, chunk = `"id":"chatcmpl-`, `"chat.completion.chunk"`
	}
	r.id = strconv.AppendUint([]byte(kind), ordinal, 10)
	r.id = append(r.id, `","object":`...)
	r.made = strconv.AppendInt([]byte(`,"created":`), created, 10)
	r.made = append(r.made, `,"model":`...)
	r.made = append(r.made, model...)
	r.made = append(r.made, `,"choices":[`...)
	if !req.stream {
		return r
	}
	r.head = append(r.head, shape.data()...)
	r.head = append(r.head, '{')
	r.head = append(r.head, r.id...)
	r.head = append(r.head, chunk...)
	r.head = append(r.head, r.made...)
	r.made = r.head[:len(r.head):len(r.head)] // an event up to its choices
	if req.chat {
		r.head = append(r.head, `{"index":0,"delta":{"content":"`...)
		r.tail = append(r.tail, `"},"logprobs":null,"finish_reason":null,"token_ids":null}]}`...)
	} else {
		r.head = append(r.head, `{"index":0,"text":"`...)
		r.tail = append(r.tail, `","logprobs":null,"finish_reason":null,"stop_reason":null,"prompt_token_ids":null,"token_ids":null}]}`...)
	}
	r.tail = append(r.tail, shape.eol()+shape.eol()...)
	r.buf = make([]byte, 0, 2*len(r.head)+len(r.tail)+256)
	return r
}

// add appends to the buffer.
func (r *renderer) add(parts ...string) {
	for _, p := range parts {
		r.buf = append(r.buf, p...)
	}
}

// end ends an event.
func (r *renderer) end() { r.add(r.shape.eol(), r.shape.eol()) }

// role adds the chunk of a chat that has a role and no text.
func (r *renderer) role() {
	r.buf = append(r.buf, r.made...)
	r.add(`{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"prompt_token_ids":null}`)
	r.end()
}

// tokens adds the chunk with tokens from up to, not including, to.
func (r *renderer) tokens(from, to int) {
	r.ping()
	r.buf = append(r.buf, r.head...)
	r.buf = appendWords(r.buf, from, to)
	r.buf = append(r.buf, r.tail...)
}

// last adds the chunk with the last tokens and all that follows it.
func (r *renderer) last(from, to int, done bool) {
	r.ping()
	r.buf = append(r.buf, r.head...)
	r.buf = appendWords(r.buf, from, to)
	if r.req.chat {
		r.add(`"},"logprobs":null,"finish_reason":"`, r.req.finish, `","stop_reason":`, r.stopReason(), `,"token_ids":null}]`)
	} else {
		r.add(`","logprobs":null,"finish_reason":"`, r.req.finish, `","stop_reason":`, r.stopReason(), `,"prompt_token_ids":null,"token_ids":null}]`)
	}
	usage := r.req.usage && r.shape.Usage != UsageNever
	if usage && r.shape.Usage == UsageLast {
		r.usage()
	}
	r.add(`}`)
	r.end()
	if usage && r.shape.Usage != UsageLast {
		r.buf = append(r.buf, r.made...)
		r.add(`]`)
		r.usage()
		r.add(`}`)
		r.end()
	}
	if done {
		r.done()
	}
}

func (r *renderer) done() {
	r.add(r.shape.data(), `[DONE]`)
	r.end()
}

func (r *renderer) ping() {
	if r.shape.Ping {
		r.add(`: ping`)
		r.end()
	}
}

// errorEvent adds the event of a server that failed after its status was sent.
func (r *renderer) errorEvent() {
	r.add(r.shape.data(), string(errInjected.body()))
	r.end()
	r.done()
}

// malformed adds an event whose data is an object that breaks off.
func (r *renderer) malformed() {
	r.buf = append(r.buf, r.made...)
	r.add(`{"index":0,`)
	r.end()
}

// whole adds the answer to a request that is not streamed.
func (r *renderer) whole() {
	object, text, after := `"text_completion"`, `{"index":0,"text":"`, `"`
	if r.req.chat {
		object, text, after = `"chat.completion"`, `{"index":0,"message":{"role":"assistant","content":"`, `"}`
	}
	r.add(`{`, string(r.id), object, string(r.made), text)
	r.buf = appendWords(r.buf, 0, r.req.output)
	r.add(after, `,"logprobs":null,"finish_reason":"`, r.req.finish, `","stop_reason":`, r.stopReason(), `}]`)
	r.usage()
	r.add(`}`)
}

// usage adds the field with the token counts.
func (r *renderer) usage() {
	r.add(`,"usage":{"prompt_tokens":`)
	r.buf = strconv.AppendInt(r.buf, int64(r.req.prompt), 10)
	r.add(`,"total_tokens":`)
	r.buf = strconv.AppendInt(r.buf, int64(r.req.prompt+r.req.output), 10)
	r.add(`,"completion_tokens":`)
	r.buf = strconv.AppendInt(r.buf, int64(r.req.output), 10)
	r.add(`}`)
}

// stopReason is the stop string that ended the output, in JSON, or null.
func (r *renderer) stopReason() string {
	if r.req.stop == "" {
		return "null"
	}
	b, err := json.Marshal(r.req.stop)
	if err != nil {
		panic(err) // a string: cannot happen
	}
	return string(b)
}
