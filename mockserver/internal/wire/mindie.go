package wire

import (
	"net/http"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
)

// mindieVLLM is MindIE's version of vLLM's demonstration server. Documents end with
// a NUL and have only their own tokens, although the content type is text/event-stream.
// A whole answer has the prompt, a space and the text.
var mindieVLLM = &Dialect{
	ContentType: "text/event-stream", DocumentEnd: "\x00", Unmarked: true,
	Decode: func(in Input) (Request, *Error) {
		r, fail := decodeLMDeploy(in) // has the same fields
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

// mindieError returns the error object of the formats that only MindIE has.
func mindieError(e *Error) string {
	kind := http.StatusText(e.Status)
	switch e.Status {
	case http.StatusNotFound:
		kind = "NotFoundError"
	case http.StatusUnprocessableEntity:
		kind = "Input Validation Error"
	case http.StatusInternalServerError:
		kind = "Incomplete Generation"
	}
	return typedError(e, kind)
}
