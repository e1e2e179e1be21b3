package send

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/jarcoal/httpmock"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestCompressed reads answers that are compressed although the client did not ask for this.
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
		text     string // text in the error
		tokens   int
	}{
		{"a stream", true, 200, "gzip", compress(stream), false, sample.OK, "", 2},
		{"a body", true, 200, "gzip", compress(whole), true, sample.OK, "", 3},
		{"not allowed", false, 200, "gzip", compress(stream), false, sample.Malformed, `content encoding "gzip", which was not requested; LLMBENCH_COMPRESSED=1 or Target.Compressed allows it`, 0},
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
		w, p := newTestWorker(t, mock, Options{Stream: !tt.noStream})
		w.client.server.Compressed = tt.allowed
		for range 2 {
			s := w.Do(t.Context(), p, 0, false)
			assert.Equal(t, s.Outcome, tt.want, "%s: %v", tt.name, s.Err)
			assert.Equal(t, s.OutputTokens, tt.tokens, tt.name)
			if tt.want != sample.OK {
				assert.Assert(t, strings.Contains(s.Err.Error(), tt.text), "%s: %v", tt.name, s.Err)
			}
		}
	}
}
