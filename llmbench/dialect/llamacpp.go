package dialect

import "encoding/json"

// LlamaCPP is the own API of llama.cpp's llama-server (/completion,
// https://github.com/ggml-org/llama.cpp/tree/master/tools/server): each event
// counts the tokens so far, and the last one, "stop": true, has the server's
// timings. There is no [DONE].
type LlamaCPP struct{}

// Name returns "llamacpp".
func (LlamaCPP) Name() string { return "llamacpp" }

// Path returns "/completion".
func (LlamaCPP) Path(Query) string { return "/completion" }

// Body returns the JSON to post for q, which must not be a conversation.
func (d LlamaCPP) Body(q Query) ([]byte, error) {
	if err := promptOrSchema(d.Name(), q); err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Prompt      string          `json:"prompt"`
		NPredict    int             `json:"n_predict"`
		IgnoreEOS   bool            `json:"ignore_eos,omitempty"`
		Temperature float64         `json:"temperature"`
		Stream      bool            `json:"stream"`
		JSONSchema  json.RawMessage `json:"json_schema,omitempty"`
	}{Prompt: q.Prompt, NPredict: q.MaxTokens, IgnoreEOS: q.FixedOutput, Stream: q.Stream, JSONSchema: q.Schema})
}

// NewParser returns a parser of answers.
func (d LlamaCPP) NewParser() Parser {
	p := new(llamaCPPParser)
	p.init(d.Name(), `"stop": true`, p.next, p.root, p.settled)
	return p
}

type llamaCPPParser struct {
	answers
	last bool // the document under way says "stop": true
}

// next forgets the document before.
func (p *llamaCPPParser) next() { p.last = false }

func (p *llamaCPPParser) root(name []byte) {
	switch string(name) {
	case "content":
		p.d.Text = p.w.text(p.d.Text[:p.start.text])
	case "stop":
		p.last = p.w.is("true")
	case "stop_type":
		if v := p.w.raw(); len(v) > 2 && v[0] == '"' {
			p.d.Finish = reason(v)
		}
	case "stopped_eos": // this and the next two: before 2025
		p.stopped("eos")
	case "stopped_limit":
		p.stopped("limit")
	case "stopped_word":
		p.stopped("word")
	case "tokens_predicted":
		p.d.Usage.OutputTokens = p.w.count()
	case "tokens_evaluated":
		p.d.Usage.PromptTokens = p.w.count()
	case "timings":
		p.state()
	default:
		p.other(name)
	}
}

func (p *llamaCPPParser) stopped(why string) {
	if p.w.is("true") {
		p.d.Finish = why
	}
}

func (p *llamaCPPParser) settled() {
	if !p.whole {
		p.running(p.d.Usage.OutputTokens)
	}
	if p.last {
		p.markDone()
	}
}
