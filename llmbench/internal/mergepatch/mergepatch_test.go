package mergepatch

import (
	"encoding/json"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestApply has the test cases of RFC 7386, appendix A, and cases with bodies of requests.
func TestApply(t *testing.T) {
	for _, tt := range []struct{ body, patch, want string }{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`["a","b"]`, `["c","d"]`, `["c","d"]`},
		{`{"a":"b"}`, `["c"]`, `["c"]`},
		{`{"a":"foo"}`, `null`, `null`},
		{`{"a":"foo"}`, `"bar"`, `"bar"`},
		{`{"e":null}`, `{"a":1}`, `{"a":1,"e":null}`},
		{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},

		{`{"max_tokens":9,"ignore_eos":true,"stream_options":{"include_usage":true}}`,
			`{"ignore_eos":null,"stream_options":null,"max_tokens":null,"max_completion_tokens":9}`, `{"max_completion_tokens":9}`},
		{`{"parameters":{"max_new_tokens":9,"details":true}}`, `{"parameters":{"temperature":0.7,"details":null}}`, `{"parameters":{"max_new_tokens":9,"temperature":0.7}}`},
		{`{"prompt":"<a> & \u00fc\n","seed":12345678901234567890}`, `{"top_p":1e-3}`, `{"prompt":"<a> & ü\n","seed":12345678901234567890,"top_p":1e-3}`},
		{`{}`, `{"messages":[{"content":null}]}`, `{"messages":[{"content":null}]}`},
	} {
		got, err := Apply([]byte(tt.body), []byte(tt.patch))
		assert.NilError(t, err)
		assert.Equal(t, string(got), tt.want, "Apply(%s, %s)", tt.body, tt.patch)
	}
	for _, tt := range [][2]string{{`{"a":`, `{"a":1}`}, {`{}`, `{"a":`}} {
		_, err := Apply([]byte(tt[0]), []byte(tt[1]))
		assert.ErrorContains(t, err, "merge patch of the body: ")
	}
}

func TestCheck(t *testing.T) {
	for patch, want := range map[string]string{
		`{"temperature":0.7,"a":{"b":null}}`: "",
		`{}`:                                 "",
		`{"n":1}`:                            "",
		`{"n":null}`:                         "",
		``:                                   "not a JSON object",
		`null`:                               "not a JSON object",
		`[{"a":1}]`:                          "not a JSON object",
		`{"a":1`:                             "not a JSON object",
		`{"a":1} {"b":2}`:                    "not a JSON object",
		`{"a":1,"a":2}`:                      "not a JSON object",
		`{"stream":false}`:                   `member "stream"`,
		`{"stream":null}`:                    `member "stream"`,
		`{"n":2}`:                            `member "n"`,
	} {
		err := Check([]byte(patch))
		if want == "" {
			assert.NilError(t, err, "%s", patch)
		} else {
			assert.ErrorContains(t, err, want, "%s", patch)
		}
	}
}

func TestHide(t *testing.T) {
	isSecret := func(name, text string) bool { return strings.HasSuffix(name, "key") }
	shown, secrets := Hide([]byte(` { "top_p": 0.5, "api_key": "k1", "data_sources": [ {"key": "k2", "nokey2": "x"} ], "key": 7 } `), isSecret)
	assert.Equal(t, shown, `{"api_key":"[secret]","data_sources":[{"key":"[secret]","nokey2":"x"}],"key":7,"top_p":0.5}`)
	assert.Equal(t, len(secrets), 2)
	shown, secrets = Hide([]byte(`{"a": {"key": {"id": "k1", "x": ["k2"]}, "id": "y"}}`), isSecret)
	assert.Equal(t, shown, `{"a":{"id":"y","key":{"id":"[secret]","x":["[secret]"]}}}`)
	assert.Equal(t, len(secrets), 2)
	shown, secrets = Hide([]byte("{"), isSecret)
	assert.Equal(t, shown, "")
	assert.Equal(t, len(secrets), 0)
}

// FuzzApply checks that applying a patch that Check accepts gives JSON, and that applying it again changes
// nothing.
func FuzzApply(f *testing.F) {
	f.Add(`{"a":{"b":1}}`, `{"a":{"b":null,"c":[null]}}`)
	f.Add(`[]`, `{"a":{}}`)
	f.Fuzz(func(t *testing.T, body, patch string) {
		if Check([]byte(patch)) != nil {
			return
		}
		once, err := Apply([]byte(body), []byte(patch))
		if err != nil {
			return
		}
		assert.Assert(t, json.Valid(once), "Apply(%q, %q) = %q", body, patch, once)
		again, err := Apply(once, []byte(patch))
		assert.NilError(t, err)
		assert.Equal(t, string(again), string(once), "Apply(%q, %q)", body, patch)
	})
}
