package wire

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// MaxTokens is the largest limit of output tokens that a request may set.
const MaxTokens = 1 << 20

const (
	defaultMaxTokens = 128 // limit of output tokens for a request that sets none
	maxStops         = 16  // largest number of stop strings in a request
)

// A Request is a decoded request.
type Request struct {
	Stream bool
	Prompt int // number of tokens in the prompt
	Output int // number of tokens to generate
	// Priority is the member priority of OpenAI's dialects, as vLLM has it: a request with a lower value is handled first
	// (https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html).
	Priority int
	Finish   string // why the output ends: "length", "stop" or Ollama's "load"

	chat      bool
	usage     bool    // stream_options.include_usage
	usageEach bool    // stream_options.continuous_usage_stats
	details   bool    // TGI's parameters.details
	loadOnly  bool    // the prompt is empty, which tells Ollama only to load the model
	text      string  // the prompt if it is a text
	stop      string  // the stop string that ends the output, empty for none
	script    *script // the output if the request asks for a format or the oracle knows the answer, else nil
	shift     int     // index in the fixed sequence of the output's first word
	answer    string  // the right answer, empty if the oracle does not know it
	limit     int     // upper limit of the output, in tokens
	least     int     // lower limit of the output, in tokens
	items     *items  // the inputs of a request for vectors or scores, else nil
}

// Answer returns the answer to the prompt if the output is an answer. It returns false if the output is the
// fixed sequence of words or has a format that the request asks for.
func (r *Request) Answer() (text string, known bool) { return r.answer, r.answer != "" }

// SetAnswer makes text the output. text must not be empty. The output has as many tokens as text, as far as
// the request's limits allow.
func (r *Request) SetAnswer(text string, sh shape.Shape) {
	r.answer, r.script = text, textScript("", text)
	n := len(r.script.json)
	if r.chat {
		n = r.script.tokens(sh)
	}
	r.Output, r.Finish = max(n, r.least), "stop"
	if n > r.limit || r.least >= r.limit {
		r.Output, r.Finish = r.limit, "length"
	}
}

// CutShort ends the output after a quarter of its tokens, with the finish reason of a complete output. Of
// vectors or scores, the last one is missing.
func (r *Request) CutShort() {
	if r.items != nil {
		r.items.fewer = true
	}
	if r.Output > 1 {
		r.Output, r.Finish, r.stop = (r.Output+3)/4, "stop", ""
	}
}

// MakeWrong makes the output wrong. In an answer, it adds by to the last number; the number of tokens
// stays the same. The fixed sequence of words begins by words later. An output in a format that the
// request asks for does not change. Vectors are other texts' vectors, and scores other documents' scores.
func (r *Request) MakeWrong(by int) {
	switch {
	case r.items != nil:
		r.items.shift = by
	case r.answer != "":
		output, finish := r.Output, r.Finish
		r.answer = wrong(r.answer, by)
		r.script = textScript("", r.answer)
		r.Output, r.Finish = output, finish
	case r.script == nil:
		r.shift = by
	}
}

// lastNumber matches a text with at least one whole number. Its groups are the text before the last
// number, the last number, and the text after it.
var lastNumber = regexp.MustCompile(`(?s)^(.*?)(\d{1,18})(\D*)$`)

// wrong returns text with by added to its last whole number. If text has no number, wrong replaces the
// first word.
func wrong(text string, by int) string {
	m := lastNumber.FindStringSubmatch(text)
	if m == nil {
		_, rest, more := strings.Cut(text, " ")
		if more {
			rest = " " + rest
		}
		return "wrong-" + strconv.Itoa(by) + rest
	}
	n, _ := strconv.ParseInt(m[2], 10, 64) // cannot fail: there are at most 18 digits
	return m[1] + strconv.FormatInt(n+int64(by), 10) + m[3]
}

// Swap exchanges the answers of two requests if both have an answer, the answers differ, and they have the
// same number of tokens. It reports whether it exchanged them. Copies of the requests also get the other
// output, because copies share the script.
func Swap(a, b *Request) bool {
	if a.answer == "" || b.answer == "" || a.answer == b.answer || a.Output != b.Output || len(a.script.json) != len(b.script.json) {
		return false
	}
	a.answer, b.answer = b.answer, a.answer
	*a.script, *b.script = *b.script, *a.script
	return true
}

