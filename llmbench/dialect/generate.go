package dialect

import (
	"bytes"
	"encoding/json"
	"time"
)

// generateBody returns the body for /generate of LMDeploy and MindIE, whose
// members are named like the sampling parameters of vLLM.
func generateBody(dialect string, q Query) ([]byte, error) {
	if err := checkPrompt(dialect, q); err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Prompt      string  `json:"prompt"`
		MaxTokens   int     `json:"max_tokens"`
		IgnoreEOS   bool    `json:"ignore_eos,omitempty"`
		Temperature float64 `json:"temperature"`
		Stream      bool    `json:"stream"`
	}{Prompt: q.Prompt, MaxTokens: q.MaxTokens, IgnoreEOS: q.FixedOutput, Stream: q.Stream})
}

// A textMode states what the text of an event contains.
type textMode int

const (
	unknownTexts textMode = iota // the stream has not shown its mode yet
	wholeTexts                   // all text so far
	newTexts                     // only the new text
)

// generateParser parses the answers of SGLang and LMDeploy, which have the same
// form.
type generateParser struct {
	baseParser
	dialectMode textMode // the mode that the dialect prescribes, if any
	mode        textMode // the mode of the current answer
	seen        []byte   // the text so far
	textSeen    bool     // a document with text came

	// The current document.
	text            []byte
	hasText, hasIDs bool
	tokenIDs        int // number of token ids
	count           int // stated number of tokens so far
	reason          string
	reasonText      []byte

	onMeta, onReason func(name []byte)
}

func newGenerateParser(dialect string, mode textMode) *generateParser {
	p := &generateParser{dialectMode: mode}
	p.init(dialect, "[DONE]", steps{p.begin, p.member, p.end})
	p.onMeta, p.onReason = p.metaMember, p.reasonMember
	return p
}

func (p *generateParser) Reset() {
	p.baseParser.Reset()
	p.mode, p.textSeen, p.seen = p.dialectMode, false, p.seen[:0]
}

func (p *generateParser) begin() {
	p.text, p.hasText, p.hasIDs, p.tokenIDs, p.count = p.text[:0], false, false, 0, 0
	p.reason, p.reasonText = "", p.reasonText[:0]
}

func (p *generateParser) member(name []byte) {
	switch string(name) {
	case "text":
		p.hasText = p.w.Kind() == '"'
		p.text = p.w.Text(p.text[:0])
	case "output_ids":
		p.hasIDs = p.w.Kind() == '['
		p.tokenIDs = p.w.Length()
	case "meta_info":
		p.w.Object(p.onMeta)
	default:
		p.otherMember(name)
	}
}

func (p *generateParser) metaMember(name []byte) {
	switch string(name) {
	case "prompt_tokens":
		p.d.Usage.PromptTokens = p.w.Count()
	case "completion_tokens":
		p.count = p.w.Count()
		p.d.Usage.OutputTokens = p.count
	case "cached_tokens":
		p.d.Usage.CachedTokens = p.w.Count()
	case "e2e_latency":
		p.d.Timings.Total = p.w.Duration(time.Second)
	case "queue_time":
		p.d.Timings.Queue = p.w.Duration(time.Second)
	case "spec_verify_ct": // SGLang: steps that verified a draft
		p.d.Timings.DecodeSteps = p.w.Count()
	case "finish_reason":
		if p.w.Kind() != '{' {
			p.finishReason()
			return
		}
		p.w.Object(p.onReason)
	default:
		p.w.Raw()
	}
}

func (p *generateParser) reasonMember(name []byte) {
	switch string(name) {
	case "type":
		if v := p.w.Raw(); isWord(v) {
			p.reason = word(v)
		}
	case "message":
		p.reasonText = p.w.Text(p.reasonText[:0])
	default:
		p.w.Raw()
	}
}

func (p *generateParser) end() {
	if p.reason != "" {
		if p.reason == "abort" && len(p.reasonText) > 0 {
			p.d.Fault = excerpt(p.reasonText)
		}
		p.finish(p.reason)
	}
	if p.hasText {
		p.d.Text = append(p.d.Text, p.newText()...)
		p.textSeen = true
	}
	if !p.wholeBody {
		p.countTo(p.count)
	}
}

// newText returns the new part of the current document's text. An event with the
// whole text so far has as many token ids as the stated count; an event with only
// the new text has fewer. If a server sends no token ids, an event has the whole
// text as long as each text begins with the text before.
func (p *generateParser) newText() []byte {
	if p.wholeBody || p.mode == newTexts {
		return p.text
	}
	if p.textSeen {
		switch {
		case p.hasIDs && p.count > 0 && p.tokenIDs < p.count:
			p.mode = newTexts
		case p.hasIDs && p.count > 0:
			p.mode = wholeTexts
		case p.mode == unknownTexts && !bytes.HasPrefix(p.text, p.seen):
			p.mode = newTexts
		}
		if p.mode == newTexts {
			return p.text
		}
	}
	return textAfter(&p.seen, p.text)
}

// textAfter returns the part of text that follows the longest common prefix of
// text and seen, and sets seen to text.
func textAfter(seen *[]byte, text []byte) []byte {
	n := len(*seen)
	if !bytes.HasPrefix(text, *seen) { // the server replaced the end of its text
		for n = 0; n < min(len(text), len(*seen)) && text[n] == (*seen)[n]; n++ {
		}
	}
	*seen = append((*seen)[:n], text[n:]...)
	return text[n:]
}
