package dialect

import (
	"cmp"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect/internal/jsonwalk"
)

// A baseParser is the part of a [Parser] that all dialects share. It splits an event into JSON documents
// and end markers, recognizes errors, and decides whether the answer is complete. The parser of a dialect
// embeds a baseParser, and supplies steps that read the members of a document.
type baseParser struct {
	dialect     string
	endMarker   string // the dialect's sign of a complete answer, for errors
	steps       steps
	goodReasons []string         // the finish reasons of complete answers
	flat        bool             // the text is in members of the document itself
	needsReason bool             // each answer has a finish reason, or an end marker that replaces it
	w           *jsonwalk.Walker // reads the current documents
	d           *Delta           // the delta of the current event
	input       []byte           // the current documents
	wholeBody   bool             // the current answer is not streamed

	finished      bool // the server reported why generation ended
	finishPending bool // the server announced a finish reason that has not come yet
	reopened      bool // text came after the finish reason
	doneSeen      bool // the end marker came
	textSeen      bool // there was a document with generated text
	strangeSeen   bool // there was a document that was not understood
	counted       int  // sum of the tokens that were added to Delta.Tokens

	// The current document.
	start     mark   // where the document's text begins in d
	from      int    // where the document begins in input
	endsHere  bool   // the document has the finish reason
	members   int    // number of top-level members
	others    int    // number of top-level members that are not part of an answer
	isError   bool   // the document is an error, whose text may be in errorText
	errorLike bool   // the document is an error if none of its members is part of an answer
	noReason  bool   // the document has a finish reason such as null
	errorText []byte // a text at the top level that may be the message of an error
	errorCode int    // an HTTP status of an error at the top level, or 0

	// The first member of the current document that is not known, if it may have text.
	unknown      []byte // its name, and where it is
	unknownInTop bool   // it is at the top level

	name []byte // name of a tool call

	// The timings object of llama.cpp in the current document.
	timingsJSON []byte

	onlyText struct{ from, to int } // position of the last documents' only text within them, or zero
}

// steps are the parts of parsing that differ between dialects.
type steps struct {
	begin  func()            // prepares for the next document
	member func(name []byte) // reads one top-level member, whose value the walker returns next
	end    func()            // runs after the last member of a document
}

// init initializes p.
func (p *baseParser) init(dialect, endMarker string, goodReasons []string, s steps) {
	*p = baseParser{dialect: dialect, endMarker: endMarker, goodReasons: goodReasons, steps: s}
}

func (p *baseParser) Reset() {
	p.finished, p.finishPending, p.reopened, p.doneSeen, p.counted = false, false, false, false, 0
	p.textSeen, p.strangeSeen = false, false
	for _, b := range []*[]byte{&p.errorText, &p.name, &p.timingsJSON, &p.unknown} {
		if cap(*b) > maxMemo {
			*b = nil
		}
	}
}

// errorMember reads the next value as an error, unless it is null, false, 0, or empty. If the value is true or a
// number, the message is elsewhere in the document.
func (p *baseParser) errorMember() {
	v := p.w.Raw()
	switch text := faultMessage(v); {
	case text == "":
	case text == "true", '1' <= v[0] && v[0] <= '9':
		p.isError = true
		p.errorCode = cmp.Or(p.errorCode, statusOf(v))
	default:
		p.d.Fault, p.d.FaultStatus = text, faultStatus(v)
	}
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
		p.cachedTokens()
	}
}

// cachedTokens reads the next value as the number of cached tokens. A null states nothing.
func (p *baseParser) cachedTokens() {
	if p.w.Kind() == '0' { // a number
		p.d.Usage.CachedTokens, p.d.Usage.CachedStated = p.w.Count(), true
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

// promptProgress records that llama.cpp is processing the prompt.
func (p *baseParser) promptProgress() {
	p.others++
	p.d.Progress = true
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
		p.d.Usage.CachedStated = true
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
