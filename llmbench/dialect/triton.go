package dialect

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"time"
)

// Triton is the generate extension of NVIDIA's Triton server (/v2/models/M/generate_stream and /generate,
// https://github.com/triton-inference-server/server/blob/main/docs/protocol/extension_generate.md) with the
// TensorRT-LLM backend. The backend must send the text in pieces (accumulate_tokens false).
//
// Triton's events do not mark the end of the text. If a server closes a stream properly between two events,
// the answer counts as complete; only its number of tokens shows that it is not. MindIE also offers this
// API, and adds a finish reason.
type Triton struct{}

// Name returns "triton".
func (Triton) Name() string { return "triton" }

// Path returns the path of q's model. The model is "ensemble" if q names none.
func (Triton) Path(q Query) string {
	verb := "generate"
	if q.Stream {
		verb = "generate_stream"
	}
	return "/v2/models/" + url.PathEscape(cmp.Or(q.Model, "ensemble")) + "/" + verb
}

// Body returns the JSON body for q, which must not be a conversation. To ask for a fixed output, it sets a
// minimum length and an end token that does not exist.
func (d Triton) Body(q Query) ([]byte, error) {
	if err := checkPrompt(d.Name(), q); err != nil {
		return nil, err
	}
	b := struct {
		TextInput   string  `json:"text_input"`
		MaxTokens   int     `json:"max_tokens"`
		MinLength   int     `json:"min_length,omitempty"`
		EndID       int     `json:"end_id,omitempty"`
		Temperature float64 `json:"temperature"`
		Stream      bool    `json:"stream"`
	}{TextInput: q.Prompt, MaxTokens: q.MaxTokens, Stream: q.Stream}
	if q.FixedOutput {
		b.MinLength, b.EndID = q.MaxTokens, -1
	}
	return json.Marshal(b)
}

// NewParser returns a parser for the answers of this dialect.
func (d Triton) NewParser() Parser {
	p := new(tritonParser)
	p.init(d.Name(), "an event", tgiReasons, steps{func() {}, p.member, p.end})
	p.flat = true
	return p
}

type tritonParser struct {
	baseParser
	eventSeen       bool          // there was an event with text_output
	detailsSeen     bool          // there was an event with details
	prefill, decode time.Duration // sums over the events of the answer
}

func (p *tritonParser) Reset() {
	p.baseParser.Reset()
	p.eventSeen, p.detailsSeen = false, false
	p.prefill, p.decode = 0, 0
}

func (p *tritonParser) End() error {
	switch {
	case !p.eventSeen:
		return fmt.Errorf("%s: %w: no event with text_output", p.dialect, ErrTruncated)
	case p.detailsSeen && !p.finished:
		return fmt.Errorf("%s: %w: details without a finish reason", p.dialect, ErrTruncated)
	}
	return nil
}

func (p *tritonParser) member(name []byte) {
	switch string(name) {
	case "text_output":
		p.eventSeen = true
		p.d.Text = p.w.Text(p.d.Text[:p.start.text])
	case "details": // this and the next two come from MindIE
		p.detailsSeen = p.detailsSeen || p.w.Kind() == '{'
		p.w.Object(p.detailsMember)
	case "prefill_time":
		p.prefill += p.w.Duration(time.Millisecond)
	case "decode_time":
		p.decode += p.w.Duration(time.Millisecond)
	case "model_name", "model_version", "parameters", "cum_log_probs", "output_log_probs", "context_logits", "generation_logits", "kv_cache_reuse_stats":
		p.others++
	default:
		p.otherMember(name)
	}
}

func (p *tritonParser) detailsMember(name []byte) {
	switch string(name) {
	case "finish_reason":
		p.finishReason()
	case "generated_tokens":
		p.d.Usage.OutputTokens = p.w.Count()
	case "queue_wait_time":
		p.d.Timings.Queue = p.w.Duration(time.Microsecond)
	}
}

func (p *tritonParser) end() {
	if !p.wholeBody {
		p.countTo(p.d.Usage.OutputTokens)
	}
	p.d.Timings.Prompt, p.d.Timings.Predict = p.prefill, p.decode
}
