package mockserver

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// A sink is a ResponseWriter that keeps the status and the first bytes.
type sink struct {
	header http.Header
	status int
	body   []byte
}

func (s *sink) Header() http.Header    { return s.header }
func (s *sink) WriteHeader(status int) { s.status = status }
func (s *sink) Flush()                 {}
func (s *sink) Write(b []byte) (int, error) {
	if s.status == 0 {
		s.status = 200
	}
	if len(s.body) < 4096 {
		s.body = append(s.body, b...)
	}
	return len(b), nil
}

// FuzzRequest sends any body to any path. The server must not panic, must answer with a
// known status, and must send JSON with an error.
func FuzzRequest(f *testing.F) {
	for _, s := range []struct{ method, path, body string }{
		{"POST", chatPath, `{"messages":[{"role":"user","content":"hi"}],"max_tokens":3,"stream":true,"stream_options":{"include_usage":true}}`},
		{"POST", chatPath, `{"messages":[{"content":[{"type":"text","text":"a b"}]}],"stop":["fox","a"],"min_tokens":1,"ignore_eos":true}`},
		{"POST", textPath, `{"prompt":[1,2,3],"max_completion_tokens":9}`},
		{"POST", textPath, `{"prompt":["a"],"stop":" \u00e9\ud800","n":1}`},
		{"POST", textPath, `{"prompt":"a","max_tokens":99999999999999999999}`},
		{"GET", "/v1/models", ``}, {"GET", "/health", ``}, {"GET", "/mock/log", ``}, {"DELETE", "/mock/log", ``},
		{"PATCH", "/v1//completions", `null`},
		{"POST", "/generate", `{"inputs":"a b","parameters":{"max_new_tokens":3}}`}, {"POST", "/infer", `{"inputs":"a b","stream":true}`}, {"POST", "/v2/models/a/versions/1/generate", `{"text_input":"a"}`},
		{"GET", "/api/tags", ``}, {"GET", "/", ``}, {"POST", "/api/show", `{"model":"a"}`}, {"POST", "/v2/models//generate_stream", `{}`}, {"HEAD", "/v2/health/ready", ``},
	} {
		f.Add(s.method, s.path, s.body)
	}
	f.Fuzz(func(t *testing.T, method, path, body string) {
		s := mustNew(t, Config{OutputTokens: 50})
		w := &sink{header: http.Header{}}
		s.ServeHTTP(w, &http.Request{
			Method: method, URL: &url.URL{Path: path}, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)),
		})
		switch w.status {
		case 0, 200: // 0: the handler wrote nothing, so net/http sends 200
		case 400, 404, 405, 413, 422:
			if !json.Valid(w.body) {
				t.Errorf("%s %s %q: status %d with %q, want JSON", method, path, body, w.status, w.body)
			}
		default:
			t.Errorf("%s %s %q: status %d", method, path, body, w.status)
		}
		for _, e := range s.Log() {
			if len(e.Tokens) != e.OutputTokens || e.Aborted || e.Status != w.status {
				t.Errorf("%s %s %q: log has %+v, status was %d", method, path, body, e, w.status)
			}
		}
	})
}
