package wire

import (
	"encoding/json"
	"fmt"
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

// Resolve returns the route with its dialect. If the dialect is not set yet, because several
// servers share the path, the body of the request decides.
func (r Route) Resolve(body []byte) Route {
	if r.Dialect != nil {
		return r
	}
	return flavors[flavorOf(body)]
}

// routes has the routes of the paths for generated text that name no model, except /generate.
var routes = map[string]Route{
	"/v1/chat/completions": {Dialect: openaiChat},
	"/v1/completions":      {Dialect: openaiText},
	"/v1/responses":        {Dialect: responses},
	"/v1/messages":         {Dialect: anthropic},
	"/v2/chat":             {Dialect: cohere},
	"/generate_stream":     {Dialect: tgi, stream: always},
	"/infer":               {Dialect: mindieInfer},
	"/completion":          {Dialect: llamacpp},
	"/api/chat":            {Dialect: ollamaChat},
	"/api/generate":        {Dialect: ollamaGenerate},
}

// flavors has the route of POST /generate for each flavor.
var flavors = map[Flavor]Route{
	FlavorTGI:      {Dialect: tgi, stream: notAtAll},
	FlavorSGLang:   {Dialect: sglang},
	FlavorLMDeploy: {Dialect: lmdeploy},
	FlavorVLLM:     {Dialect: vllmDemo},
	FlavorMindIE:   {Dialect: mindieVLLM},
}

// RouteFor returns the route of a path. It returns false if the path is not for completions.
func RouteFor(path string, flavor Flavor) (Route, bool) {
	if path == "/generate" {
		return flavors[flavor], true // without a dialect if the flavor is empty
	}
	if to, ok := routes[path]; ok {
		return to, true
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
	if _, known := flavors[f]; known || f == "" {
		return nil
	}
	return fmt.Errorf("flavor: %q: want %s, %s, %s, %s or %s", f, FlavorTGI, FlavorSGLang, FlavorLMDeploy, FlavorVLLM, FlavorMindIE)
}
