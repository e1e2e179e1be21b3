package gatewaytest

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// pairs are the APIs of clients and of upstreams between which the reference translates.
var pairs = [][2]string{
	{"openai-chat", "anthropic-messages"}, {"openai-chat", "gemini"}, {"openai-chat", "bedrock-converse"}, {"openai-chat", "cohere"}, {"openai-chat", "ollama"},
	{"anthropic-messages", "openai-chat"}, {"anthropic-messages", "openai-responses"}, {"openai-responses", "openai-chat"}, {"openai-responses", "anthropic-messages"},
}

// TestTranslation checks that an honest gateway passes that translates.
func TestTranslation(t *testing.T) {
	t.Parallel()
	for i, p := range pairs {
		if testing.Short() && i > 0 {
			break
		}
		t.Run(p[0]+" to "+p[1], func(t *testing.T) {
			t.Parallel()
			Run(t, func(t testing.TB, upstreams []string) string { return startTranslator(t, p[0], p[1], "", upstreams[0]) },
				Options{API: p[0], Classes: []string{"fidelity", "end", "leaving", "usage", "translation", "failover"}})
		})
	}
}

// mistakes are the planted faults of translations: the APIs, and the only finding.
var mistakes = map[string]struct{ from, to, finding string }{
	"loses the system's text":                {"openai-chat", "anthropic-messages", "translation/system/request"},
	"puts the system's text into the user's": {"openai-chat", "gemini", "translation/system/request"},
	"loses the assistant's turns":            {"anthropic-messages", "openai-chat", "translation/turns/request"},
	"loses required members of schemas":      {"openai-chat", "gemini", "translation/tools/request"},
	"calls any tool":                         {"openai-chat", "anthropic-messages", "translation/tool-choice/request"},
	"swaps the IDs of results":               {"openai-responses", "openai-chat", "translation/tool-results/request"},
	"cuts arguments of calls":                {"openai-chat", "bedrock-converse", "translation/tool-results/request"},
	"has a limit of its own":                 {"openai-chat", "anthropic-messages", "translation/max-tokens/request"},
	"forgets the temperature":                {"anthropic-messages", "openai-chat", "translation/temperature/request"},
	"forgets stop sequences":                 {"openai-chat", "cohere", "translation/stop/request"},
	"leaves images out":                      {"openai-chat", "ollama", "translation/image/request"},
	"asks for whole answers":                 {"openai-chat", "gemini", "translation/stream/request"},
	"takes max_tokens for stop":              {"openai-chat", "anthropic-messages", "translation/length*/finish"},
	"has one type of errors":                 {"anthropic-messages", "openai-chat", "translation/error-*/error-type"},
	"answers errors with status 200":         {"openai-responses", "openai-chat", "translation/error-*/success"},
	"drops translated reasoning":             {"openai-chat", "gemini", "fidelity/reasoning*/reasoning"},
	"cuts the arguments of translated calls": {"openai-chat", "anthropic-messages", "fidelity/tool-call*/tool-call"},
	"adds the prompt to the output tokens":   {"anthropic-messages", "openai-chat", "usage/*/usage"},
}

// TestMistakes plants one fault after another in a translation. The cases of the fault, and no other cases of its class, must
// find it.
func TestMistakes(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes some ten seconds")
	}
	t.Parallel()
	for fault, m := range mistakes {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			class, _, _ := strings.Cut(m.finding, "/")
			r, err := Check(func(upstreams []string) (string, error) {
				return startTranslator(t, m.from, m.to, fault, upstreams[0]), nil
			}, nil,
				Options{API: m.from, Classes: []string{class}, Gaps: []string{m.finding}})
			assert.NilError(t, err)
			for _, f := range r.Findings() {
				t.Log(f)
			}
			assert.Assert(t, !r.Failed(), "%v, %v", r.Findings(), r.Stale) // a gap that does not occur is a failure, too
		})
	}
}

// TestSameFinish checks which finish reasons of two APIs mean the same.
func TestSameFinish(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"stop", "end_turn", true}, {"stop", "STOP", true}, {"length", "max_tokens", true}, {"tool_calls", "tool_use", true},
		{"tool_calls", "STOP", true}, {"completed", "tool_calls", true}, // APIs without a reason of their own for tool calls
		{"stop", "length", false}, {"stop", "tool_use", false}, {"stop", "unknown", false}, {"unknown", "unheard", false},
	} {
		assert.Equal(t, sameFinish(c.a, c.b), c.want, "%s, %s", c.a, c.b)
	}
}
