package wire

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// A Flavor names the server whose format POST /generate has. Several servers have this path,
// each with its own format.
type Flavor string

// The flavors. Package mockserver documents them.
const (
	FlavorTGI      Flavor = "tgi"
	FlavorSGLang   Flavor = "sglang"
	FlavorLMDeploy Flavor = "lmdeploy"
	FlavorVLLM     Flavor = "vllm"
	FlavorMindIE   Flavor = "mindie"
)

// A Route says how the requests to a path are answered.
type Route struct {
	Dialect *Dialect // nil if the body of each request decides: see Resolve
	Model   string   // the model in the path, empty if the path has none
	stream  streaming
}

// Resolve returns the route with its dialect. If the dialect is not set yet, because several
// servers share the path, the body of the request decides.
func (r Route) Resolve(body []byte) Route {
	if r.Dialect != nil {
		return r
	}
	return generateRoute(flavorOf(body))
}

// Decode reads a request. The route must have a dialect.
func (r Route) Decode(in Input) (Request, *Error) {
	req, fail := r.Dialect.Decode(in)
	switch r.stream {
	case always:
		req.Stream = true
	case notAtAll:
		req.Stream = false
	}
	return req, fail
}

// WithQuery returns the route of requests whose URL has the given query.
func (r Route) WithQuery(query string) Route {
	if r.Dialect == geminiArray {
		if q, err := url.ParseQuery(query); err == nil && q.Get("alt") == "sse" {
			r.Dialect = gemini
		}
	}
	return r
}

// A streaming says what decides whether an answer is streamed.
type streaming int

const (
	asAsked streaming = iota // the request decides
	always
	notAtAll
)

// RouteFor returns the route of a path. It returns false if the path is not for completions.
func RouteFor(path string, flavor Flavor) (Route, bool) {
	switch path {
	case "/v1/chat/completions":
		return Route{Dialect: openaiChat}, true
	case "/v1/completions":
		return Route{Dialect: openaiText}, true
	case "/v1/responses":
		return Route{Dialect: responses}, true
	case "/v1/messages":
		return Route{Dialect: anthropic}, true
	case "/v2/chat":
		return Route{Dialect: cohere}, true
	case "/generate_stream":
		return Route{Dialect: tgi, stream: always}, true
	case "/generate":
		return generateRoute(flavor), true
	case "/infer":
		return Route{Dialect: mindieInfer}, true
	case "/completion":
		return Route{Dialect: llamacpp}, true
	case "/api/chat":
		return Route{Dialect: ollamaChat}, true
	case "/api/generate":
		return Route{Dialect: ollamaGenerate}, true
	}
	if to, ok := geminiRoute(path); ok {
		return to, true
	}
	if to, ok := bedrockRoute(path); ok {
		return to, true
	}
	if d := itemDialects[path]; d != nil {
		return Route{Dialect: d, stream: notAtAll}, true
	}
	rest, ok := strings.CutPrefix(path, "/v2/models/")
	model, verb, slash := strings.Cut(rest, "/")
	if after, versions := strings.CutPrefix(verb, "versions/"); versions {
		_, verb, _ = strings.Cut(after, "/")
	}
	if !ok || !slash || model == "" {
		return Route{}, false
	}
	switch verb {
	case "generate_stream":
		return Route{Dialect: triton, Model: model, stream: always}, true
	case "generate":
		return Route{Dialect: triton, Model: model, stream: notAtAll}, true
	}
	return Route{}, false
}

// generateRoute returns the route of POST /generate for a flavor. If the flavor is empty, the
// route has no dialect.
func generateRoute(f Flavor) Route {
	switch f {
	case FlavorTGI:
		return Route{Dialect: tgi, stream: notAtAll}
	case FlavorSGLang:
		return Route{Dialect: sglang}
	case FlavorLMDeploy:
		return Route{Dialect: lmdeploy}
	case FlavorVLLM:
		return Route{Dialect: vllmDemo}
	case FlavorMindIE:
		return Route{Dialect: mindieVLLM}
	}
	return Route{}
}

// flavorOf returns the flavor to which a body of POST /generate belongs.
func flavorOf(body []byte) Flavor {
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil {
		return FlavorSGLang // its decoder reports the error
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

// Validate returns an error unless the flavor is known or empty.
func (f Flavor) Validate() error {
	switch f {
	case "", FlavorTGI, FlavorSGLang, FlavorLMDeploy, FlavorVLLM, FlavorMindIE:
		return nil
	}
	return fmt.Errorf("flavor: %q, want %s, %s, %s, %s or %s", f, FlavorTGI, FlavorSGLang, FlavorLMDeploy, FlavorVLLM, FlavorMindIE)
}
