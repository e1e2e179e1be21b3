package dialect

import (
	"bytes"
	"cmp"
	"fmt"
	"sync"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect/internal/jsonwalk"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// A baseParser is the part of a [Parser] that all dialects share. It splits an event into JSON documents
// and end markers, recognizes errors, and decides whether the answer is complete. The parser of a dialect
// embeds a baseParser, and supplies steps that read the members of a document.
type baseParser struct {
	dialect   string
	endMarker string // the dialect's sign of a complete answer, for errors
	steps     steps
	w         *jsonwalk.Walker // reads the current documents
	d         *Delta           // the delta of the current event
	wholeBody bool             // the current answer is not streamed

	finished      bool // the server reported why generation ended
	finishPending bool // the server announced a finish reason that has not come yet
	doneSeen      bool // [DONE] came
	counted       int  // sum of the tokens that were added to Delta.Tokens

	// The current document.
	start     mark   // where the document's text begins in d
	isError   bool   // the document is an error, whose text may be in errorText
	errorText []byte // "message" at the top level

	name []byte // name of a tool call

	// The timings object of llama.cpp in the current document.
	timingsJSON []byte

	onlyText struct{ from, to int } // position of the last documents' only text within them, or zero
}

// walkers holds walkers that are not in use. A parser needs none while it waits for the next event.
var walkers = sync.Pool{New: func() any { return jsonwalk.New() }}

// steps are the parts of parsing that differ between dialects.
type steps struct {
	begin  func()            // prepares for the next document
	member func(name []byte) // reads one top-level member, whose value the walker returns next
	end    func()            // runs after the last member of a document
}

// init initializes p.
func (p *baseParser) init(dialect, endMarker string, s steps) {
	*p = baseParser{dialect: dialect, endMarker: endMarker, steps: s}
}

func (p *baseParser) Reset() {
	p.finished, p.finishPending, p.doneSeen, p.counted = false, false, false, 0
}

var (
	doneMarker   = []byte("[DONE]")
	messageEvent = []byte("message")
	pingEvent    = []byte("ping")
	errorEvent   = []byte("error")
)

func (p *baseParser) Event(e sse.Event, d *Delta) error {
	d.reset()
	p.wholeBody = false
	payload := e.Data
	if n := len(payload); n == 0 || payload[n-1] != '}' { // there is more than a document
		payload = bytes.TrimSpace(payload)
		if bytes.HasSuffix(payload, doneMarker) { // [DONE] alone, or after the last document
			d.Done, p.doneSeen = true, true
			payload = bytes.TrimSpace(payload[:len(payload)-len(doneMarker)])
		}
	}
	isErrorEvent := bytes.Equal(e.Type, errorEvent)
	if len(payload) == 0 && !isErrorEvent || bytes.Equal(e.Type, pingEvent) {
		return nil
	}
	err := p.documents(payload, d)
	if isErrorEvent { // the event type is enough to make this an error
		d.Fault = cmp.Or(d.Fault, faultMessage(payload), "an error event without data")
		return nil
	}
	if err != nil && e.Unterminated {
		return fmt.Errorf("%s: %w within an event: %q", p.dialect, ErrTruncated, excerpt(payload))
	}
	if err != nil {
		return fmt.Errorf("%s: malformed event: %w: %q", p.dialect, err, excerpt(payload))
	}
	return nil
}

func (p *baseParser) Body(body []byte, d *Delta) error {
	d.reset()
	p.wholeBody = true
	if err := p.documents(body, d); err != nil {
		return fmt.Errorf("%s: malformed body: %w: %q", p.dialect, err, excerpt(body))
	}
	return nil
}

func (p *baseParser) End() error {
	switch {
	case p.finished || p.doneSeen && !p.finishPending:
		return nil
	case p.doneSeen:
		return fmt.Errorf("%s: %w: [DONE] came before the finish reason", p.dialect, ErrTruncated)
	}
	return fmt.Errorf("%s: %w: neither a finish reason nor %s", p.dialect, ErrTruncated, p.endMarker)
}

// reasonSeen returns an error unless the server reported why generation ended. name is the dialect's name for
// that. reasonSeen is the End of dialects without an end marker.
func (p *baseParser) reasonSeen(name string) error {
	if !p.finished {
		return fmt.Errorf("%s: %w: no %s", p.dialect, ErrTruncated, name)
	}
	return nil
}

// documents parses text into d. The text is usually one JSON document, but some gateways send several in a
// row. If a document is malformed, its generated text is dropped.
func (p *baseParser) documents(text []byte, d *Delta) error {
	p.d, p.w = d, walkers.Get().(*jsonwalk.Walker)
	defer walkers.Put(p.w)
	p.beginDocument()
	err := p.w.Objects(text, p.steps.member, p.endDocument)
	p.onlyText.from, p.onlyText.to = p.w.OnlyText()
	if err != nil {
		d.rewind(p.start)
	}
	return err
}

func (p *baseParser) beginDocument() {
	p.start = p.d.mark()
	p.isError, p.errorText, p.timingsJSON = false, p.errorText[:0], p.timingsJSON[:0]
	p.steps.begin()
}

// endDocument finishes the current document and begins the next.
func (p *baseParser) endDocument() {
	p.steps.end()
	if len(p.timingsJSON) > 0 && (p.finished || p.wholeBody) {
		outer := p.w
		p.w = walkers.Get().(*jsonwalk.Walker)
		p.w.Objects(p.timingsJSON, p.timingsMember, func() {}) // no error: the document around it was valid
		walkers.Put(p.w)
		p.w = outer
	}
	if p.isError && p.d.Fault == "" {
		p.d.Fault = cmp.Or(excerpt(p.errorText), "an error without a message")
	}
	if p.d.generatedSince(p.start) {
		p.d.Chunks++
	}
	p.beginDocument()
}

// otherMember reads a top-level member that the dialect does not use. In every dialect, a server may report
// an error in two ways: in a member "error", or with a document that is itself an error object.
func (p *baseParser) otherMember(name []byte) {
	switch string(name) {
	case "error":
		if text := faultMessage(p.w.Raw()); text != "" {
			p.d.Fault = text
		}
	case "object":
		p.isError = p.isError || p.w.Is(`"error"`)
	case "message":
		p.errorText = p.w.Text(p.errorText[:0])
	}
}

// ownMessage reads the top-level member "message" of a dialect whose errors are documents with a text there.
func (p *baseParser) ownMessage() {
	p.isError = p.isError || p.w.Kind() == '"'
	p.errorText = p.w.Text(p.errorText[:0])
}

// object reads the next value if it is an object.
func (p *baseParser) object(member func(name []byte)) {
	if p.w.Kind() == '{' {
		p.w.Object(member)
	}
}

// toolName reads the next value as the name of a tool call that begins in the event.
func (p *baseParser) toolName() {
	p.name = p.w.Text(p.name[:0])
	p.d.addToolName(p.name)
}

// word reads the next value into dst if it is a string that is not empty. It reports whether it is.
func (p *baseParser) word(dst *string) bool {
	v := p.w.Raw()
	if !isWord(v) {
		return false
	}
	*dst = word(v)
	return true
}

// finishReason reads the next value as the finish reason. The values null and "" mean that a finish reason
// will follow later.
func (p *baseParser) finishReason() {
	if v := p.w.Raw(); isWord(v) {
		p.finish(word(v))
	} else {
		p.finishPending = true
	}
}

// finish records the finish reason. A reason is a fault if the server gave the answer up, filtered it, or says
// that it is malformed. An answer that was stopped by a filter is shorter than the model's, and its text must not
// be used. Sources:
//
//	https://platform.openai.com/docs/api-reference/chat/object
//	https://platform.claude.com/docs/en/test-and-evaluate/strengthen-guardrails/handle-streaming-refusals
//	https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
func (p *baseParser) finish(reason string) {
	p.d.Finish = reason
	p.finished = true
	switch reason {
	case "abort", "error", // vLLM, SGLang
		"content_filter",                                                                           // OpenAI
		"refusal",                                                                                  // Anthropic
		"guardrail_intervened", "content_filtered", "malformed_model_output", "malformed_tool_use": // Amazon Bedrock
		p.faultyFinish()
	}
}

// faultyFinish records that the finish reason is a fault, unless an error has come before it.
func (p *baseParser) faultyFinish() {
	if p.d.Fault == "" {
		p.d.Fault = "finish reason " + p.d.Finish
	}
}

// markDone records that the current document is the dialect's end marker.
func (p *baseParser) markDone() { p.d.Done, p.finished = true, true }

// countTo records that the server has generated total tokens so far.
func (p *baseParser) countTo(total int) {
	if total > p.counted {
		p.d.Tokens += total - p.counted
		p.counted = total
	}
}

// cachedTokensMember reads a member of the details of OpenAI's usage object.
func (p *baseParser) cachedTokensMember(name []byte) {
	if string(name) == "cached_tokens" {
		p.d.Usage.CachedTokens = p.w.Count()
	}
}

// reasoningTokensMember reads a member of the details of the output tokens in OpenAI's usage
// object (https://platform.openai.com/docs/api-reference/chat/object).
func (p *baseParser) reasoningTokensMember(name []byte) {
	if string(name) == "reasoning_tokens" {
		p.setReasoningTokens()
	}
}

// setReasoningTokens reads the next value as the number of reasoning tokens. A server may report the number
// in two places of one usage object, and one of them may be 0.
func (p *baseParser) setReasoningTokens() {
	p.d.Usage.ReasoningTokens = max(p.d.Usage.ReasoningTokens, p.w.Count())
}

// timings keeps the timings object that llama.cpp adds in all of its dialects. endDocument parses the
// object, but only after the end of generation: earlier timings are provisional, and parsing them would
// take longer than parsing the rest of the event.
func (p *baseParser) timings() { p.timingsJSON = append(p.timingsJSON[:0], p.w.Raw()...) }

// timingsMember reads a member of the timings object of llama.cpp.
func (p *baseParser) timingsMember(name []byte) {
	t, w := &p.d.Timings, p.w
	switch string(name) {
	case "cache_n":
		t.CachedTokens = w.Count()
	case "prompt_n":
		t.PromptTokens = w.Count()
	case "prompt_ms":
		t.Prompt = w.Duration(time.Millisecond)
	case "predicted_n":
		t.OutputTokens = w.Count()
	case "predicted_ms":
		t.Predict = w.Duration(time.Millisecond)
	case "draft_n":
		t.DraftTokens = w.Count()
	case "draft_n_accepted":
		t.AcceptedTokens = w.Count()
	}
}
