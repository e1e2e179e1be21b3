package mockserver

import (
	"strconv"

	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// object adds the whole response.
func (r *response) object(status string) {
	r.add(`{"id":"resp_`)
	r.buf = strconv.AppendUint(r.buf, r.ordinal, 10)
	r.add(`","object":"response","created_at":`)
	r.buf = strconv.AppendInt(r.buf, r.created.Unix(), 10)
	r.add(`,"status":"`, status, `","background":false,"error":`)
	if status == "failed" {
		r.add(`{"code":"server_error","message":`, quoted(errInjected.message), `}`)
	} else {
		r.add(`null`)
	}
	r.add(`,"incomplete_details":`)
	if status == "incomplete" {
		r.add(`{"reason":"max_output_tokens"}`)
	} else {
		r.add(`null`)
	}
	r.add(`,"instructions":null,"max_output_tokens":null,"metadata":{},"model":`, r.model, `,"output":[`)
	ended := status == "completed" || status == "incomplete"
	if ended {
		if r.reason > 0 {
			r.item(reasoningItem, true)
		}
		if r.req.output > r.reason || r.reason == 0 {
			if r.reason > 0 {
				r.add(`,`)
			}
			r.item(r.itemAt(r.reason), true)
		}
	}
	r.add(`],"parallel_tool_calls":true,"previous_response_id":null,"reasoning":{"effort":null,"summary":null},"store":false,` +
		`"temperature":1.0,"text":{"format":{"type":"text"}},"tool_choice":"auto","tools":[],"top_p":1.0,"truncation":"disabled","usage":`)
	if ended && (r.shape.Usage != shape.UsageNever || !r.req.stream) {
		r.usage()
	} else {
		r.add(`null`)
	}
	r.add(`}`)
}

func (r *response) usage() {
	r.add(`{"input_tokens":`)
	r.addInt(r.req.prompt)
	r.add(`,"input_tokens_details":{"cached_tokens":`)
	r.addInt(r.cached())
	r.add(`},"output_tokens":`)
	r.addInt(r.req.output)
	r.add(`,"output_tokens_details":{"reasoning_tokens":`)
	r.addInt(r.reason)
	r.add(`},"total_tokens":`)
	r.addInt(r.req.prompt + r.req.output)
	r.add(`}`)
}

func (r *response) failed(e *apiError, named bool) {
	if !named {
		r.event("response.failed", false)
		r.add(`,"response":`)
		r.object("failed")
		r.add(`}`)
		r.end()
		return
	}
	r.event("error", false)
	r.add(`,"code":"server_error","message":`, quoted(e.message), `,"param":null}`)
	r.end()
}
