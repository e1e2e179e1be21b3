package mockserver

import (
	"encoding/json"
	"strconv"
)

// responses is OpenAI's /v1/responses: events with a type and a number, of items
// that are opened, filled and closed. The last is response.completed, or
// response.incomplete where max_output_tokens ended the output; no [DONE].
var responses = &dialect{
	stream: "text/event-stream; charset=utf-8",
	decode: decodeResponses,
	encode: func(a answer) encoder { return newResponse(a) }, errorBody: openaiError,
}

func decodeResponses(in input) (request, *apiError) {
	var w struct {
		Input           json.RawMessage `json:"input"`
		Instructions    string          `json:"instructions"`
		MaxOutputTokens *int            `json:"max_output_tokens"`
		Stream          bool            `json:"stream"`
		// Not OpenAI's, but vLLM takes it here too.
		IgnoreEOS bool `json:"ignore_eos"`
	}
	if err := json.Unmarshal(in.body, &w); err != nil {
		return request{}, badBody(err)
	}
	r := request{chat: true, stream: w.Stream}
	instructions := in.prompt.count(w.Instructions) // they come first
	var text string
	var messages []message
	var fail *apiError
	switch {
	case absent(w.Input):
		fail = badRequest("input", "input: missing, want a string or an array of items")
	case json.Unmarshal(w.Input, &text) == nil:
		r.prompt, r.text = in.prompt.count(text), text
	case json.Unmarshal(w.Input, &messages) == nil:
		r.prompt, fail = in.countMessages("input", messages)
	default:
		fail = badRequest("input", "input: want a string or an array of items")
	}
	r.prompt += instructions
	if fail == nil {
		r.script, fail = in.written(false)
	}
	return r.planned(limits{name: "max_output_tokens", max: w.MaxOutputTokens, ignoreEOS: w.IgnoreEOS}, in, fail)
}

// A response encodes one answer.
type response struct {
	answer
	reason   int // tokens in the item of reasoning, which is the first if there is one
	sequence int // of the next event
}

func newResponse(a answer) *response {
	return &response{answer: a, reason: a.shape.ReasoningOf(a.req.output)}
}

// A responseItem is a kind of output item.
type responseItem int

const (
	reasoningItem responseItem = iota
	messageItem
	callItem
)

// itemAt is the kind of item that token i is in.
func (r *response) itemAt(i int) responseItem {
	switch {
	case i < r.reason:
		return reasoningItem
	case r.calls():
		return callItem
	}
	return messageItem
}

func (r *response) calls() bool { return r.called(r.reason) != "" }

// index is the item's place in the output.
func (r *response) index(item responseItem) int {
	if item != reasoningItem && r.reason > 0 {
		return 1
	}
	return 0
}

// span returns the tokens that are in the item.
func (r *response) span(item responseItem) (from, to int) {
	if item == reasoningItem {
		return 0, r.reason
	}
	return r.reason, r.req.output
}

// event begins an event with its type and number.
func (r *response) event(name string, tokens bool) {
	if tokens {
		r.beginTokens(name)
	} else {
		r.begin(name)
	}
	r.add(`{"type":"`, name, `","sequence_number":`)
	r.addInt(r.sequence)
	r.sequence++
}

// at adds the fields that say which item an event is about.
func (r *response) at(item responseItem) {
	r.add(`,"item_id":"`)
	r.id(item)
	r.add(`","output_index":`)
	r.addInt(r.index(item))
	if item != callItem {
		r.add(`,"content_index":0`)
	}
}

func (r *response) id(item responseItem) {
	r.add([...]string{"rs_", "msg_", "fc_"}[item])
	r.buf = strconv.AppendUint(r.buf, r.ordinal, 10)
}

func (r *response) opening() {
	for _, name := range []string{"response.created", "response.in_progress"} {
		r.event(name, false)
		r.add(`,"response":`)
		r.object("in_progress")
		r.add(`}`)
		r.end()
	}
	r.open(r.itemAt(0))
}

