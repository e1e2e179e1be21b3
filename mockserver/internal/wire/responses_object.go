package wire

import (
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// A response is the encoder of one answer. Its parts are the output items.
type response struct {
	chat
	sequence int // sequence number of the next event
}

// span returns the indices of the item's tokens: the first is from, and the last is to-1.
func (r *response) span(item part) (from, to int) {
	if item == reasoningPart {
		return 0, r.reason
	}
	return r.reason, r.Request.Output
}

// id renders the id of an item.
func (r *response) id(item part) {
	r.AddInt([...]string{"rs_", "msg_", "fc_"}[item], int(r.Ordinal))
}

// object renders the response object.
func (r *response) object(status string) {
	r.AddInt(`{"id":"resp_`, int(r.Ordinal))
	r.AddInt(`","object":"response","created_at":`, int(r.Created.Unix()))
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
	r.Add(`,"instructions":null,"max_output_tokens":null,"metadata":{},"model":`, r.Model, `,"output":`)
	ended := status == "completed" || status == "incomplete"
	var items []part
	if ended {
		items = r.parts()
	}
	addList(&r.Answer, items, func(_ int, item part) { r.item(item, true) })
	r.Add(`,"parallel_tool_calls":true,"previous_response_id":null,"reasoning":{"effort":null,"summary":null},"store":false,` +
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
	r.AddInt(`{"input_tokens":`, r.Request.Prompt)
	r.AddInt(`,"input_tokens_details":{"cached_tokens":`, r.Cached())
	r.AddInt(`},"output_tokens":`, r.Request.Output)
	r.AddInt(`,"output_tokens_details":{"reasoning_tokens":`, r.reason)
	r.AddInt(`},"total_tokens":`, r.Request.Prompt+r.Request.Output)
	r.Add(`}`)
}

// part renders the only part of an item's content. The part has its text only if full is true.
func (r *response) part(item part, full bool) {
	if item == reasoningPart {
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
func (r *response) item(item part, full bool) {
	status := `in_progress`
	if full {
		status = `completed`
	}
	r.Add(`{"id":"`)
	r.id(item)
	if item == callPart {
		r.Add(`","type":"function_call","status":"`, status)
		r.AddInt(`","call_id":"call_`, int(r.Ordinal))
		r.Add(`","name":`, r.quotedCall(), `,"arguments":"`)
		if full {
			r.partText(r.reason, r.Request.Output)
		}
		r.Add(`"}`)
		return
	}
	if item == reasoningPart {
		r.Add(`","type":"reasoning","status":"`, status, `","summary":[],"content":[`)
	} else {
		r.Add(`","type":"message","status":"`, status, `","role":"assistant","content":[`)
	}
	if full {
		r.part(item, true)
	}
	r.Add(`]}`)
}

// status returns the status of a finished answer.
func (r *response) status() string {
	return r.finish("completed", "completed", "completed", "incomplete")
}
