package wire

import "github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"

// vllmDemo is vLLM's demonstration server. It sends lines of JSON. Each line has the prompt and
// the whole text so far. There is no end marker.
var vllmDemo = &Dialect{
	ContentType: "text/plain; charset=utf-8", DocumentEnd: "\n", Unmarked: true,
	Decode: decodeLMDeploy, // the fields are the same
	Encode: func(a Answer) Encoder {
		prompt := jsontext.Inner(a.Request.text)
		return &objectEncoder{a, func(a *Answer, _, to int, _ bool) {
			a.Add(`{"text":["`, prompt)
			a.text(0, to)
			a.Add(`"]}`)
		}}
	},
	ErrorBody: PlainError,
}
