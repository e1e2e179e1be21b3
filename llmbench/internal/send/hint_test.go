package send

import (
	"net/http"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// A refusal refuses each request.
type refusal struct {
	status int
	body   string
}

func (f refusal) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := reply{f.status, ofType("application/json"), f.body}.RoundTrip(r)
	resp.Request = r
	return resp, err
}

// TestHint checks which errors of a server get a hint at LLMBENCH_BODY. The request has the members model, messages,
// max_tokens, min_tokens, ignore_eos, temperature, stream and stream_options.
func TestHint(t *testing.T) {
	for _, c := range []struct {
		status     int
		body, want string // want is a part of the error; "" means no hint
	}{
		{400, `{"error":{"message":"Unrecognized request argument supplied: ignore_eos"}}`, `; LLMBENCH_BODY='{"ignore_eos":null}' leaves out what the server does not know`},
		{400, `{"error":{"message":"Unrecognized request arguments supplied: ignore_eos, min_tokens"}}`, `'{"ignore_eos":null,"min_tokens":null}'`},
		{400, `{"error":{"message":"Unknown parameter: 'min_tokens'.","param":"min_tokens"}}`, `'{"min_tokens":null}'`},
		{422, `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`, `'{"stream_options":null}'`},
		{400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."}}`, `'{"max_tokens":null}'`},
		{400, `{"error":{"message":"property 'ignore_eos' is unsupported"}}`, `'{"ignore_eos":null}'`},
		{400, "json: unknown field \"ignore_eos\"", `'{"ignore_eos":null}'`},
		{400, `{"error":{"message":"'temperature' does not support 0 with this model."}}`, `'{"temperature":null}'`},
		{422, `{"detail":"Unexpected fields in the request: {'ignore_eos'}"}`, `'{"ignore_eos":null}' leaves out what the server does not know`},
		{422, `{"detail":[{"type":"greater_than","loc":["body","temperature"],"msg":"Input should be greater than 0"}]}`, `'{"temperature":null}' leaves out what the server does not accept`},
		{422, "Failed to deserialize the JSON body into the target type: `min_tokens`: invalid type at line 1", `'{"min_tokens":null}' leaves out what the server does not accept`},
		{400, `{"error":{"message":"Stream options can only be defined when ` + "`stream=True`" + `.","type":"BadRequestError","param":"stream_options","code":400}}`, `'{"stream_options":null}' leaves out what the server does not accept`},

		{400, `{"error":{"message":"max_tokens=5000 cannot be greater than max_model_len","param":"max_tokens","code":400}}`, ""},
		{422, `{"detail":[{"loc":["body","max_tokens"],"msg":"Input should be less than or equal to 4096"}]}`, ""},
		{422, `{"detail":[{"loc":["body","messages",0],"msg":"the temperature is too high"}]}`, ""},
		{400, `{"error":{"message":"'temperature' must be positive"}}`, ""},
		{400, `{"error":{"message":"The model m is unknown"}}`, ""},
		{400, `{"error":{"message":"This model's maximum context length is 4096 tokens; max_tokens is too large"}}`, ""},
		{400, `{"error":{"message":"unknown field my_min_tokens_x"}}`, ""},
		{500, `{"error":{"message":"Unknown parameter: 'min_tokens'"}}`, ""},
		{404, `unknown path, min_tokens`, ""},
	} {
		w, p := newTestWorker(t, refusal{c.status, c.body}, Options{Stream: true})
		s := w.Do(t.Context(), p, 0, false)
		assert.ErrorContains(t, s.Err, c.want)
		assert.Equal(t, strings.Contains(s.Err.Error(), "LLMBENCH_BODY"), c.want != "", "%v", s.Err)
	}
}

// TestHintInContainer checks the hint about settings that are members of a member.
func TestHintInContainer(t *testing.T) {
	r, err := http.NewRequest(http.MethodPost, "http://mem", strings.NewReader(`{"inputs":"a","parameters":{"max_new_tokens":4,"ignore_eos":true,"top_k":1}}`))
	assert.NilError(t, err)
	for text, want := range map[string]string{
		"unknown field ignore_eos in parameters": `; LLMBENCH_BODY='{"parameters":{"ignore_eos":null}}' leaves out what the server does not know (Target.Body)`,
		`{"error":"'top_k' must be at least 2"}`: `; LLMBENCH_BODY='{"parameters":{"top_k":null}}' leaves out what the server does not accept (Target.Body)`,
		`{"error":"invalid 'parameters'"}`:       "",
	} {
		assert.Equal(t, hint(&http.Response{StatusCode: 422, Request: r}, text), want)
	}
}

// TestHasWord checks words that are, or are not, a part of a longer word.
func TestHasWord(t *testing.T) {
	for _, text := range []string{"top_k", "'top_k'", "top_k.", "ätop_kä", "top_k2 and top_k", "[$top_k]"} {
		assert.Equal(t, hasWord(text, "top_k"), true, text)
	}
	for _, text := range []string{"", "top", "top_k2", "_top_k", "top_k_top_k", "stop_k"} {
		assert.Equal(t, hasWord(text, "top_k"), false, text)
	}
	assert.Equal(t, hasWord(`unknown field "$x"`, "$x"), true)
	assert.Equal(t, hasWord("unknown", ""), false) // the body of a request may have a member without a name
}
