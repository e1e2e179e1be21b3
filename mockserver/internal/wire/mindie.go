package wire

import (
	"cmp"
	"net/http"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
)

// mindieVLLM is MindIE's version of vLLM's demonstration server. The content type is
// text/event-stream, but documents end with a NUL byte. Unlike vLLM's, each document has only
// the new tokens. A whole answer has the prompt, a space and the text.
var mindieVLLM = &Dialect{
	ContentType: "text/event-stream", DocumentEnd: "\x00", Unmarked: true,
	Decode: func(in Input) (Request, *Error) {
		r, fail := decodeLMDeploy(in) // the fields are the same
		return r, unprocessable(fail)
	},
	Encode: func(a Answer) Encoder {
		prompt := ""
		if !a.Request.Stream {
			prompt = jsontext.Inner(a.Request.text) + " "
		}
		return &objectEncoder{a, func(a *Answer, from, to int, _ bool) {
			a.Add(`{"text":["`, prompt)
			a.text(from, to)
			a.Add(`"]}`)
		}}
	},
	ErrorBody: mindieError,
}

// mindieError returns MindIE's error object for MindIE's own formats.
func mindieError(e *Error) string {
	kinds := map[int]string{404: "NotFoundError", 422: "Input Validation Error", 500: "Incomplete Generation"}
	return typedError(e, cmp.Or(kinds[e.Status], http.StatusText(e.Status)))
}
