package dialect

import (
	"bytes"
	"encoding/json"
	"time"
)

// generateBody returns the body for the endpoint /generate of LMDeploy and MindIE, and of vLLM's demonstration
// server, which also has min_tokens. The names of its members are vLLM's names for sampling parameters.
func generateBody(dialect string, q Query, minTokens bool) ([]byte, error) {
	if err := checkPrompt(dialect, q); err != nil {
		return nil, err
	}
	b := struct {
		Prompt      string  `json:"prompt"`
		MaxTokens   int     `json:"max_tokens"`
		MinTokens   int     `json:"min_tokens,omitempty"`
		IgnoreEOS   bool    `json:"ignore_eos,omitempty"`
		Temperature float64 `json:"temperature"`
		Stream      bool    `json:"stream"`
	}{Prompt: q.Prompt, MaxTokens: q.MaxTokens, IgnoreEOS: q.FixedOutput, Stream: q.Stream}
	if minTokens && q.FixedOutput {
		b.MinTokens = q.MaxTokens
	}
	return json.Marshal(b)
}

// A textMode says what the text of an event contains.
type textMode int

const (
	unknownTexts textMode = iota // the mode of the stream is not known yet
	wholeTexts                   // all text so far
	newTexts                     // only the new text
)

// generateParser parses the answers of SGLang and LMDeploy, which have the same form.
type generateParser struct {
	baseParser
	dialectMode textMode // the mode that the dialect prescribes, or unknownTexts
	mode        textMode // the mode of the current answer
	seen        []byte   // the text so far
	begun       bool     // there was a document with the member of the text

	// The current document.
	text            []byte
	hasText, hasIDs bool
	tokenIDs        int // number of token ids
	count           int // number of tokens so far, as the server reported it
	reason          string
	reasonText      []byte
	reasonStatus    int // the HTTP status of an abort, or 0
}

func newGenerateParser(dialect string, mode textMode) *generateParser {
	p := &generateParser{dialectMode: mode}
	p.init(dialect, "[DONE]", generateReasons, steps{p.begin, p.member, p.end})
	p.flat = true
	return p
}

func (p *generateParser) Reset() {
	p.baseParser.Reset()
	p.mode, p.begun, p.seen = p.dialectMode, false, p.seen[:0]
}

func (p *generateParser) begin() {
	p.text, p.hasText, p.hasIDs, p.tokenIDs, p.count = p.text[:0], false, false, 0, 0
	p.reason, p.reasonText, p.reasonStatus = "", p.reasonText[:0], 0
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
		p.w.Object(p.metaMember)
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
		p.cachedTokens()
	case "e2e_latency":
		p.d.Timings.Total = p.w.Duration(time.Second)
	case "queue_time":
		p.d.Timings.Queue = p.w.Duration(time.Second)
	case "spec_verify_ct": // SGLang: number of steps that verified a draft
		p.d.Timings.DecodeSteps = p.w.Count()
	case "finish_reason":
		if p.w.Kind() != '{' {
			p.finishReason()
			return
		}
		p.w.Object(p.reasonMember)
	}
}

func (p *generateParser) reasonMember(name []byte) {
	switch string(name) {
	case "type":
		p.reason = p.reasonWord()
	case "message":
		p.reasonText = p.w.Text(p.reasonText[:0])
	case "status_code":
		p.reasonStatus = statusOf(p.w.Raw())
	}
}

func (p *generateParser) end() {
	if p.reason != "" {
		if p.reason == "abort" && len(p.reasonText) > 0 {
			p.d.Fault, p.d.FaultStatus = excerpt(p.reasonText), p.reasonStatus
		}
		p.finish(p.reason)
	}
	if p.hasText {
		p.d.Text = append(p.d.Text, p.newText()...)
		p.begun = true
	}
	if !p.wholeBody {
		p.countTo(p.count)
	}
}

// newText returns the new part of the current document's text. If a document has token IDs, their number
// shows what its text is. With the whole text so far, there are as many IDs as the reported count; with
// only the new text, there are fewer. Without token IDs, each text is taken as the whole text so far, until
// a text does not begin with the text before it.
func (p *generateParser) newText() []byte {
	if p.wholeBody || p.mode == newTexts {
		return p.text
	}
	if p.begun {
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
	if !bytes.HasPrefix(text, *seen) { // the server changed the end of its earlier text
		for n = 0; n < min(len(text), len(*seen)) && text[n] == (*seen)[n]; n++ {
		}
	}
	*seen = append((*seen)[:n], text[n:]...)
	return text[n:]
}
