package dialect

import "encoding/json"

// LlamaCPP is the native API of llama.cpp's llama-server (/completion,
// https://github.com/ggml-org/llama.cpp/tree/master/tools/server). Each event has the number of tokens so
// far. The last event has "stop": true and the server's timings. There is no [DONE].
type LlamaCPP struct{}

// Name returns "llamacpp".
func (LlamaCPP) Name() string { return "llamacpp" }

// Path returns "/completion".
func (LlamaCPP) Path(Query) string { return "/completion" }

// Body returns the JSON body for q, which must not be a conversation.
func (d LlamaCPP) Body(q Query) ([]byte, error) {
	if err := checkPromptOrSchema(d.Name(), q); err != nil {
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

// NewParser returns a parser for the answers of this dialect.
func (d LlamaCPP) NewParser() Parser {
	p := new(llamaCPPParser)
	p.init(d.Name(), `"stop": true`, llamaCPPReasons, steps{p.begin, p.member, p.end})
	p.flat, p.needsReason = true, true
	return p
}

type llamaCPPParser struct {
	baseParser
	last   bool   // the current document has "stop": true
	reason string // the finish reason in the current document, or ""
}

func (p *llamaCPPParser) begin() { p.last, p.reason = false, "" }

func (p *llamaCPPParser) member(name []byte) {
	switch string(name) {
	case "content":
		p.d.Text = p.w.Text(p.d.Text[:p.start.text])
	case "stop":
		p.last = p.w.Is("true")
	case "stop_type":
		p.reason = p.reasonWord()
	case "stopped_eos": // this and the next two come from versions before 2025
		p.finishIfTrue("eos")
	case "stopped_limit":
		p.finishIfTrue("limit")
	case "stopped_word":
		p.finishIfTrue("word")
	case "tokens_predicted":
		p.d.Usage.OutputTokens = p.w.Count()
	case "tokens_evaluated":
		p.d.Usage.PromptTokens = p.w.Count()
	case "timings":
		p.timings()
	case "prompt_progress":
		p.promptProgress()
	case "tokens", "id_slot", "slot_id", "generation_settings", "prompt", "has_new_line", "truncated", "stopping_word", "tokens_cached",
		"completion_probabilities", "probs", "multimodal":
		p.others++
	default:
		p.otherMember(name)
	}
}

// finishIfTrue sets the finish reason if the next value is true.
func (p *llamaCPPParser) finishIfTrue(reason string) {
	if p.w.Is("true") {
		p.reason = reason
	}
}

func (p *llamaCPPParser) end() {
	if !p.wholeBody {
		p.countTo(p.d.Usage.OutputTokens)
	}
	if p.last {
		p.endWith(p.reason)
	}
}
