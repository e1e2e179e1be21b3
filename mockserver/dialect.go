package mockserver

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// A Flavor says whose server answers POST /generate, which several of them have.
type Flavor string

// The flavors. With none the body decides: "inputs" is TGI's, "prompt" and ids
// without sampling_params are LMDeploy's, everything else is SGLang's. vLLM's
// demonstration server and MindIE's version of it take the same fields as
// LMDeploy and must be named.
const (
	FlavorTGI      Flavor = "tgi"
	FlavorSGLang   Flavor = "sglang"
	FlavorLMDeploy Flavor = "lmdeploy"
	FlavorVLLM     Flavor = "vllm"   // python -m vllm.entrypoints.api_server
	FlavorMindIE   Flavor = "mindie" // its version of the former
)

// A dialect is what one family of servers says on one of its paths. It is
// written from the format alone: nothing is shared with who reads it.
type dialect struct {
	stream    string // the content type of a stream
	lines     string // what ends a JSON document, where those are no events
	done      bool   // a stream ends with [DONE]
	unmarked  bool   // nothing but the end of the body tells the end of a stream
	decode    func(input) (request, *apiError)
	encode    func(answer) encoder
	errorBody func(*apiError) string // the body of an error, a JSON object
	// streamError is that in a stream, nil if it is the same.
	streamError func(*apiError) string
}

// An input is a request's body and what its decoder needs beside it.
type input struct {
	body    []byte
	natural int      // where the output ends by itself, 0 for never
	words   *lexicon // of the output
	prompt  tally    // is told the tokens that the decoder counts
	shape   shape.Shape
}

// An encoder adds one answer's documents to its framer, each in a frame. Which
// of them are sent, and when, is not its business.
type encoder interface {
	// opening adds what comes before the first token.
	opening()
	// tokens adds the tokens from up to, not including, to, which are not the last.
	tokens(from, to int)
	// last adds the last tokens and all that follows, but no [DONE].
	last(from, to int)
	// whole adds the answer that is not streamed.
	whole()
}

// A failer is an encoder whose errors in a stream are more than the dialect's
// object in a frame.
type failer interface {
	// failed adds the event of a server that failed; named is that of a proxy.
	failed(e *apiError, named bool)
}

// An answer is what an encoder has to know.
type answer struct {
	*framer
	req     request
	words   *lexicon
	ordinal uint64
	created time.Time
	model   string          // in JSON
	clock   clock           // tells the time, where events carry it
	due     []time.Duration // of each token, from admission, once it is out
	cached  func() int      // tokens of the prompt that needed no prefill
	endless bool            // there is no last token
	queued  *time.Duration  // from arrival to admission, once that is known
}

// text adds the spelling of tokens.
func (a *answer) text(from, to int) {
	s, first := a.req.script, 0
	if s == nil {
		a.buf = a.words.append(a.buf, from, to)
		return
	}
	if a.req.chat {
		first = a.shape.ReasoningOf(a.req.output)
	}
	for i := from; i < to; i++ {
		if at := i - first; at >= 0 && at < len(s.json) {
			a.add(s.json[at])
		} else {
			a.buf = a.words.append(a.buf, i, i+1)
		}
	}
}

// called is the function that is called, with what is left of the output after
// the reasoning; empty if that is text.
func (a *answer) called(reason int) string {
	switch {
	case !a.req.chat || a.req.output <= reason:
		return ""
	case a.req.script != nil:
		return a.req.script.call
	case a.shape.ToolCall:
		return "speak"
	}
	return ""
}

// callText adds the text of tokens that are arguments of a call, which are JSON in
// a string. They begin after the reasoning and end with the output.
func (a *answer) callText(reason, from, to int) {
	if from == reason && a.req.script == nil {
		a.add(`{\"text\": \"`)
	}
	a.text(from, to)
	if to == a.lastToken() && a.req.script == nil {
		a.add(`\"}`)
	}
}

// lastToken is how many tokens there will be, which without an end is no number.
func (a *answer) lastToken() int {
	if a.endless {
		return math.MaxInt
	}
	return a.req.output
}

// ids adds their ids in an array.
func (a *answer) ids(from, to int) {
	a.add("[")
	a.buf = appendIDs(a.buf, from, to)
	a.add("]")
}

// prefill is the time to the first token, and decode the time from there to the
// last of n, both by the schedule: what a server measures of itself.
func (a *answer) prefill() time.Duration { return a.due[0] }
func (a *answer) decode(n int) time.Duration {
	return a.due[min(max(n, 1), len(a.due))-1] - a.due[0]
}

// A route is what a path leads to.
type route struct {
	dialect *dialect // nil: the body decides
	model   string   // the one named in the path
	stream  streaming
}

// A streaming says who decides whether an answer is streamed.
type streaming int

const (
	asAsked streaming = iota // the body
	always
	notAtAll
)

// routeFor returns where a path leads, if it is one of a completion.
func routeFor(path string, flavor Flavor) (route, bool) {
	switch path {
	case "/v1/chat/completions":
		return route{dialect: openaiChat}, true
	case "/v1/completions":
		return route{dialect: openaiText}, true
	case "/v1/responses":
		return route{dialect: responses}, true
	case "/generate_stream":
		return route{dialect: tgi, stream: always}, true
	case "/generate":
		return generateRoute(flavor), true
	case "/infer":
		return route{dialect: mindieInfer}, true
	case "/completion":
		return route{dialect: llamacpp}, true
	case "/api/chat":
		return route{dialect: ollamaChat}, true
	case "/api/generate":
		return route{dialect: ollamaGenerate}, true
	}
	rest, ok := strings.CutPrefix(path, "/v2/models/")
	model, verb, slash := strings.Cut(rest, "/")
	if after, versions := strings.CutPrefix(verb, "versions/"); versions {
		_, verb, _ = strings.Cut(after, "/")
	}
	if !ok || !slash || model == "" {
		return route{}, false
	}
	switch verb {
	case "generate_stream":
		return route{dialect: triton, model: model, stream: always}, true
	case "generate":
		return route{dialect: triton, model: model, stream: notAtAll}, true
	}
	return route{}, false
}

// generateRoute is the route of POST /generate.
func generateRoute(f Flavor) route {
	switch f {
	case FlavorTGI:
		return route{dialect: tgi, stream: notAtAll}
	case FlavorSGLang:
		return route{dialect: sglang}
	case FlavorLMDeploy:
		return route{dialect: lmdeploy}
	case FlavorVLLM:
		return route{dialect: vllmDemo}
	case FlavorMindIE:
		return route{dialect: mindieVLLM}
	}
	return route{}
}

// flavorOf tells whose body that of a POST /generate is.
func flavorOf(body []byte) Flavor {
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil {
		return FlavorSGLang // whose decoder says what is wrong
	}
	has := func(name string) bool { return !absent(fields[name]) }
	switch {
	case has("inputs"):
		return FlavorTGI
	case has("text") || has("sampling_params"):
		return FlavorSGLang
	case has("prompt") || has("input_ids"):
		return FlavorLMDeploy
	}
	return FlavorSGLang
}

func (f Flavor) validate() error {
	switch f {
	case "", FlavorTGI, FlavorSGLang, FlavorLMDeploy, FlavorVLLM, FlavorMindIE:
		return nil
	}
	return fmt.Errorf("flavor: %q, want %s, %s, %s, %s or %s", f, FlavorTGI, FlavorSGLang, FlavorLMDeploy, FlavorVLLM, FlavorMindIE)
}
