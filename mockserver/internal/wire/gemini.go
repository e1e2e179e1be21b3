package wire

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/frame"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// gemini and geminiArray are Google's generateContent. A stream is a sequence of responses. With
// the query alt=sse the responses are events; without it they are the elements of a JSON array.
// https://ai.google.dev/api/generate-content
var (
	gemini = &Dialect{
		ContentType: "text/event-stream", Unmarked: true,
		Decode: decodeGemini,
		Encode: func(a Answer) Encoder { return newGemini(a) }, ErrorBody: googleError,
	}
	geminiArray = &Dialect{
		ContentType: "application/json; charset=UTF-8", DocumentEnd: frame.Array, Unmarked: true,
		Decode: decodeGemini,
		Encode: func(a Answer) Encoder { return newGemini(a) }, ErrorBody: googleError,
	}
)

// geminiRoute returns the route of a path that ends with the name of a model, a colon and a
// method.
func geminiRoute(path string) (Route, bool) {
	at := strings.LastIndex(path, "/models/")
	if at < 0 {
		return Route{}, false
	}
	switch path[:at] {
	case "", "/v1beta", "/v1": // Vertex AI has the second and a longer path
	default:
		if !strings.HasPrefix(path, "/v1/projects/") && !strings.HasPrefix(path, "/v1beta1/projects/") {
			return Route{}, false
		}
	}
	model, method, found := strings.Cut(path[at+len("/models/"):], ":")
	switch {
	case !found || model == "":
		return Route{}, false
	case method == "streamGenerateContent":
		return Route{Dialect: geminiArray, Model: model, stream: always}, true
	case method == "generateContent":
		return Route{Dialect: gemini, Model: model, stream: notAtAll}, true
	}
	return Route{}, false
}

// A geminiContent is a message, or the system's instruction.
type geminiContent struct {
	Parts []struct {
		Text string `json:"text"`
	} `json:"parts"`
}

// count returns the number of tokens in the texts of the content.
func (c geminiContent) count(in Input) int {
	n := 0
	for _, p := range c.Parts {
		n += in.PromptTokens.Words(p.Text)
		in.note(p.Text)
	}
	return n
}

func decodeGemini(in Input) (Request, *Error) {
	var w struct {
		System   *geminiContent  `json:"systemInstruction"`
		Contents []geminiContent `json:"contents"`
		Config   struct {
			MaxOutputTokens *int            `json:"maxOutputTokens"`
			StopSequences   json.RawMessage `json:"stopSequences"`
		} `json:"generationConfig"`
	}
	if err := json.Unmarshal(in.Body, &w); err != nil {
		return Request{}, BadBody(err)
	}
	r := Request{chat: true}
	var fail *Error
	if len(w.Contents) == 0 {
		fail = BadRequest("contents", "contents: missing or empty, want at least one")
	}
	if w.System != nil { // first, because a prompt begins with the system's instruction
		r.Prompt += w.System.count(in)
	}
	for _, c := range w.Contents {
		r.Prompt += c.count(in)
	}
	if fail == nil {
		r.script, fail = in.geminiScript()
	}
	return r.planned(limits{name: "maxOutputTokens", max: w.Config.MaxOutputTokens, stops: w.Config.StopSequences}, in, fail)
}

// googleError returns the error object of Google's APIs. https://google.aip.dev/193
func googleError(e *Error) string {
	kind := "INVALID_ARGUMENT"
	switch e.Status {
	case http.StatusUnauthorized:
		kind = "UNAUTHENTICATED"
	case http.StatusNotFound:
		kind = "NOT_FOUND"
	case http.StatusTooManyRequests:
		kind = "RESOURCE_EXHAUSTED"
	case http.StatusInternalServerError:
		kind = "INTERNAL"
	case http.StatusServiceUnavailable, StatusOverloaded:
		kind = "UNAVAILABLE"
	}
	message := e.message
	if e.maxContext > 0 {
		message = fmt.Sprintf("The input token count (%d) exceeds the maximum number of tokens allowed (%d).", e.prompt, e.maxContext)
	}
	return fmt.Sprintf(`{"error":{"code":%d,"message":%s,"status":"%s"}}`, e.Status, jsontext.Quote(message), kind)
}

