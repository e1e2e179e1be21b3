package dialect

import (
	"bytes"
	"encoding/json"
	"time"
)

// SGLang is the own API of SGLang (/generate,
// https://docs.sglang.ai/basic_usage/sampling_params.html). An event repeats
// the whole text so far or, with --incremental-streaming-output, has only what
// is new; the parser tells which, and gives what is new.
type SGLang struct{}

// Name returns "sglang".
func (SGLang) Name() string { return "sglang" }

// Path returns "/generate".
func (SGLang) Path(Query) string { return "/generate" }

// Body returns the JSON to post for q, which must not be a conversation.
func (d SGLang) Body(q Query) ([]byte, error) {
	if err := promptOnly(d.Name(), q); err != nil {
		return nil, err
	}
	type params struct {
		MaxNewTokens int     `json:"max_new_tokens"`
		MinNewTokens int     `json:"min_new_tokens,omitempty"`
		IgnoreEOS    bool    `json:"ignore_eos,omitempty"`
		Temperature  float64 `json:"temperature"`
	}
	b := struct {
		Text   string `json:"text"`
		Params params `json:"sampling_params"`
		Stream bool   `json:"stream"`
	}{Text: q.Prompt, Params: params{MaxNewTokens: q.MaxTokens}, Stream: q.Stream}
	if q.FixedOutput {
		b.Params.MinNewTokens, b.Params.IgnoreEOS = q.MaxTokens, true
	}
	return json.Marshal(b)
}

// NewParser returns a parser of answers.
func (d SGLang) NewParser() Parser { return newGenerateParser(d.Name(), untold) }

// A repetition is whether events repeat the text that came before.
type repetition int

const (
	untold     repetition = iota // nothing told yet
	cumulative                   // they do
	fresh                        // they have what is new
)

// generateParser reads answers of SGLang and of LMDeploy, which look the same.
type generateParser struct {
	answers
	of   repetition // what the dialect says
	is   repetition // what this answer does
	seen []byte     // the text so far
	any  bool       // a document with text was seen

	// The document under way.
	text             []byte
	hasText, hasIDs  bool
	ids, count       int
	onMeta, onReason func(name []byte)
	why              string
	whyText          []byte
}

func newGenerateParser(dialect string, of repetition) *generateParser {
	p := &generateParser{of: of}
	p.init(dialect, "[DONE]", p.next, p.root, p.settled)
	p.onMeta, p.onReason = p.meta, p.reason
	return p
}

func (p *generateParser) Reset() {
	p.answers.Reset()
	p.is, p.any, p.seen = p.of, false, p.seen[:0]
}

// next forgets the document before.
func (p *generateParser) next() {
	p.text, p.hasText, p.hasIDs, p.ids, p.count = p.text[:0], false, false, 0, 0
	p.why, p.whyText = "", p.whyText[:0]
}

func (p *generateParser) root(name []byte) {
	switch string(name) {
	case "text":
		p.hasText = p.w.kind() == '"'
		p.text = p.w.text(p.text[:0])
	case "output_ids":
		p.hasIDs = p.w.kind() == '['
		p.ids = p.w.length()
	case "meta_info":
		p.w.object(p.onMeta)
	default:
		p.other(name)
	}
}

func (p *generateParser) meta(name []byte) {
	switch string(name) {
	case "prompt_tokens":
		p.d.Usage.PromptTokens = p.w.count()
	case "completion_tokens":
		p.count = p.w.count()
		p.d.Usage.OutputTokens = p.count
	case "cached_tokens":
		p.d.Usage.CachedTokens = p.w.count()
	case "e2e_latency":
		p.d.Timings.Total = p.w.duration(time.Second)
	case "queue_time":
		p.d.Timings.Queue = p.w.duration(time.Second)
	case "finish_reason":
		if p.w.kind() != '{' {
			p.finish()
			return
		}
		p.w.object(p.onReason)
	default:
		p.w.raw()
	}
}

func (p *generateParser) reason(name []byte) {
	switch string(name) {
	case "type":
		if v := p.w.raw(); len(v) > 2 && v[0] == '"' {
			p.why = reason(v)
		}
	case "message":
		p.whyText = p.w.text(p.whyText[:0])
	default:
		p.w.raw()
	}
}

func (p *generateParser) settled() {
	if p.why != "" {
		if p.why == "abort" && len(p.whyText) > 0 {
			p.d.Fault = excerpt(p.whyText)
		}
		p.finishFor(p.why)
	}
	if p.hasText {
		p.d.Text = append(p.d.Text, p.news()...)
		p.any = true
	}
	if !p.whole {
		p.running(p.count)
	}
}

// news returns what is new in the text of the document under way. An event that
// repeats has as many ids as tokens were generated so far; where a server sends
// no ids, its text begins with all the text before.
func (p *generateParser) news() []byte {
	if p.whole || p.is == fresh {
		return p.text
	}
	if p.any {
		switch {
		case p.hasIDs && p.count > 0 && p.ids < p.count:
			p.is = fresh
		case p.hasIDs && p.count > 0:
			p.is = cumulative
		case p.is == untold && !bytes.HasPrefix(p.text, p.seen):
			p.is = fresh
		}
		if p.is == fresh {
			return p.text
		}
	}
	return beyond(&p.seen, p.text)
}

// beyond returns what text has beyond what it has in common with seen, which
// becomes the same as text.
func beyond(seen *[]byte, text []byte) []byte {
	n := len(*seen)
	if !bytes.HasPrefix(text, *seen) { // the server took some of it back
		for n = 0; n < min(len(text), len(*seen)) && text[n] == (*seen)[n]; n++ {
		}
	}
	*seen = append((*seen)[:n], text[n:]...)
	return text[n:]
}
