package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// gemini is Google's generateContent. A stream is a sequence of events, each with a response, as the real server sends
// with the query alt=sse. https://ai.google.dev/api/generate-content
var gemini = &Dialect{
	ContentType: "text/event-stream", Unmarked: true,
	Decode: decodeGemini,
	Encode: func(a Answer) Encoder { return &geminiEncoder{newChat(a)} }, ErrorBody: googleError,
}

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
		return Route{Dialect: gemini, Model: model, stream: always}, true
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
	in.Body = geminiMembers.rename(in.Body)
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
		fail = BadRequest("contents", "contents: missing or empty: want at least one")
	}
	if w.System != nil { // first, because a prompt begins with the system's instruction
		r.Prompt += w.System.count(in)
	}
	for _, c := range w.Contents {
		r.Prompt += c.count(in)
	}
	return r.planned(limits{name: "maxOutputTokens", max: w.Config.MaxOutputTokens, stops: w.Config.StopSequences}, in, in.geminiScript, fail)
}

// A spelling has the members of an object that are objects or lists of objects, of which members have two spellings.
type spelling map[string]spelling

// geminiMembers are the members that decodeGemini and geminiScript read.
var geminiMembers = spelling{"generationConfig": {}, "toolConfig": {"functionCallingConfig": {}}, "tools": {"functionDeclarations": {}}}

// rename returns a JSON value in which members have names like maxOutputTokens. Google also accepts names like
// max_output_tokens (https://protobuf.dev/programming-guides/json/). A value without such names is returned as it is, and so is
// one that is not JSON.
func (s spelling) rename(value json.RawMessage) json.RawMessage {
	if s == nil || !bytes.ContainsRune(value, '_') {
		return value
	}
	var list []json.RawMessage
	if json.Unmarshal(value, &list) == nil {
		for i := range list {
			list[i] = s.rename(list[i])
		}
		return jsontext.Marshal(list)
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return value
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		first, rest, _ := strings.Cut(name, "_")
		if first == "" {
			continue
		}
		for part := range strings.SplitSeq(rest, "_") {
			if part != "" {
				first += strings.ToUpper(part[:1]) + part[1:]
			}
		}
		member := s[first].rename(members[name])
		delete(members, name)
		members[first] = member
	}
	return jsontext.Marshal(members)
}

// googleKinds has the status code of Google's APIs for each status. The code for any other status is
// INVALID_ARGUMENT. https://google.aip.dev/193
var googleKinds = map[int]string{
	http.StatusUnauthorized:        "UNAUTHENTICATED",
	http.StatusNotFound:            "NOT_FOUND",
	http.StatusTooManyRequests:     "RESOURCE_EXHAUSTED",
	http.StatusInternalServerError: "INTERNAL",
	http.StatusServiceUnavailable:  "UNAVAILABLE",
	StatusOverloaded:               "UNAVAILABLE",
}

// googleError returns the error object of Google's APIs.
func googleError(e *Error) string {
	message := e.message
	if e.maxContext > 0 {
		message = fmt.Sprintf("The input token count (%d) exceeds the maximum number of tokens allowed (%d).", e.prompt, e.maxContext)
	}
	kind := cmp.Or(googleKinds[e.Status], "INVALID_ARGUMENT")
	return fmt.Sprintf(`{"error":{"code":%d,"message":%s,"status":"%s"}}`, e.Status, jsontext.Quote(message), kind)
}

// A geminiEncoder is the encoder of one answer of generateContent. A call is sent as a whole. If the token limit
// cuts the call off, the output is sent as text instead.
type geminiEncoder struct{ chat }

func (g *geminiEncoder) Opening() {}

func (g *geminiEncoder) Tokens(from, to int) {
	if g.callsWhole() { // the call is sent with the last token
		to = min(to, g.reason)
	}
	if from < to {
		g.BeginTokens("")
		g.response(from, to, false)
		g.End()
	}
}

func (g *geminiEncoder) Last(from, to int) {
	g.BeginEvent("", from < to)
	g.response(from, to, true)
	g.End()
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
		g.textBetween(`{"text":"`, from, min(to, g.reason), `","thought":true}`)
		sep = ","
	}
	switch {
	case last && g.callsWhole():
		g.Add(sep, `{"functionCall":{"name":`, g.quotedCall(), `,"args":`)
		g.callObject()
		g.Add(`}}`)
	case to > g.reason || sep == "":
		g.Add(sep)
		g.textBetween(`{"text":"`, max(from, g.reason), max(to, g.reason), `"}`)
	}
	g.Add(`],"role":"model"}`)
	if last {
		g.Add(`,"finishReason":"`, g.finish("STOP", "STOP", "STOP", "MAX_TOKENS"), `"`)
	}
	g.Add(`,"index":0}]`)
	if g.Shape.Usage != shape.UsageNever || !g.Request.Stream {
		g.usage(to)
	}
	g.Add(`,"modelVersion":`, g.Model)
	g.AddInt(`,"responseId":"mock-`, int(g.Ordinal))
	g.Add(`"}`)
}

// usage renders the token counts after n tokens.
func (g *geminiEncoder) usage(n int) {
	g.AddInt(`,"usageMetadata":{"promptTokenCount":`, g.Request.Prompt)
	if cached := g.Cached(); cached > 0 {
		g.AddInt(`,"cachedContentTokenCount":`, cached)
	}
	g.AddInt(`,"candidatesTokenCount":`, max(0, n-g.reason))
	if g.reason > 0 {
		g.AddInt(`,"thoughtsTokenCount":`, min(n, g.reason))
	}
	g.AddInt(`,"totalTokenCount":`, g.Request.Prompt+n)
	g.Add(`}`)
}
