package llmbench

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/jarcoal/httpmock"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestCompressed reads answers that are compressed although that was not asked for.
func TestCompressed(t *testing.T) {
	const stream = `data: {"choices":[{"delta":{"content":"a"}}]}` + "\n\n" + `data: {"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}]}` + "\n\n"
	const whole = `{"choices":[{"message":{"content":"hi"},"finish_reason":"length"}],"usage":{"prompt_tokens":5,"completion_tokens":3}}`
	compress := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, err := io.WriteString(w, text)
		assert.NilError(t, err)
		assert.NilError(t, w.Close())
		return b.String()
	}
	for _, tt := range []struct {
		name     string
		allowed  bool
		status   int
		encoding string
		body     string
		noStream bool
		want     sample.Outcome
		text     string // of the error
		tokens   int
	}{
		{"a stream", true, 200, "gzip", compress(stream), false, sample.OK, "", 2},
		{"a body", true, 200, "gzip", compress(whole), true, sample.OK, "", 3},
		{"not allowed", false, 200, "gzip", compress(stream), false, sample.Malformed, `content encoding "gzip", which was not asked for; LLMBENCH_COMPRESSED=1 or Target.Compressed allows it`, 0},
		{"unknown", true, 200, "br", "?", false, sample.Malformed, `content encoding "br"; only gzip and deflate can be decoded`, 0},
		{"identity", false, 200, "identity", stream, false, sample.OK, "", 2},
		{"not compressed", true, 200, "gzip", stream, false, sample.Malformed, "gzip: invalid header", 0},
		{"cut", true, 200, "gzip", compress(stream)[:40], false, sample.Truncated, "unexpected EOF", 0},
		{"empty", true, 200, "gzip", "", false, sample.Empty, "no event", 0},
		{"an error", false, 404, "gzip", compress("no such model"), false, sample.HTTP, "status 404: no such model", 0},
		{"an error in an unknown encoding", false, 404, "br", "?", false, sample.HTTP, "status 404: ?", 0},
	} {
		mock := httpmock.NewMockTransport()
		mock.RegisterResponder("POST", "http://server/v1/chat/completions", func(*http.Request) (*http.Response, error) {
			resp := httpmock.NewStringResponse(tt.status, tt.body)
			resp.Status = map[int]string{200: "200", 404: "404"}[tt.status]
			resp.Header.Set("Content-Encoding", tt.encoding)
			resp.Header.Set("Content-Type", map[bool]string{false: "text/event-stream", true: "application/json"}[tt.noStream])
			return resp, nil
		})
		w, p := newTestWorker(t, mock, Load{NoStream: tt.noStream})
		w.in.compressed = tt.allowed
		for range 2 {
			s := w.do(t.Context(), p, 0, false)
			assert.Equal(t, s.Outcome, tt.want, "%s: %v", tt.name, s.Err)
			assert.Equal(t, s.OutputTokens, tt.tokens, tt.name)
			if tt.want != sample.OK {
				assert.Assert(t, strings.Contains(s.Err.Error(), tt.text), "%s: %v", tt.name, s.Err)
			}
		}
	}
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
	assert.DeepEqual(t, Target{URL: "unix:///run/llm.sock"}.config(), map[string]string{
		"dialect": "openai-chat", "instants": "of the client's reads, a Unix socket has no kernel timestamps",
	})
}
