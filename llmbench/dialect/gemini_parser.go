package dialect

import "github.com/seed-2b9cec6d/llmbench/llmbench/dialect/internal/jsonwalk"

// geminiParser parses the responses of Gemini models. A stream and a whole answer have responses of the same
// form. The parser reads only the candidate with index 0, because a request never asks for more than one.
type geminiParser struct {
	baseParser
	thoughtSeen  bool // there was a response with the text of thoughts
	runningCount bool // the first response with text had a token count, so all responses have one

	// The current response.
	candidates, thoughts int // tokens so far

	// The current candidate.
	index          int
	reason         string
	candidateStart mark // where the text of the candidate begins

	// The current part.
	text    []byte
	thought bool
}

func newGeminiParser(dialect string) *geminiParser {
	p := new(geminiParser)
	p.init(dialect, "", geminiReasons, steps{p.begin, p.member, p.end})
	p.needsReason = true
	return p
}

func (p *geminiParser) Reset() {
	p.baseParser.Reset()
	p.thoughtSeen, p.runningCount = false, false
}

// End requires a finish reason, because the format has no end marker. Some gateways add [DONE].
func (p *geminiParser) End() error { return p.reasonSeen("finish reason") }

func (p *geminiParser) begin() { p.candidates, p.thoughts = 0, 0 }

func (p *geminiParser) member(name []byte) {
	switch string(name) {
	case "candidates":
		p.d.rewind(p.start) // if there are two members "candidates", the second is used
		p.w.Array(p.candidate)
	case "modelVersion", "responseId", "createTime", "modelStatus", "sdkHttpResponse":
		p.others++
	case "usageMetadata":
		p.w.Object(p.usageMember)
	case "promptFeedback":
		p.w.Object(p.feedbackMember)
	default:
		p.otherMember(name)
	}
}

// candidate reads a candidate. The index may be its last member, so the other members are read first, and
// undone if the index is not 0.
func (p *geminiParser) candidate() {
	p.candidateStart = p.d.mark()
	p.index, p.reason = 0, ""
	p.w.Object(p.candidateMember)
	switch {
	case p.index != 0:
		p.d.rewind(p.candidateStart)
	case p.reason != "":
		p.finish(p.reason)
	}
}

func (p *geminiParser) candidateMember(name []byte) {
	switch string(name) {
	case "index":
		p.index = p.w.Count()
	case "content":
		p.d.rewind(p.candidateStart)
		p.w.Object(p.contentMember)
	case "finishReason":
		p.reason = p.reasonWord()
	case "finishMessage", "safetyRatings", "citationMetadata", "tokenCount", "avgLogprobs", "logprobsResult",
		"groundingMetadata", "groundingAttributions", "urlContextMetadata", "urlRetrievalMetadata":
	default:
		p.unknownMember("candidates[].", name)
	}
}

func (p *geminiParser) contentMember(name []byte) {
	switch string(name) {
	case "parts":
		p.w.Array(p.part)
	case "role":
	default:
		p.unknownMember("content.", name)
	}
}

// part reads a part of the content. Whether its text is a thought may come after the text.
func (p *geminiParser) part() {
	p.text, p.thought = p.text[:0], false
	p.w.Object(p.partMember)
	if p.thought {
		p.d.Reasoning = append(p.d.Reasoning, p.text...)
	} else {
		p.d.Text = append(p.d.Text, p.text...)
	}
}

func (p *geminiParser) partMember(name []byte) {
	switch string(name) {
	case "text":
		p.text = p.w.Text(p.text[:0])
	case "thought":
		p.thought = p.w.Is("true")
	case "functionCall":
		p.w.Object(p.callMember)
	case "thoughtSignature", "partMetadata", "videoMetadata", "mediaResolution":
	default:
		p.unknownMember("parts[].", name)
	}
}

func (p *geminiParser) callMember(name []byte) {
	switch string(name) {
	case "name":
		p.toolName()
	case "args":
		p.d.ToolCall = p.w.TextOrRaw(p.d.ToolCall)
	}
}

// usageMember reads a member of the token counts
// (https://ai.google.dev/api/generate-content#UsageMetadata). The prompt's tokens include the cached ones.
// The candidates' tokens do not include the thoughts.
func (p *geminiParser) usageMember(name []byte) {
	u := &p.d.Usage
	switch string(name) {
	case "promptTokenCount":
		u.PromptTokens = p.w.Count()
	case "cachedContentTokenCount":
		p.cachedTokens()
	case "candidatesTokenCount":
		p.candidates = p.w.Count()
	case "thoughtsTokenCount":
		p.thoughts = p.w.Count()
		u.ReasoningTokens = p.thoughts
	}
	u.OutputTokens = p.candidates + p.thoughts
}

// feedbackMember reads a member of the feedback to the prompt. A prompt that was blocked has no answer.
func (p *geminiParser) feedbackMember(name []byte) {
	if string(name) != "blockReason" {
		return
	}
	if v := p.w.Raw(); isWord(v) && string(v) != `"BLOCK_REASON_UNSPECIFIED"` {
		p.d.Fault = "the prompt was blocked: " + excerpt(jsonwalk.Unquote(nil, v))
	}
}

// end counts the tokens of the response: the difference between two running counts, if every response with
// text has a count, from the first on. Thoughts belong to no response if their text is hidden.
func (p *geminiParser) end() {
	if p.wholeBody || !p.d.generatedSince(p.start) {
		return
	}
	p.thoughtSeen = p.thoughtSeen || len(p.d.Reasoning) > p.start.reasoning
	total := p.candidates
	if p.thoughtSeen {
		total += p.thoughts
	}
	if !p.textSeen {
		p.runningCount = total > 0
	}
	if p.runningCount {
		p.countTo(total)
	}
}