// open adds the events before an item's first token.
func (r *response) open(item responseItem) {
	r.event("response.output_item.added", false)
	r.add(`,"output_index":`)
	r.addInt(r.index(item))
	r.add(`,"item":`)
	r.item(item, false)
	r.add(`}`)
	r.end()
	if item == callItem {
		return
	}
	r.event("response.content_part.added", false)
	r.at(item)
	r.add(`,"part":`)
	r.part(item, false)
	r.add(`}`)
	r.end()
}

// kind is what the events with an item's text are called.
func (r *response) kind(item responseItem) string {
	return [...]string{"response.reasoning_text", "response.output_text", "response.function_call_arguments"}[item]
}

func (r *response) tokens(from, to int) {
	for from < to {
		item := r.itemAt(from)
		end := to
		if item == reasoningItem {
			end = min(to, r.reason)
		} else if from == r.reason && from > 0 {
			r.open(item)
		}
		r.event(r.kind(item)+".delta", true)
		r.at(item)
		r.add(`,"delta":"`)
		r.argument(item, from, end)
		r.add(`"`)
		if item == messageItem {
			r.add(`,"logprobs":[]`)
		}
		r.add(`}`)
		r.endTokens()
		if item == reasoningItem && end == r.reason || item != reasoningItem && end == r.lastToken() {
			r.close(item)
		}
		from = end
	}
}

// argument adds the text of tokens that share an item, which is the JSON of a
// tool call's arguments if it is that.
func (r *response) argument(item responseItem, from, to int) {
	if item == callItem {
		r.callText(r.reason, from, to)
		return
	}
	r.text(from, to)
}

// close adds the events after an item's last token.
func (r *response) close(item responseItem) {
	from, to := r.span(item)
	field := `,"text":"`
	if item == callItem {
		field = `,"arguments":"`
	}
	r.event(r.kind(item)+".done", false)
	r.at(item)
	r.add(field)
	r.argument(item, from, to)
	r.add(`"`)
	if item == messageItem {
		r.add(`,"logprobs":[]`)
	}
	r.add(`}`)
	r.end()
	if item != callItem {
		r.event("response.content_part.done", false)
		r.at(item)
		r.add(`,"part":`)
		r.part(item, true)
		r.add(`}`)
		r.end()
	}
	r.event("response.output_item.done", false)
	r.add(`,"output_index":`)
	r.addInt(r.index(item))
	r.add(`,"item":`)
	r.item(item, true)
	r.add(`}`)
	r.end()
}

// part adds the one part of an item's content.
func (r *response) part(item responseItem, full bool) {
	if item == reasoningItem {
		r.add(`{"type":"reasoning_text","text":"`)
	} else {
		r.add(`{"type":"output_text","annotations":[],"logprobs":[],"text":"`)
	}
	if full {
		r.text(r.span(item))
	}
	r.add(`"}`)
}

// item adds an item.
func (r *response) item(item responseItem, full bool) {
	status := `in_progress`
	if full {
		status = `completed`
	}
	r.add(`{"id":"`)
	r.id(item)
	if item == callItem {
		r.add(`","type":"function_call","status":"`, status, `","call_id":"call_`)
		r.buf = strconv.AppendUint(r.buf, r.ordinal, 10)
		r.add(`","name":`, quoted(r.called(r.reason)), `,"arguments":"`)
		if full {
			r.argument(item, r.reason, r.req.output)
		}
		r.add(`"}`)
		return
	}
	if item == reasoningItem {
		r.add(`","type":"reasoning","status":"`, status, `","summary":[],"content":[`)
	} else {
		r.add(`","type":"message","status":"`, status, `","role":"assistant","content":[`)
	}
	if full {
		r.part(item, true)
	}
	r.add(`]}`)
}

func (r *response) last(from, to int) {
	r.tokens(from, to)
	if to == 0 {
		r.close(messageItem)
	}
	status := r.status()
	r.event("response."+status, false)
	r.add(`,"response":`)
	r.object(status)
	r.add(`}`)
	r.end()
}

// status is how the answer ended.
func (r *response) status() string {
	if r.req.finish == "length" && (!r.calls() || r.req.script != nil) {
		return "incomplete"
	}
	return "completed"
}

func (r *response) whole() {
	r.begin("")
	r.object(r.status())
	r.end()
}
