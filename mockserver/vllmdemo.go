package mockserver

// vllmDemo is vLLM's demonstration server: lines of JSON, each with the prompt
// and all the text so far, and nothing that tells the end.
var vllmDemo = &dialect{
	stream: "text/plain; charset=utf-8", lines: true, unmarked: true,
	decode: decodeLMDeploy, // the fields are the same
	encode: func(a answer) encoder {
		q := quoted(a.req.text)
		return &vllmDemoEncoder{a, q[1 : len(q)-1]}
	},
	errorBody: plainError,
}

type vllmDemoEncoder struct {
	answer
	prompt string // in JSON
}

func (e *vllmDemoEncoder) opening() {}

func (e *vllmDemoEncoder) tokens(from, to int) {
	if from < to {
		e.beginTokens("")
		e.object(to)
		e.endTokens()
	}
}

func (e *vllmDemoEncoder) last(from, to int) { e.tokens(from, to) }

func (e *vllmDemoEncoder) whole() {
	e.begin("")
	e.object(e.req.output)
	e.end()
}

func (e *vllmDemoEncoder) object(to int) {
	e.add(`{"text":["`, e.prompt)
	e.text(0, to)
	e.add(`"]}`)
}
