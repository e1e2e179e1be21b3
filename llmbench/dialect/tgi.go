package dialect

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// TGI is the own API of Hugging Face's text-generation-inference
// (/generate_stream and /generate,
// https://huggingface.github.io/text-generation-inference/): one event a token,
// and no [DONE]; the last event repeats the text as generated_text. MindIE
// speaks it too.
type TGI struct{}

// Name returns "tgi".
func (TGI) Name() string { return "tgi" }

// Path returns "/generate_stream" for a stream and "/generate" for a whole
// answer.
func (TGI) Path(q Query) string {
	if q.Stream {
		return "/generate_stream"
	}
	return "/generate"
}

// Body returns the JSON to post for q, which must not be a conversation. TGI
// has no way to keep a model from ending its text, so FixedOutput asks for
// nothing more than a limit.
func (d TGI) Body(q Query) ([]byte, error) {
	if err := promptOnly(d.Name(), q); err != nil {
		return nil, err
	}
	return json.Marshal(newTGIBody(q))
}

type tgiBody struct {
	Inputs     string        `json:"inputs"`
	Parameters tgiParameters `json:"parameters"`
	Stream     bool          `json:"stream,omitempty"`
}

type tgiParameters struct {
	MaxNewTokens int  `json:"max_new_tokens"`
	DoSample     bool `json:"do_sample"`
	Details      bool `json:"details"` // without it, neither finish reason nor counts
}

func newTGIBody(q Query) tgiBody {
	return tgiBody{Inputs: q.Prompt, Parameters: tgiParameters{MaxNewTokens: q.MaxTokens, Details: true}}
}

// NewParser returns a parser of answers.
func (d TGI) NewParser() Parser { return newTGIParser(d.Name()) }

// Timings returns what TGI states in the header of a whole answer, in whole
// milliseconds. A stream's header goes out before there is anything to state.
func (TGI) Timings(h http.Header) Timings {
	number := func(name string) int {
		n, err := strconv.ParseUint(h.Get(name), 10, 31)
		if err != nil {
			return 0
		}
		return int(n)
	}
	ms := func(name string) time.Duration { return time.Duration(number(name)) * time.Millisecond }
	return Timings{
		Queue:        ms("X-Queue-Time"),
		Total:        ms("X-Total-Time"),
		PromptTokens: number("X-Prompt-Tokens"),
		OutputTokens: number("X-Generated-Tokens"),
	}
}

// tgiParser reads answers of TGI, and of MindIE's /infer, whose last token has
// no text but in generated_text.
type tgiParser struct {
	answers
	seen []byte // all text so far
	all  []byte // generated_text

	// The document under way.
	ids          int
	untold, last bool // the token has no text; generated_text is there
	special      bool // the token is a mark of the model's, no text

	prefill, decode time.Duration

	onToken, onDetails func(name []byte)
}

func newTGIParser(dialect string) *tgiParser {
	p := new(tgiParser)
	p.init(dialect, "generated_text", p.next, p.root, p.settled)
	p.onToken, p.onDetails = p.token, p.details
	return p
}

func (p *tgiParser) Reset() {
	p.answers.Reset()
	p.seen = p.seen[:0]
	p.prefill, p.decode = 0, 0
}

// next forgets the document before.
func (p *tgiParser) next() { p.ids, p.untold, p.last, p.special = 0, false, false, false }

func (p *tgiParser) root(name []byte) {
	switch string(name) {
	case "token":
		p.w.object(p.onToken)
	case "generated_text":
		v := p.w.raw()
		if p.last = len(v) > 1 && v[0] == '"'; p.last {
			p.all = unquote(p.all[:0], v)
		}
	case "details":
		p.w.object(p.onDetails)
	case "prefill_time": // MindIE: of the event's step
		p.prefill += p.w.duration(time.Millisecond)
	case "decode_time":
		p.decode += p.w.duration(time.Millisecond)
	default:
		p.other(name)
	}
}

func (p *tgiParser) token(name []byte) {
	switch string(name) {
	case "id": // in MindIE, a list
		p.ids = p.w.length()
	case "text":
		v := p.w.raw()
		if p.untold = len(v) > 0 && v[0] != '"'; !p.untold && len(v) > 2 {
			p.d.Text = unquote(p.d.Text[:p.start.text], v)
		}
	case "special":
		p.special = p.w.is("true")
	default:
		p.w.raw()
	}
}

func (p *tgiParser) details(name []byte) {
	switch string(name) {
	case "finish_reason":
		p.finish()
	case "generated_tokens":
		p.d.Usage.OutputTokens = p.w.count()
	case "input_length", "prompt_tokens":
		p.d.Usage.PromptTokens = p.w.count()
	default:
		p.w.raw()
	}
}

func (p *tgiParser) settled() {
	d := p.d
	if p.special {
		d.rewind(p.start)
	}
	switch {
	case p.whole && p.last:
		d.Text = append(d.Text, p.all...)
	case p.last && p.untold && bytes.HasPrefix(p.all, p.seen):
		d.Text = append(d.Text, p.all[len(p.seen):]...)
	}
	if !p.whole {
		d.Tokens += p.ids
		p.seen = append(p.seen, d.Text[p.start.text:]...)
	}
	if p.last {
		p.markDone()
	}
	d.Timings.Prompt, d.Timings.Predict = p.prefill, p.decode
}