// EndEarly removes the last token of an output in a requested format. It does not change the
// finish reason.
func (r *Request) EndEarly() {
	if r.script != nil && len(r.script.json) > 1 {
		r.Output--
	}
}

// limits has a request's limits for the length of the output, and the names of the fields
// that set them.
type limits struct {
	name        string
	max         *int // nil means defaultMaxTokens
	zeroAllowed bool // max may be 0
	minName     string
	min         int
	ignoreEOS   bool
	stops       json.RawMessage
}

// planned returns the request after it has set the format and the length of its output. The function format
// returns the output in the format that the body asks for, or nil if it asks for no format. It is nil itself if
// the dialect has no formats. If fail is not nil, planned only returns fail.
func (r Request) planned(l limits, in Input, format func() (*script, *Error), fail *Error) (Request, *Error) {
	if fail == nil && format != nil && !in.Shape.NoFormat {
		r.script, fail = format()
	}
	if fail == nil {
		fail = r.plan(l, in)
	}
	if fail != nil {
		return Request{}, fail
	}
	return r, nil
}

// plan sets the length of the output and the finish reason.
func (r *Request) plan(l limits, in Input) *Error {
	limit, least := defaultMaxTokens, 1
	if l.max != nil {
		limit = *l.max
	}
	if l.zeroAllowed {
		least = 0
	}
	if limit < least || limit > MaxTokens {
		return BadRequest(l.name, "%s: %d: want %d to %d", l.name, limit, least, MaxTokens)
	}
	if l.min < 0 || l.min > limit {
		return BadRequest(l.minName, "%s: %d: want 0 to %s, which is %d", l.minName, l.min, l.name, limit)
	}
	stops, fail := decodeStop(l.stops)
	if fail != nil {
		return fail
	}
	if r.script != nil { // ends when it is complete; only max can end it earlier
		n := len(r.script.json)
		if r.chat {
			n = r.script.tokens(in.Shape)
		}
		r.Output, r.Finish = n, "stop"
		if n > limit {
			r.Output, r.Finish = limit, "length"
		}
		return nil
	}
	r.limit, r.least = limit, l.min
	if l.ignoreEOS {
		r.least = limit
	}
	if answer, known := in.answer(r.text); known && limit > 0 {
		r.SetAnswer(answer, in.Shape)
		return nil
	}
	r.Output, r.Finish = limit, "length"
	if in.NaturalEnd > 0 && !l.ignoreEOS && max(in.NaturalEnd, l.min) < limit {
		r.Output, r.Finish = max(in.NaturalEnd, l.min), "stop"
	}
	if left, stop := in.Words.CutAtStop(stops, l.min, r.Output); stop != "" {
		r.Output, r.Finish, r.stop = left, "stop", stop
	}
	return nil
}

// answer returns the oracle's answer to the prompt, or to the messages of a chat if prompt is empty.
func (in Input) answer(prompt string) (answer string, known bool) {
	if in.Oracle == nil {
		return "", false
	}
	if prompt == "" && in.Messages != nil {
		prompt = in.Messages.String()
	}
	answer, known = in.Oracle(prompt)
	return answer, known && answer != ""
}

// decodeStop reads the stop strings: a string or an array of strings.
func decodeStop(raw json.RawMessage) ([]string, *Error) {
	if absent(raw) {
		return nil, nil
	}
	var one string
	var stops []string
	if json.Unmarshal(raw, &one) == nil {
		stops = []string{one}
	} else if json.Unmarshal(raw, &stops) != nil {
		return nil, BadRequest("stop", "stop: want a string or an array of strings")
	}
	if len(stops) > maxStops {
		return nil, BadRequest("stop", "stop: %d strings: want at most %d", len(stops), maxStops)
	}
	if slices.Contains(stops, "") {
		return nil, BadRequest("stop", "stop: empty string: want at least one character")
	}
	return stops, nil
}

// cut reports whether the output ends before the script is complete. reason is the number of
// reasoning tokens before the script.
func (r *Request) cut(reason int) bool {
	return r.script != nil && r.Output-reason < len(r.script.json)
}
