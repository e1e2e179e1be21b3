package mockserver

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestOllamaPaths(t *testing.T) {
	s := mustNew(t, Config{Model: "a/b"})
	for _, tt := range []struct {
		method, path, body string
		status             int
		want               string // a part of the body
	}{
		{"GET", "/", "", 200, "Ollama is running"},
		{"GET", "/api/version", "", 200, `"version":"0.0.0-mock"`},
		{"GET", "/api/tags", "", 200, `"name":"a/b"`},
		{"GET", "/api/ps", "", 200, `"name":"a/b"`},
		{"POST", "/api/show", `{"model":"c"}`, 200, `"capabilities":["completion"`},
		{"POST", "/api/show", `{"name":"c"}`, 200, `"capabilities":["completion"`},
		{"POST", "/api/show", `{}`, 400, `{"error":"model is required"}`},
		{"POST", "/api/show", `{`, 400, `{"error":"body: `},
		{"GET", "/api/show", "", 405, `want POST`},
		{"POST", "/api/tags", "", 405, `want GET, HEAD`},
	} {
		w := call(s, tt.method, tt.path, tt.body)
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) {
			t.Errorf("%s %s %s = %d %s, want %d with %s", tt.method, tt.path, tt.body, w.Code, w.Body, tt.status, tt.want)
		}
		if json.Valid(w.Body.Bytes()) == (tt.path == "/") {
			t.Errorf("%s %s %s = %s, want JSON, except on /", tt.method, tt.path, tt.body, w.Body)
		}
	}
}
