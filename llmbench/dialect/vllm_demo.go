package dialect

import (
	"encoding/json"
	"fmt"
)

// VLLMDemo is vLLM's demonstration server (/generate of
// vllm.entrypoints.api_server): a JSON document a line or, before 2024, a NUL,
// each with the prompt and the whole text so far. The prompt comes back as part
// of the first delta. Nothing says that the text has ended.
type VLLMDemo struct{}

// Name returns "vllm-demo".
func (VLLMDemo) Name() string { return "vllm-demo" }

// Path returns "/generate".
func (VLLMDemo) Path(Query) string { return "/generate" }

// Body returns the JSON to post for q, which must not be a conversation.
func (d VLLMDemo) Body(q Query) ([]byte, error) {
	if err := promptOnly(d.Name(), q); err != nil {
		return nil, err
	}
	b := struct {
		Prompt      string  `json:"prompt"`
		MaxTokens   int     `json:"max_tokens"`
		MinTokens   int     `json:"min_tokens,omitempty"`
		IgnoreEOS   bool    `json:"ignore_eos,omitempty"`
		Temperature float64 `json:"temperature"`
		Stream      bool    `json:"stream"`
	}{Prompt: q.Prompt, MaxTokens: q.MaxTokens, Stream: q.Stream}
	if q.FixedOutput {
		b.MinTokens, b.IgnoreEOS = q.MaxTokens, true
	}
	return json.Marshal(b)
}

// NewParser returns a parser of answers.
func (d VLLMDemo) NewParser() Parser { return newTextsParser(d.Name(), true) }

// textsParser reads answers that are a list of texts, of which the first is the
// one asked for: those of [VLLMDemo], and of [MindIEVLLM], which do not repeat
// the text before.
type textsParser struct {
	answers
	repeats bool
	any     bool   // an event was seen
	seen    []byte // the text so far
	text    []byte // of the document under way
	n       int    // which text of the list comes next
	each    func()
}

func newTextsParser(dialect string, repeats bool) *textsParser {
	p := &textsParser{repeats: repeats}
	p.init(dialect, "an event", p.next, p.root, p.settled)
	p.each = p.one
	return p
}

func (p *textsParser) Reset() {
	p.answers.Reset()
	p.any, p.seen = false, p.seen[:0]
}

// next forgets the document before.
func (p *textsParser) next() { p.text = p.text[:0] }

func (p *textsParser) End() error {
	if !p.any {
		return fmt.Errorf("%s: %w: no text", p.dialect, ErrTruncated)
	}
	return nil
}

func (p *textsParser) root(name []byte) {
	if string(name) != "text" {
		p.other(name)
		return
	}
	p.n, p.text, p.any = 0, p.text[:0], true
	p.w.array(p.each)
}

func (p *textsParser) one() {
	if p.n++; p.n > 1 {
		p.w.raw()
		return
	}
	p.text = p.w.text(p.text)
}

func (p *textsParser) settled() {
	text := p.text
	if p.repeats && !p.whole && len(text) > 0 {
		text = beyond(&p.seen, text)
	}
	p.d.Text = append(p.d.Text, text...)
}
