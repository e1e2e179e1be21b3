package dialect

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect/internal/jsonwalk"
)

// TGI is the native API of Hugging Face's text-generation-inference (/generate_stream and /generate,
// https://huggingface.github.io/text-generation-inference/). Each event has one token. The last event
// repeats the whole text as generated_text, and there is no [DONE]. MindIE also offers this API.
type TGI struct{}

// Name returns "tgi".
func (TGI) Name() string { return "tgi" }

// Path returns "/generate_stream" if q asks for a stream, otherwise "/generate".
func (TGI) Path(q Query) string {
	if q.Stream {
		return "/generate_stream"
	}
	return "/generate"
}

// Body returns the JSON body for q, which must not be a conversation. TGI has no option that prevents a
// model from ending its text early, so FixedOutput only sets the limit.
func (d TGI) Body(q Query) ([]byte, error) {
	if err := checkPrompt(d.Name(), q); err != nil {
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
	Details      bool `json:"details"` // without details, TGI sends no finish reason and no counts
}

func newTGIBody(q Query) tgiBody {
	return tgiBody{Inputs: q.Prompt, Parameters: tgiParameters{MaxNewTokens: q.MaxTokens, Details: true}}
}

// NewParser returns a parser for the answers of this dialect.
func (d TGI) NewParser() Parser { return newTGIParser(d.Name()) }

// Timings returns the timings in the header of an answer that was not streamed. TGI reports them in whole
// milliseconds. A stream's header has no timings, because the server sends it before it has measured
// anything.
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

// tgiParser parses the answers of TGI and of MindIE's /infer. In MindIE, the last token of a stream has no
// text of its own: its text is only in generated_text.
type tgiParser struct {
	baseParser
	seen            []byte // the text so far
	generatedText   []byte
	prefill, decode time.Duration // sums over the events of the answer

	// The current document.
	tokens  int  // number of tokens
	noText  bool // the token's text is null
	last    bool // generated_text is present
	special bool // the token is special, such as an end token, so that its text does not count
}

func newTGIParser(dialect string) *tgiParser {
	p := new(tgiParser)
	p.init(dialect, "generated_text", tgiReasons, steps{p.begin, p.member, p.end})
	p.flat = true
	return p
}

func (p *tgiParser) Reset() {
	p.baseParser.Reset()
	p.seen = p.seen[:0]
	p.prefill, p.decode = 0, 0
}

func (p *tgiParser) begin() { p.tokens, p.noText, p.last, p.special = 0, false, false, false }

func (p *tgiParser) member(name []byte) {
	switch string(name) {
	case "token":
		p.w.Object(p.tokenMember)
	case "generated_text":
		v := p.w.Raw()
		if p.last = len(v) > 1 && v[0] == '"'; p.last {
			p.generatedText = jsonwalk.Unquote(p.generatedText[:0], v)
		}
	case "details":
		p.w.Object(p.detailsMember)
	case "prefill_time": // MindIE: the duration of one step
		p.prefill += p.w.Duration(time.Millisecond)
	case "decode_time":
		p.decode += p.w.Duration(time.Millisecond)
	case "top_tokens":
		p.others++
	default:
		p.otherMember(name)
	}
}

func (p *tgiParser) tokenMember(name []byte) {
	switch string(name) {
	case "id": // MindIE: a list
		p.tokens = p.w.Length()
	case "text":
		v := p.w.Raw()
		if p.noText = len(v) > 0 && v[0] != '"'; !p.noText && len(v) > 2 {
			p.d.Text = jsonwalk.Unquote(p.d.Text[:p.start.text], v)
		}
	case "special":
		p.special = p.w.Is("true")
	}
}

func (p *tgiParser) detailsMember(name []byte) {
	switch string(name) {
	case "finish_reason":
		p.finishReason()
	case "generated_tokens":
		p.d.Usage.OutputTokens = p.w.Count()
	case "input_length", "prompt_tokens":
		p.d.Usage.PromptTokens = p.w.Count()
	}
}

func (p *tgiParser) end() {
	d := p.d
	if p.special {
		d.rewind(p.start)
	}
	switch {
	case p.wholeBody && p.last:
		d.Text = append(d.Text, p.generatedText...)
	case p.last && p.noText && bytes.HasPrefix(p.generatedText, p.seen):
		d.Text = append(d.Text, p.generatedText[len(p.seen):]...)
	}
	if !p.wholeBody {
		d.Tokens += p.tokens
		p.seen = append(p.seen, d.Text[p.start.text:]...)
	}
	if p.last {
		p.markDone()
	}
	d.Timings.Prompt, d.Timings.Predict = p.prefill, p.decode
}
