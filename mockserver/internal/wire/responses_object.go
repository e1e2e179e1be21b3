package wire

import (
	"strconv"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// A response is the encoder of one answer.
type response struct {
	Answer
	reason   int // number of reasoning tokens; if above 0, the first item is the reasoning
	sequence int // sequence number of the next event
}

func newResponse(a Answer) *response {
	return &response{Answer: a, reason: a.Shape.ReasoningOf(a.Request.Output)}
}

// A responseItem is a kind of output item.
type responseItem int

const (
	reasoningItem responseItem = iota
	messageItem
	callItem
)

// itemAt returns the item that contains token i.
func (r *response) itemAt(i int) responseItem {
	switch {
	case i < r.reason:
		return reasoningItem
	case r.calls():
		return callItem
	}
	return messageItem
}

func (r *response) calls() bool { return r.calledFunction(r.reason) != "" }

// index returns the item's index in the output.
func (r *response) index(item responseItem) int {
	if item != reasoningItem && r.reason > 0 {
		return 1
	}
	return 0
}

// span returns the indices of the item's tokens: the first is from, and the last is to-1.
func (r *response) span(item responseItem) (from, to int) {
	if item == reasoningItem {
		return 0, r.reason
	}
	return r.reason, r.Request.Output
}

// id renders the id of an item.
func (r *response) id(item responseItem) {
	r.Add([...]string{"rs_", "msg_", "fc_"}[item])
	r.Buf = strconv.AppendUint(r.Buf, r.Ordinal, 10)
}

// object renders the response object.
func (r *response) object(status string) {
	r.Add(`{"id":"resp_`)
	r.Buf = strconv.AppendUint(r.Buf, r.Ordinal, 10)
	r.Add(`","object":"response","created_at":`)
	r.Buf = strconv.AppendInt(r.Buf, r.Created.Unix(), 10)
	r.Add(`,"status":"`, status, `","background":false,"error":`)
	if status == "failed" {
		r.Add(`{"code":"server_error","message":`, jsontext.Quote(Injected.message), `}`)
	} else {
		r.Add(`null`)
	}
	r.Add(`,"incomplete_details":`)
	if status == "incomplete" {
		r.Add(`{"reason":"max_output_tokens"}`)
	} else {
		r.Add(`null`)
	}
	r.Add(`,"instructions":null,"max_output_tokens":null,"metadata":{},"model":`, r.Model, `,"output":[`)
	ended := status == "completed" || status == "incomplete"
	if ended {
		if r.reason > 0 {
			r.item(reasoningItem, true)
		}
		if r.Request.Output > r.reason || r.reason == 0 {
			if r.reason > 0 {
				r.Add(`,`)
			}
			r.item(r.itemAt(r.reason), true)
		}
	}
	r.Add(`],"parallel_tool_calls":true,"previous_response_id":null,"reasoning":{"effort":null,"summary":null},"store":false,` +
		`"temperature":1.0,"text":{"format":{"type":"text"}},"tool_choice":"auto","tools":[],"top_p":1.0,"truncation":"disabled","usage":`)
	if ended && (r.Shape.Usage != shape.UsageNever || !r.Request.Stream) {
		r.usage()
	} else {
		r.Add(`null`)
	}
	r.Add(`}`)
}

// usage renders the object with the token counts.
func (r *response) usage() {
	r.Add(`{"input_tokens":`)
	r.AddInt(r.Request.Prompt)
	r.Add(`,"input_tokens_details":{"cached_tokens":`)
	r.AddInt(r.Cached())
	r.Add(`},"output_tokens":`)
	r.AddInt(r.Request.Output)
	r.Add(`,"output_tokens_details":{"reasoning_tokens":`)
	r.AddInt(r.reason)
	r.Add(`},"total_tokens":`)
	r.AddInt(r.Request.Prompt + r.Request.Output)
	r.Add(`}`)
}

// part renders the only part of an item's content. The part has its text only if full is true.
func (r *response) part(item responseItem, full bool) {
	if item == reasoningItem {
		r.Add(`{"type":"reasoning_text","text":"`)
	} else {
		r.Add(`{"type":"output_text","annotations":[],"logprobs":[],"text":"`)
	}
	if full {
		r.text(r.span(item))
	}
	r.Add(`"}`)
}

// item renders an item. The item has its content only if full is true.
func (r *response) item(item responseItem, full bool) {
	status := `in_progress`
	if full {
		status = `completed`
	}
	r.Add(`{"id":"`)
	r.id(item)
	if item == callItem {
		r.Add(`","type":"function_call","status":"`, status, `","call_id":"call_`)
		r.Buf = strconv.AppendUint(r.Buf, r.Ordinal, 10)
		r.Add(`","name":`, jsontext.Quote(r.calledFunction(r.reason)), `,"arguments":"`)
		if full {
			r.itemText(item, r.reason, r.Request.Output)
		}
		r.Add(`"}`)
		return
	}
	if item == reasoningItem {
		r.Add(`","type":"reasoning","status":"`, status, `","summary":[],"content":[`)
	} else {
		r.Add(`","type":"message","status":"`, status, `","role":"assistant","content":[`)
	}
	if full {
		r.part(item, true)
	}
	r.Add(`]}`)
}

// itemText renders tokens of one item. In a call item the tokens are a part of the call's
// arguments.
func (r *response) itemText(item responseItem, from, to int) {
	if item == callItem {
		r.callText(r.reason, from, to)
		return
	}
	r.text(from, to)
}

// status returns the status of a finished answer.
func (r *response) status() string {
	if r.Request.Finish == "length" && (!r.calls() || r.Request.script != nil) {
		return "incomplete"
	}
	return "completed"
}
