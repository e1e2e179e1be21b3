package dialect

import (
	"encoding/json"
	"fmt"
	"net/url"
	"time"
)

// Triton is the generate extension of NVIDIA's Triton server
// (/v2/models/M/generate_stream and /generate) with the TensorRT-LLM back end,
// which has to send the text in pieces (accumulate_tokens false). Nothing in its
// events says that the text has ended, so a stream that was cut between two
// events, by a server that closed it in good order, looks whole: its token count
// tells. MindIE speaks it too, and does say so.
type Triton struct{}

// Name returns "triton".
func (Triton) Name() string { return "triton" }

// Path returns the path of q's model, "ensemble" if it names none.
func (Triton) Path(q Query) string {
	model, verb := q.Model, "generate"
	if model == "" {
		model = "ensemble"
	}
	if q.Stream {
		verb = "generate_stream"
	}
	return "/v2/models/" + url.PathEscape(model) + "/" + verb
}

// Body returns the JSON to post for q, which must not be a conversation. A fixed
// length is asked for by a minimum and an end token that does not exist.
func (d Triton) Body(q Query) ([]byte, error) {
	if err := promptOnly(d.Name(), q); err != nil {
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

// NewParser returns a parser of answers.
func (d Triton) NewParser() Parser {
	p := new(tritonParser)
	p.init(d.Name(), "an event", func() {}, p.root, p.settled)
	p.onDetails = p.details
	return p
}

type tritonParser struct {
	answers
	any, detailed   bool // an event was seen; one with details
	prefill, decode time.Duration
	onDetails       func(name []byte)
}

func (p *tritonParser) Reset() {
	p.answers.Reset()
	p.any, p.detailed = false, false
	p.prefill, p.decode = 0, 0
}

func (p *tritonParser) End() error {
	switch {
	case !p.any:
		return fmt.Errorf("%s: %w: no event with text_output", p.dialect, ErrTruncated)
	case p.detailed && !p.finished:
		return fmt.Errorf("%s: %w: details without a finish reason", p.dialect, ErrTruncated)
	}
	return nil
}

func (p *tritonParser) root(name []byte) {
	switch string(name) {
	case "text_output":
		p.any = true
		p.d.Text = p.w.text(p.d.Text[:p.start.text])
	case "details": // this and the next two: MindIE
		p.detailed = p.detailed || p.w.kind() == '{'
		p.w.object(p.onDetails)
	case "prefill_time":
		p.prefill += p.w.duration(time.Millisecond)
	case "decode_time":
		p.decode += p.w.duration(time.Millisecond)
	default:
		p.other(name)
	}
}

func (p *tritonParser) details(name []byte) {
	switch string(name) {
	case "finish_reason":
		p.finish()
	case "generated_tokens":
		p.d.Usage.OutputTokens = p.w.count()
	case "queue_wait_time":
		p.d.Timings.Queue = p.w.duration(time.Microsecond)
	default:
		p.w.raw()
	}
}

func (p *tritonParser) settled() {
	if !p.whole {
		p.running(p.d.Usage.OutputTokens)
	}
	p.d.Timings.Prompt, p.d.Timings.Predict = p.prefill, p.decode
}
