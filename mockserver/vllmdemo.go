package mockserver

// vllmDemo is vLLM's demonstration server: lines of JSON, each with the prompt
// and all the text so far, and nothing that tells the end.
var vllmDemo = &dialect{
	stream: "text/plain; charset=utf-8", lines: "\n", unmarked: true,
	decode: decodeLMDeploy, // the fields are the same
	encode: func(a answer) encoder {
		prompt := quotedText(a.req.text)
		return &objectEncoder{a, func(a *answer, _, to int, _ bool) {
			a.add(`{"text":["`, prompt)
			a.text(0, to)
			a.add(`"]}`)
		}}
	},
	errorBody: plainError,
}

// quotedText returns a string in JSON without its quotes.
func quotedText(s string) string {
	q := quoted(s)
	return q[1 : len(q)-1]
}
