package wire

import (
	"encoding/json"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
)

// responses is OpenAI's Responses API. Each event has a type and a sequence number. The events
// open an output item, add text to the item and close it. The last event is
// response.completed, or response.incomplete if max_output_tokens ended the output.
// There is no [DONE]. https://platform.openai.com/docs/api-reference/responses-streaming
var responses = &Dialect{
	ContentType: "text/event-stream; charset=utf-8",
	Decode:      decodeResponses,
	Encode:      func(a Answer) Encoder { return &response{chat: newChat(a)} }, ErrorBody: OpenAIError,
}

func decodeResponses(in Input) (Request, *Error) {
	var w struct {
		Input           json.RawMessage `json:"input"`
		Instructions    string          `json:"instructions"`
		MaxOutputTokens *int            `json:"max_output_tokens"`
		Stream          bool            `json:"stream"`
		// OpenAI does not have this field. vLLM reads it.
		IgnoreEOS bool `json:"ignore_eos"`
	}
	if err := json.Unmarshal(in.Body, &w); err != nil {
		return Request{}, BadBody(err)
	}
	r := Request{chat: true, Stream: w.Stream}
	instructions := in.PromptTokens.Words(w.Instructions) // first, because a prompt begins with the instructions
	var text string
	var messages []Message
	var fail *Error
	switch {
	case absent(w.Input):
		fail = BadRequest("input", "input: missing: want a string or an array of items")
	case json.Unmarshal(w.Input, &text) == nil:
		r.Prompt, r.text = in.PromptTokens.Words(text), text
	case json.Unmarshal(w.Input, &messages) == nil:
		r.Prompt, fail = in.CountMessages("input", messages)
	default:
		fail = BadRequest("input", "input: want a string or an array of items")
	}
	r.Prompt += instructions
	return r.planned(limits{name: "max_output_tokens", max: w.MaxOutputTokens, ignoreEOS: w.IgnoreEOS}, in, in.script, fail)
}

// event begins an event and renders its type and sequence number. tokens says whether the
// event carries tokens.
func (r *response) event(name string, tokens bool) {
	r.BeginEvent(name, tokens)
	r.Add(`{"type":"`, name)
	r.AddInt(`","sequence_number":`, r.sequence)
	r.sequence++
}

// itemFields renders the fields that identify the item of an event.
func (r *response) itemFields(item part) {
	r.Add(`,"item_id":"`)
	r.id(item)
	r.AddInt(`","output_index":`, r.index(item))
	if item != callPart {
		r.Add(`,"content_index":0`)
	}
}

func (r *response) Opening() {
	for _, name := range []string{"response.created", "response.in_progress"} {
		r.event(name, false)
		r.Add(`,"response":`)
		r.object("in_progress")
		r.Add(`}`)
		r.End()
	}
	r.open(r.partAt(0))
}

// open renders the events before an item's first token.
func (r *response) open(item part) {
	r.event("response.output_item.added", false)
	r.AddInt(`,"output_index":`, r.index(item))
	r.Add(`,"item":`)
	r.item(item, false)
	r.Add(`}`)
	r.End()
	if item == callPart {
		return
	}
	r.event("response.content_part.added", false)
	r.itemFields(item)
	r.Add(`,"part":`)
	r.part(item, false)
	r.Add(`}`)
	r.End()
}

// deltaEvent returns the name of the events that carry an item's text, without the suffix
// ".delta" or ".done".
func (r *response) deltaEvent(item part) string {
	return [...]string{"response.reasoning_text", "response.output_text", "response.function_call_arguments"}[item]
}

func (r *response) Tokens(from, to int) {
	for from < to {
		item := r.partAt(from)
		end := to
		if item == reasoningPart {
			end = min(to, r.reason)
		} else if from == r.reason && from > 0 {
			r.open(item)
		}
		r.event(r.deltaEvent(item)+".delta", true)
		r.itemFields(item)
		r.Add(`,"delta":"`)
		r.partText(from, end)
		r.Add(`"`)
		if item == textPart {
			r.Add(`,"logprobs":[]`)
		}
		r.Add(`}`)
		r.End()
		if item == reasoningPart && end == r.reason || item != reasoningPart && end == r.tokenCount() {
			r.close(item)
		}
		from = end
	}
}

// close renders the events after an item's last token.
func (r *response) close(item part) {
	from, to := r.span(item)
	field := `,"text":"`
	if item == callPart {
		field = `,"arguments":"`
	}
	r.event(r.deltaEvent(item)+".done", false)
	r.itemFields(item)
	r.Add(field)
	r.partText(from, to)
	r.Add(`"`)
	if item == textPart {
		r.Add(`,"logprobs":[]`)
	}
	r.Add(`}`)
	r.End()
	if item != callPart {
		r.event("response.content_part.done", false)
		r.itemFields(item)
		r.Add(`,"part":`)
		r.part(item, true)
		r.Add(`}`)
		r.End()
	}
	r.event("response.output_item.done", false)
	r.AddInt(`,"output_index":`, r.index(item))
	r.Add(`,"item":`)
	r.item(item, true)
	r.Add(`}`)
	r.End()
}

func (r *response) Last(from, to int) {
	r.Tokens(from, to)
	if to == 0 {
		r.close(textPart)
	}
	status := r.status()
	r.event("response."+status, false)
	r.Add(`,"response":`)
	r.object(status)
	r.Add(`}`)
	r.End()
}

func (r *response) Whole() {
	r.Begin("")
	r.object(r.status())
	r.End()
}

func (r *response) Failed(e *Error, named bool) {
	if !named {
		r.event("response.failed", false)
		r.Add(`,"response":`)
		r.object("failed")
		r.Add(`}`)
		r.End()
		return
	}
	r.event("error", false)
	r.Add(`,"code":"server_error","message":`, jsontext.Quote(e.message), `,"param":null}`)
	r.End()
}
