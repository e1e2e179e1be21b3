package mockserver

import "net/http"

// mindieVLLM is MindIE's version of vLLM's demonstration server: documents end
// with a NUL and have what is new alone, though the content type says events. A
// whole answer has the prompt, a space and the text.
var mindieVLLM = &dialect{
	stream: "text/event-stream", lines: "\x00", unmarked: true,
	decode: func(in input) (request, *apiError) {
		r, fail := decodeLMDeploy(in) // the fields are the same
		return r, unprocessable(fail)
	},
	encode: func(a answer) encoder {
		prompt := ""
		if !a.req.stream {
			prompt = quotedText(a.req.text) + " "
		}
		return &objectEncoder{a, func(a *answer, from, to int, _ bool) {
			a.add(`{"text":["`, prompt)
			a.text(from, to)
			a.add(`"]}`)
		}}
	},
	errorBody: mindieError,
}

// mindieError is the error of all that MindIE has of its own.
func mindieError(e *apiError) string {
	kind := http.StatusText(e.status)
	switch e.status {
	case http.StatusNotFound:
		kind = "NotFoundError"
	case http.StatusUnprocessableEntity:
		kind = "Input Validation Error"
	case http.StatusInternalServerError:
		kind = "Incomplete Generation"
	}
	return typedError(e, kind)
}