type geminiEncoder struct {
	Answer
	reason int // number of tokens that are thoughts
}

func newGemini(a Answer) *geminiEncoder {
	return &geminiEncoder{a, a.Shape.ReasoningOf(a.Request.Output)}
}

// calls reports whether the output ends with a function call. A call is sent as a whole. If the
// token limit cuts the call off, the output is sent as text instead.
func (g *geminiEncoder) calls() bool {
	return g.calledFunction(g.reason) != "" && !g.Request.cut(g.reason)
}

func (g *geminiEncoder) Opening() {}

func (g *geminiEncoder) Tokens(from, to int) {
	if g.calls() { // the call is sent with the last token
		to = min(to, g.reason)
	}
	if from < to {
		g.BeginTokens("")
		g.response(from, to, false)
		g.EndTokens()
	}
}

func (g *geminiEncoder) Last(from, to int) {
	if from == to {
		g.Begin("")
		g.response(from, to, true)
		g.End()
		return
	}
	g.BeginTokens("")
	g.response(from, to, true)
	g.EndTokens()
}

func (g *geminiEncoder) Whole() {
	g.Begin("")
	g.response(0, g.Request.Output, true)
	g.End()
}

// response renders a response with the tokens with indices from to to-1.
func (g *geminiEncoder) response(from, to int, last bool) {
	g.Add(`{"candidates":[{"content":{"parts":[`)
	sep := ""
	if from < g.reason {
		g.Add(`{"text":"`)
		g.text(from, min(to, g.reason))
		g.Add(`","thought":true}`)
		sep = ","
	}
	switch {
	case last && g.calls():
		g.Add(sep)
		g.call()
	case to > g.reason || sep == "":
		g.Add(sep, `{"text":"`)
		g.text(max(from, g.reason), max(to, g.reason))
		g.Add(`"}`)
	}
	g.Add(`],"role":"model"}`)
	if last {
		g.Add(`,"finishReason":"`, g.finish(), `"`)
	}
	g.Add(`,"index":0}]`)
	if g.Shape.Usage != shape.UsageNever || !g.Request.Stream {
		g.usage(to)
	}
	g.Add(`,"modelVersion":`, g.Model, `,"responseId":"mock-`)
	g.Buf = strconv.AppendUint(g.Buf, g.Ordinal, 10)
	g.Add(`"}`)
}

// call renders the part with the function call.
func (g *geminiEncoder) call() {
	g.Add(`{"functionCall":{"name":`, jsontext.Quote(g.calledFunction(g.reason)), `,"args":`)
	if s := g.Request.script; s != nil {
		g.Add(s.text)
	} else {
		g.Add(`{"text":"`)
		g.text(g.reason, g.Request.Output)
		g.Add(`"}`)
	}
	g.Add(`}}`)
}

// usage renders the token counts after n tokens.
func (g *geminiEncoder) usage(n int) {
	g.Add(`,"usageMetadata":{"promptTokenCount":`)
	g.AddInt(g.Request.Prompt)
	if cached := g.Cached(); cached > 0 {
		g.Add(`,"cachedContentTokenCount":`)
		g.AddInt(cached)
	}
	g.Add(`,"candidatesTokenCount":`)
	g.AddInt(max(0, n-g.reason))
	if g.reason > 0 {
		g.Add(`,"thoughtsTokenCount":`)
		g.AddInt(min(n, g.reason))
	}
	g.Add(`,"totalTokenCount":`)
	g.AddInt(g.Request.Prompt + n)
	g.Add(`}`)
}

func (g *geminiEncoder) finish() string {
	if g.Request.Finish == "stop" || g.calls() {
		return "STOP"
	}
	return "MAX_TOKENS"
}
