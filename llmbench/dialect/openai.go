package dialect

import (
	"math"
	"time"
)

// openAIBody is the request body of OpenAI's chat and completions endpoints. min_tokens and ignore_eos are
// extensions of vLLM, SGLang, LMDeploy and llama.cpp. A server that does not know these members ignores
// them or answers with status 400.
type openAIBody struct {
	Model         string         `json:"model,omitempty"`
	Messages      []Message      `json:"messages,omitempty"`
	Prompt        string         `json:"prompt,omitempty"`
	MaxTokens     int            `json:"max_tokens"`
	MinTokens     int            `json:"min_tokens,omitempty"`
	IgnoreEOS     bool           `json:"ignore_eos,omitempty"`
	Temperature   float64        `json:"temperature"`
	Stream        bool           `json:"stream"`
	StreamOptions *streamOptions `json:"stream_options,omitempty"`

	// The following members are only for the chat endpoint.
	Tools          []chatTool      `json:"tools,omitempty"`
	ToolChoice     string          `json:"tool_choice,omitempty"`
	ResponseFormat *responseFormat `json:"response_format,omitempty"`
}

type responseFormat struct {
	Type       string     `json:"type"`
	JSONSchema jsonSchema `json:"json_schema"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// newOpenAIBody returns the body for q without its prompt. The body asks for greedy sampling, and for usage
// even in streams.
func newOpenAIBody(q Query) openAIBody {
	b := openAIBody{Model: q.Model, MaxTokens: q.MaxTokens, Stream: q.Stream}
	if q.FixedOutput {
		b.MinTokens, b.IgnoreEOS = q.MaxTokens, true
	}
	if q.Stream {
		b.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	return b
}

// openAIParser parses the answers of both endpoints. The endpoints differ only in
// the members of a choice that hold its text: text, or delta and message, whose
// members openAIMessage reads.
//
// The servers of this family vary the format of a stream:
//   - The first event may only name the role, with content "", null or absent.
//   - The finish reason comes with the last text or in an event of its own.
//     Until then it is null, "" or absent.
//   - Usage comes in a last event with empty choices, on the event with the
//     finish reason, or on every event. The last count that is not 0 is used.
//   - An error comes as an object or a string, after status 200. [DONE] may
//     follow.
//   - [DONE] may be missing after a finish reason.
//
// The parser reads only the choice with index 0, because a request never asks for more than one choice.
type openAIParser struct {
	openAIMessage

	countAsked   bool          // there was a document with text that could have had a count of tokens, which sets runningCount
	perStep      time.Duration // TensorRT-LLM's mean number of tokens per step, stored as seconds
	runningCount bool          // the first document with text had a token count, so all documents have one

	// The current document.
	tokenIDs  int  // number of token ids in the choice with index 0
	hasChoice bool // the document has a choice

	// The current choice.
	index         int
	reason        string
	reasonPending bool // the finish reason is null or ""
}

func newOpenAIParser(dialect string) *openAIParser {
	p := new(openAIParser)
	p.init(dialect, "[DONE]", openAIReasons, steps{p.begin, p.member, p.end})
	p.textEvent, p.choices = messageEvent, 1
	return p
}

func (p *openAIParser) Reset() {
	p.openAIMessage.Reset()
	p.countAsked, p.runningCount = false, false
	p.perStep = 0
}

func (p *openAIParser) begin() { p.tokenIDs, p.hasChoice = 0, false }

func (p *openAIParser) member(name []byte) {
	switch string(name) {
	case "choices":
		p.d.rewind(p.start) // if there are two members "choices", the second is used
		if p.w.Array(p.choice); !p.hasChoice {
			p.others++
		}
	case "usage":
		if p.w.Kind() != '{' {
			p.others++
		}
		p.w.Object(p.usageMember)
	case "timings": // llama.cpp
		p.timings()
	case "prompt_filter_results", "prompt_annotations", // Azure
		"obfuscation",                                                   // OpenAI
		"prompt_token_ids", "prompt_logprobs", "prompt_text", "metrics", // vLLM
		"kv_transfer_params", "nvext", "sglext", "x_groq", "moderation", // vLLM, Dynamo, SGLang, Groq, OpenAI
		"citations", "search_results", "images", "related_questions", // Perplexity
		"input_sensitive", "output_sensitive", "input_sensitive_type", "output_sensitive_type", // MiniMax
		"web_search", "content_filter": // GLM
		p.others++
	case "prompt_progress": // llama.cpp
		p.promptProgress()
	default:
		p.otherMember(name)
	}
}

// choice reads a choice. The index may be the last member of the choice. So the other members are read
// first, and undone if the index is not 0.
func (p *openAIParser) choice() {
	p.choiceStart = p.d.mark()
	p.hasChoice = true
	p.index, p.reason, p.reasonPending, p.contentSeen = 0, "", false, false
	tokenIDs := p.tokenIDs
	p.w.Object(p.choiceMember)
	switch {
	case p.index != 0:
		p.d.rewind(p.choiceStart)
		p.tokenIDs = tokenIDs
	case p.reason != "":
		p.finish(p.reason)
	case p.reasonPending:
		p.finishPending = true
	}
}

func (p *openAIParser) choiceMember(name []byte) {
	switch string(name) {
	case "index":
		p.index = p.w.Count()
	case "delta":
		p.in = "delta."
		p.w.Object(p.messageMember)
	case "message":
		p.in = "message."
		p.w.Object(p.messageMember)
	case "text":
		p.contentSeen = true // Together sends the same text again in the delta
		p.d.Text = p.w.Text(p.d.Text[:p.choiceStart.text])
	case "finish_reason":
		p.reason = p.reasonWord()
		p.reasonPending = p.reason == ""
	case "usage": // Moonshot, beside the finish reason (https://platform.moonshot.ai/docs/api/chat)
		p.w.Object(p.usageMember)
	case "token_ids":
		p.tokenIDs += p.w.Length()
	case "avg_decoded_tokens_per_iter": // TensorRT-LLM
		p.perStep = p.w.Duration(time.Second)
	case "reasoning", "reasoning_content", "reasoning_details": // OpenRouter's completions
		p.messageMember(name)
	case "logprobs", "stop_reason", "matched_stop", "prompt_token_ids", "prompt_logprobs", "routed_experts", "hidden_states", // vLLM, SGLang
		"disaggregated_params", "mm_embedding_handle", "context_logits", // TensorRT-LLM
		"content_filter_results", "content_filter_result", // Azure
		"native_finish_reason", "seed", "meta_info", "flags", "stop_str": // OpenRouter, Together
	default:
		p.unknownMember("choices[].", name)
	}
}

func (p *openAIParser) usageMember(name []byte) {
	u, t := &p.d.Usage, &p.d.Timings
	switch string(name) {
	case "prompt_tokens":
		u.PromptTokens = p.w.Count()
	case "completion_tokens":
		u.OutputTokens = p.w.Count()
	case "prompt_tokens_details":
		p.w.Object(p.cachedTokensMember)
	case "completion_tokens_details":
		p.w.Object(p.reasoningTokensMember)
	case "reasoning_tokens": // SGLang
		p.setReasoningTokens()
	case "queue_time": // this and the next three come from hosted servers and TabbyAPI
		t.Queue = p.w.Duration(time.Second)
	case "prompt_time":
		t.Prompt = p.w.Duration(time.Second)
	case "completion_time":
		t.Predict = p.w.Duration(time.Second)
	case "total_time":
		t.Total = p.w.Duration(time.Second)
	}
}

// countSteps computes the number of decode steps of an answer from its tokens and the mean tokens per step.
// It subtracts one step, because TensorRT-LLM counts the prefill, which yields the first token, as a step.
func (p *openAIParser) countSteps() {
	if total := p.d.Usage.OutputTokens; p.perStep > 0 && p.finished && total > 0 {
		p.d.Timings.DecodeSteps = max(0, int(math.Round(float64(total)/p.perStep.Seconds()))-1)
	}
}

// end counts the document's choice and its tokens. If there are token IDs, their number is the number of
// tokens. Otherwise the tokens are the difference between two running counts, if every document with text
// has reported a count, from the first on. A count that comes only at the end of a stream is not the count
// of one event: it covers the whole answer.
func (p *openAIParser) end() {
	if p.hasChoice {
		p.d.Choices++
	}
	p.countSteps()
	if p.tokenIDs > 0 {
		p.d.Tokens += p.tokenIDs
		p.counted += p.tokenIDs
		return
	}
	if p.wholeBody || !p.d.generatedSince(p.start) {
		return
	}
	total := p.d.Usage.OutputTokens
	if !p.countAsked {
		p.countAsked, p.runningCount = true, total > 0
	}
	if p.runningCount {
		p.countTo(total)
	}
}
