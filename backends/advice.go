package backends

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
)

// explained returns err, which wraps final, the last answer of t, with what the user can do about it. It may ask the
// server for its models and its paths, for at most adviceTime.
func explained(ctx context.Context, t llmbench.Target, final *probe.Final, err error) error {
	ctx, cancel := context.WithTimeout(ctx, adviceTime)
	defer cancel()
	why := ""
	switch final.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		why = aboutKey(t, final.Status)
	case http.StatusProxyAuthRequired:
		why = "the proxy wants a user and a password, as in LLMBENCH_PROXY=http://user:password@host:3128"
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		switch {
		case final.Path == "":
		case namesModel(t, final):
			why = aboutModel(ctx, t)
		case final.Status != http.StatusBadRequest:
			why = aboutPath(ctx, t)
		}
	}
	if why == "" {
		return err
	}
	return fmt.Errorf("%s: %w", why, err)
}

// adviceTime limits the requests that find out what to advise.
const adviceTime = 5 * time.Second

// aboutKey says what is wrong with the credentials of requests to t, which the server has refused with a status.
func aboutKey(t llmbench.Target, status int) string {
	if t.AWS != nil {
		return "the server does not accept the signature of the AWS keys, or they do not allow the request"
	}
	name, _ := dialect.KeyHeader(t.Dialect, "")
	own, bearer := false, false
	for field := range t.Header {
		field = http.CanonicalHeaderKey(field)
		own, bearer = own || field == name, bearer || field == "Authorization"
	}
	switch {
	case !own && !bearer && status == http.StatusUnauthorized:
		return "the server wants an API key, and LLMBENCH_API_KEY is not set"
	case !own && !bearer:
		return "the server does not allow the request, and LLMBENCH_API_KEY is not set"
	case bearer && status == http.StatusUnauthorized:
		return "the server does not accept the API key in LLMBENCH_API_KEY or LLMBENCH_HEADER"
	case bearer:
		return "the server does not allow the request with the API key in LLMBENCH_API_KEY or LLMBENCH_HEADER"
	}
	return fmt.Sprintf("the server does not accept the API key, which the dialect %s sends in the field %s; LLMBENCH_HEADER='Authorization: Bearer KEY' sends a bearer token, as vLLM and other engines want it", t.Dialect.Name(), name)
}

// namesModel reports whether a refusal is about the model and not about the path or another part of the request.
func namesModel(t llmbench.Target, refusal *probe.Final) bool {
	text := strings.ToLower(refusal.Err.Error())
	if refusal.Status == http.StatusBadRequest {
		return t.Model != "" && strings.Contains(text, strings.ToLower(t.Model))
	}
	missing := []string{"not found", "not exist", "no such", "unknown", "not loaded", "not available", "not supported"}
	return strings.Contains(text, "model") && slices.ContainsFunc(missing, func(m string) bool { return strings.Contains(text, m) })
}

// aboutModel says which models the server has. It returns "" if t.Model is one of them.
func aboutModel(ctx context.Context, t llmbench.Target) string {
	names, err := probe.Server{Target: t}.Models(ctx, "/v1/models")
	if err != nil || slices.Contains(names, t.Model) {
		return ""
	}
	if len(names) > mostNames {
		names = append(names[:mostNames:mostNames], fmt.Sprintf("and %d more", len(names)-mostNames))
	}
	return fmt.Sprintf("the server lists no model %q; LLMBENCH_MODEL names one of its models, which are %s", t.Model, strings.Join(names, ", "))
}

// mostNames is the largest number of names of models in a message.
const mostNames = 10

// aboutPath says which dialects the server seems to speak, given that it does not know the path of the dialect of t.
func aboutPath(ctx context.Context, t llmbench.Target) string {
	name := dialect.OpenAIChat{}.Name()
	if t.Dialect != nil {
		name = t.Dialect.Name()
	}
	text := fmt.Sprintf("the server does not know the path to which the dialect %s sends", name)
	var spoken []string
	if !(sign{path: "/no-such-path"}).found(ctx, t) { // otherwise a status says nothing about a path
		for _, s := range signs {
			if s.dialect != name && s.found(ctx, t) {
				spoken = append(spoken, s.dialect)
			}
		}
	}
	if len(spoken) == 0 {
		return text + "; LLMBENCH_DIALECT names another one, and LLMBENCH_URL may lack a prefix that all paths have"
	}
	return text + "; by its other paths it speaks " + strings.Join(spoken, ", ") + ", which LLMBENCH_DIALECT can name"
}

// A sign is a path by which a server shows that it speaks a dialect.
type sign struct {
	dialect, path string
	// answer is a part of the answer to GET. If it is "", the server refuses the method with status 405 instead, because
	// the path wants a POST.
	answer string
}

// signs has the signs of the dialects that several servers speak, or one that has no other.
var signs = []sign{
	{dialect: "openai-chat", path: "/v1/chat/completions"},
	{dialect: "openai-completions", path: "/v1/completions"},
	{dialect: "openai-responses", path: "/v1/responses"},
	{dialect: "anthropic-messages", path: "/v1/messages"},
	{dialect: "cohere", path: "/v2/chat"},
	{dialect: "tgi", path: "/generate_stream"},
	{dialect: "ollama", path: "/api/version", answer: `"version"`}, // https://github.com/ollama/ollama/blob/main/docs/api.md
	{dialect: "triton", path: "/v2", answer: `"extensions"`},       // https://github.com/kserve/open-inference-protocol
	{dialect: "embeddings", path: "/v1/embeddings"},
	{dialect: "tei-embed", path: "/embed"},
	{dialect: "rerank", path: "/v1/rerank"},
	{dialect: "tei-rerank", path: "/rerank"},
}

// found reports whether the server t has the sign.
func (s sign) found(ctx context.Context, t llmbench.Target) bool {
	body, err := probe.Fetch(ctx, t, http.MethodGet, s.path, "")
	if s.answer != "" {
		return err == nil && strings.Contains(string(body), s.answer)
	}
	status, refused := errors.AsType[probe.StatusError](err)
	return refused && status.Code == http.StatusMethodNotAllowed
}
