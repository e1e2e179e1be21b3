package about

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
)

// fingerprints are the forms of system_fingerprint that have a version, in the answers of engines: vllm-0.30.0-fd94d8cd or
// vllm-0.27.0-tp4-396e4bd4, and b11312-5f3a2c1 of llama.cpp.
var fingerprints = []struct {
	server  string
	pattern *regexp.Regexp // its first group is the version
}{
	{"vLLM", regexp.MustCompile(`^vllm-([0-9][^-]*)(?:-[^-]+)*-[0-9a-f]{8}$`)},
	{"llama.cpp", regexp.MustCompile(`^(b[0-9]+-[0-9a-z]+)$`)},
}

// readFingerprint sends a completion of one token, and takes the version from system_fingerprint in its answer
// (https://platform.openai.com/docs/api-reference/chat/object). Gateways pass completions on, but often no other question.
func (a *asker) readFingerprint() {
	d := a.target.Dialect
	switch d.(type) {
	case nil:
		d = dialect.OpenAIChat{}
	case dialect.OpenAIChat, dialect.OpenAICompletions:
	default:
		return
	}
	q := dialect.Query{Model: a.target.Model, Prompt: "Say hello.", MaxTokens: 1}
	body, err := d.Body(q)
	if err != nil {
		return
	}
	var answer struct {
		Fingerprint string `json:"system_fingerprint"`
	}
	a.question("POST "+d.Path(q), func(ctx context.Context) error {
		text, err := probe.Fetch(ctx, a.target, http.MethodPost, d.Path(q), string(body))
		if err != nil {
			return err
		}
		return json.Unmarshal(text, &answer)
	})
	for _, f := range fingerprints {
		if found := f.pattern.FindStringSubmatch(answer.Fingerprint); found != nil {
			a.set("server", f.server)
			a.set("server-version", found[1])
		}
	}
}
