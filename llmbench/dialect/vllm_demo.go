package dialect

import "fmt"

// VLLMDemo is the API of vLLM's demonstration server (/generate of vllm.entrypoints.api_server,
// https://github.com/vllm-project/vllm/blob/main/vllm/entrypoints/api_server.py). A stream is a sequence of
// JSON documents, each terminated by a line feed, or by a NUL in versions before 2024. Each document has
// the prompt and the whole text so far, so the first delta includes the prompt. The format does not mark
// the end of the text.
type VLLMDemo struct{}

// Name returns "vllm-demo".
func (VLLMDemo) Name() string { return "vllm-demo" }

// Path returns "/generate".
func (VLLMDemo) Path(Query) string { return "/generate" }

// Body returns the JSON body for q, which must not be a conversation.
func (d VLLMDemo) Body(q Query) ([]byte, error) { return generateBody(d.Name(), q, true) }

// NewParser returns a parser for the answers of this dialect.
func (d VLLMDemo) NewParser() Parser { return newTextsParser(d.Name(), true) }

// textsParser parses the answers of [VLLMDemo] and [MindIEVLLM]. Each document has a list of texts, of
// which the parser reads only the first.
type textsParser struct {
	baseParser
	wholeTexts bool   // a document has the whole text so far, not only the new text
	eventSeen  bool   // there was an event with text
	seen       []byte // the text so far
	text       []byte // the text of the current document
	element    int    // number of texts in the list that were read
}

func newTextsParser(dialect string, wholeTexts bool) *textsParser {
	p := &textsParser{wholeTexts: wholeTexts}
	p.init(dialect, "an event", nil, steps{p.begin, p.member, p.end})
	p.flat = true
	return p
}

func (p *textsParser) Reset() {
	p.baseParser.Reset()
	p.eventSeen, p.seen = false, p.seen[:0]
}

func (p *textsParser) begin() { p.text = p.text[:0] }

func (p *textsParser) End() error {
	if !p.eventSeen {
		return fmt.Errorf("%s: %w: no text", p.dialect, ErrTruncated)
	}
	return nil
}

func (p *textsParser) member(name []byte) {
	switch string(name) {
	case "text":
	case "prompt":
		p.others++
		return
	default:
		p.otherMember(name)
		return
	}
	p.element, p.text, p.eventSeen = 0, p.text[:0], true
	p.w.Array(p.readText)
}

func (p *textsParser) readText() {
	if p.element++; p.element == 1 {
		p.text = p.w.Text(p.text)
	}
}

func (p *textsParser) end() {
	text := p.text
	if p.wholeTexts && !p.wholeBody && len(text) > 0 {
		text = textAfter(&p.seen, text)
	}
	p.d.Text = append(p.d.Text, text...)
}
