package llmbench

import (
	"crypto/tls"
	"net/http"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
)

// TestDialectHeader checks which header fields of a dialect are added to requests.
func TestDialectHeader(t *testing.T) {
	target := Target{Dialect: dialect.AnthropicMessages{}, Header: http.Header{"x-api-key": {"k"}}}
	assert.DeepEqual(t, target.header(), http.Header{"Anthropic-Version": {"2023-06-01"}, "X-Api-Key": {"k"}})
	target.Header = http.Header{"anthropic-version": {"other"}}
	assert.DeepEqual(t, target.header(), http.Header{"Anthropic-Version": {"other"}})
	assert.DeepEqual(t, Target{Header: target.Header}.header(), target.Header)
}

// TestConfigLines checks what the configuration lines say about requests and connections.
func TestConfigLines(t *testing.T) {
	target := Target{
		URL: "https://x", Config: map[string]string{"backend": "mine", "tls": "hidden by a line of the same name"},
		Header: http.Header{"x-team": {"blue-secret"}, "Authorization": {"Bearer blue-secret"}, "Host": {"virtual"}},
		Body:   []byte(`{"top_p": 0.5, "api_key": "green-secret", "user": "blue-secret"}`), Compressed: true, TLS: &tls.Config{InsecureSkipVerify: true},
	}
	assert.DeepEqual(t, target.config(), map[string]string{
		"dialect": "openai-chat", "backend": "mine", "header": "Host, X-Team",
		"body":        `{"api_key":"[secret]","top_p":0.5,"user":"[redacted]"}`,
		"compression": "allowed, instants of compressed answers are those of whole compressed blocks",
		"tls":         "insecure, the server's certificate is not verified",
	})
	assert.DeepEqual(t, Target{}.config(), map[string]string{"dialect": "openai-chat"})
	assert.DeepEqual(t, Target{Dialect: dialect.AnthropicMessages{}, Header: http.Header{"X-Api-Key": {"k"}}}.config(), map[string]string{"dialect": "anthropic-messages"})
	assert.DeepEqual(t, Target{URL: "unix:///run/llm.sock"}.config(), map[string]string{
		"dialect": "openai-chat", "instants": "of the client's reads, a Unix socket has no kernel timestamps",
	})
}
