package mockserver

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// call calls the handler directly, without a connection.
func call(h http.Handler, method, path, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	return w
}

func TestBadRequests(t *testing.T) {
	s := mustNew(t, Config{})
	for _, tt := range []struct {
		method, path, body string
		status             int
		param, message     string
	}{
		{"POST", chatPath, ``, 400, "", "unexpected end of JSON input"},
		{"POST", chatPath, `{"messages":[{"content":"hi"}]} x`, 400, "", "after top-level value"},
		{"POST", chatPath, `[]`, 400, "", "array"},
		{"POST", chatPath, `{}`, 400, "messages", "messages: missing or empty: want at least one"},
		{"POST", chatPath, `{"messages":[]}`, 400, "messages", "messages: missing or empty"},
		{"POST", chatPath, `{"messages":"hi"}`, 400, "messages", "cannot unmarshal string"},
		{"POST", chatPath, `{"messages":[{},{"content":7}]}`, 400, "messages[1].content", "want a string or an array of parts"},
		{"POST", chatPath, `{"prompt":"hi"}`, 400, "messages", "missing"},
		{"POST", chatPath, `{"messages":[{"content":"hi"}],"max_tokens":0}`, 400, "max_tokens", "max_tokens: 0: want 1 to 1048576"},
		{"POST", chatPath, `{"messages":[{"content":"hi"}],"max_tokens":-1}`, 400, "max_tokens", "max_tokens: -1"},
		{"POST", chatPath, `{"messages":[{"content":"hi"}],"max_tokens":1.5}`, 400, "max_tokens", "number 1.5"},
		{"POST", chatPath, `{"messages":[{"content":"hi"}],"max_tokens":1048577}`, 400, "max_tokens", "max_tokens: 1048577"},
		{"POST", chatPath, `{"messages":[{"content":"hi"}],"max_completion_tokens":0}`, 400, "max_completion_tokens", "max_completion_tokens: 0"},
		{"POST", chatPath, `{"messages":[{"content":"hi"}],"max_tokens":5,"min_tokens":6}`, 400, "min_tokens", "min_tokens: 6: want 0 to max_tokens, which is 5"},
		{"POST", chatPath, `{"messages":[{"content":"hi"}],"min_tokens":-1}`, 400, "min_tokens", "min_tokens: -1"},
		{"POST", chatPath, `{"messages":[{"content":"hi"}],"n":2}`, 400, "n", "n: 2: want 1"},
		{"POST", chatPath, `{"messages":[{"content":"hi"}],"stop":7}`, 400, "stop", "want a string or an array of strings"},
		{"POST", chatPath, `{"messages":[{"content":"hi"}],"stop":["a",""]}`, 400, "stop", "stop: empty string"},
		{"POST", chatPath, `{"messages":[{"content":"hi"}],"stop":[` + strings.Repeat(`"a",`, 16) + `"a"]}`, 400, "stop", "stop: 17 strings: want at most 16"},
		{"POST", chatPath, `{"messages":[{"content":"hi"}],"stream_options":{"include_usage":true}}`, 400, "stream_options", "only allowed with stream true"},
		{"POST", textPath, `{}`, 400, "prompt", "prompt: missing"},
		{"POST", textPath, `{"prompt":null}`, 400, "prompt", "prompt: missing"},
		{"POST", textPath, `{"prompt":[]}`, 400, "prompt", "want a string, an array of one string or an array of token ids"},
		{"POST", textPath, `{"prompt":["a","b"]}`, 400, "prompt", "want a string"},
		{"POST", textPath, `{"prompt":[-1]}`, 400, "prompt", "want a string"},
		{"POST", "/v1/images", `{}`, 404, "", "path /v1/images: not found"},
		{"GET", "/v1", ``, 404, "", "path /v1: not found"},
		{"GET", chatPath, ``, 405, "", "method GET: want POST"},
		{"POST", "/v1/models", ``, 405, "", "method POST: want GET"},
		{"POST", "/health", ``, 405, "", "method POST: want GET, HEAD"},
		{"PUT", "/mock/log", ``, 405, "", "method PUT: want GET, DELETE"},
		{"POST", textPath, `{"prompt":"` + strings.Repeat("a", maxBody) + `"}`, 413, "", "body: more than 67108864 bytes"},
	} {
		name := fmt.Sprintf("%s %s %.80s", tt.method, tt.path, tt.body)
		w := call(s, tt.method, tt.path, tt.body)
		var got struct {
			Error struct {
				Message string
				Type    string
				Param   *string
				Code    int
			}
		}
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Errorf("%s: body %q: %v", name, w.Body, err)
			continue
		}
		e := got.Error
		if w.Code != tt.status || e.Code != tt.status || e.Type == "" || !strings.Contains(e.Message, tt.message) {
			t.Errorf("%s = %d %s, want %d with a message like %q", name, w.Code, w.Body, tt.status, tt.message)
		}
		if tt.param == "" && e.Param != nil || tt.param != "" && (e.Param == nil || *e.Param != tt.param) {
			t.Errorf("%s: %s, want param %q", name, w.Body, tt.param)
		}
	}
	for _, e := range s.Log() {
		if e.Status < 400 || e.Admitted != -1 || e.Aborted || e.Path == "" {
			t.Errorf("Log() has %+v, want a path, a status of 400 or more, and admitted -1", e)
		}
	}
}

func TestLengths(t *testing.T) {
	tenToks := Config{OutputTokens: 10}
	for _, tt := range []struct {
		cfg            Config
		path, body     string
		prompt, output int
		finish         string
	}{
		{Config{}, chatPath, `{"messages":[{"role":"user","content":" two  words\n"}]}`, 2, 128, "length"},
		{Config{}, chatPath, `{"messages":[{"content":null},{"content":""},{"content":[{"type":"image_url"},{"type":"text","text":"a b c"}]}]}`, 3, 128, "length"},
		{Config{}, chatPath, `{"messages":[{"content":"a"}],"max_tokens":7,"max_completion_tokens":9}`, 1, 9, "length"},
		{Config{}, chatPath, `{"messages":[{"content":"a"}],"max_tokens":null,"stop":null,"stream_options":null,"n":1}`, 1, 128, "length"},
		{Config{}, textPath, `{"prompt":"a b","max_tokens":7}`, 2, 7, "length"},
		{Config{}, textPath, `{"prompt":""}`, 0, 128, "length"},
		{Config{}, textPath, `{"prompt":["a b c"]}`, 3, 128, "length"},
		{Config{}, textPath, `{"prompt":[17,4,99999,0]}`, 4, 128, "length"},
		{tenToks, textPath, `{"prompt":"a"}`, 1, 10, "stop"},
		{tenToks, textPath, `{"prompt":"a","max_tokens":10}`, 1, 10, "length"},
		{tenToks, textPath, `{"prompt":"a","max_tokens":9}`, 1, 9, "length"},
		{tenToks, textPath, `{"prompt":"a","max_tokens":50,"ignore_eos":true}`, 1, 50, "length"},
		{tenToks, textPath, `{"prompt":"a","max_tokens":50,"min_tokens":20}`, 1, 20, "stop"},
		{tenToks, textPath, `{"prompt":"a","max_tokens":50,"min_tokens":50}`, 1, 50, "length"},
		{Config{}, textPath, `{"prompt":"a","max_tokens":50,"min_tokens":5}`, 1, 50, "length"},
		// Tokens: the quick brown fox jumps over a lazy dog while seven ...
		{Config{}, textPath, `{"prompt":"a","stop":" fox"}`, 1, 3, "stop"},
		{Config{}, textPath, `{"prompt":"a","stop":"fox"}`, 1, 3, "stop"},
		{Config{}, textPath, `{"prompt":"a","stop":"umps ov"}`, 1, 4, "stop"},
		{Config{}, textPath, `{"prompt":"a","stop":["dog","over a"]}`, 1, 5, "stop"},
		{Config{}, textPath, `{"prompt":"a","stop":["cat"]}`, 1, 128, "length"},
		{Config{}, textPath, `{"prompt":"a","stop":"again the quick","max_tokens":100}`, 1, 19, "stop"},
		{Config{}, textPath, `{"prompt":"a","stop":"again the quick","max_tokens":21}`, 1, 21, "length"},
		{Config{}, textPath, `{"prompt":"a","stop":"fox","min_tokens":3}`, 1, 3, "stop"},
		{Config{}, textPath, `{"prompt":"a","stop":"fox","min_tokens":4}`, 1, 23, "stop"},
		{Config{}, textPath, `{"prompt":"a","stop":"fox","ignore_eos":true}`, 1, 3, "stop"},
		{Config{}, textPath, `{"prompt":"a","stop":"fox","max_tokens":3}`, 1, 3, "length"},
	} {
		w := call(mustNew(t, tt.cfg), "POST", tt.path, tt.body)
		var got struct {
			Choices []struct {
				Text    string
				Message struct{ Content string }
				Finish  string `json:"finish_reason"`
			}
			Usage struct {
				Prompt int `json:"prompt_tokens"`
				Output int `json:"completion_tokens"`
				Total  int `json:"total_tokens"`
			}
		}
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || len(got.Choices) != 1 {
			t.Errorf("%s = %d %s, %v, want one choice", tt.body, w.Code, w.Body, err)
			continue
		}
		c, u := got.Choices[0], got.Usage
		if u.Prompt != tt.prompt || u.Output != tt.output || u.Total != tt.prompt+tt.output || c.Finish != tt.finish {
			t.Errorf("%s: usage %+v, finish %q, want %d and %d tokens, %q", tt.body, u, c.Finish, tt.prompt, tt.output, tt.finish)
		}
		if got := len(strings.Fields(c.Text + c.Message.Content)); got != tt.output {
			t.Errorf("%s: %d words, want %d, as many as tokens", tt.body, got, tt.output)
		}
	}
}

func TestHealthAndModels(t *testing.T) {
	s := mustNew(t, Config{Model: "a/b"})
	if w := call(s, "GET", "/health", ""); w.Code != 200 || w.Body.Len() != 0 {
		t.Errorf("GET /health = %d %q, want 200 and nothing", w.Code, w.Body)
	}
	w := call(s, "GET", "/v1/models", "")
	var got struct{ Data []struct{ ID, Object string } }
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || len(got.Data) != 1 || got.Data[0].ID != "a/b" || got.Data[0].Object != "model" {
		t.Errorf("GET /v1/models = %d %s, %v, want the model a/b", w.Code, w.Body, err)
	}
}

func TestStreamHeader(t *testing.T) {
	r := onLoopback(t, Config{})
	for body, want := range map[string]string{
		`{"prompt":"a","stream":true}`: "text/event-stream; charset=utf-8",
		`{"prompt":"a"}`:               "application/json",
	} {
		resp, err := r.post(t.Context(), textPath, body)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if got := resp.Header.Get("Content-Type"); got != want {
			t.Errorf("%s: content type %q, want %q", body, got, want)
		}
	}
}

func TestEpochOnTheWallClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mustNew(t, Config{})
		want := s.Epoch().UnixNano()
		time.Sleep(time.Hour)
		if got := s.EpochUnixNano(); got != want {
			t.Errorf("EpochUnixNano = %d after an hour, want %d", got, want)
		}
		w := call(s, "GET", "/mock/log", "")
		if got := w.Header().Get("Mock-Epoch-Unix-Ns"); got != fmt.Sprint(want) {
			t.Errorf("Mock-Epoch-Unix-Ns = %q, want %d", got, want)
		}
	})
}

func TestLogEndpoint(t *testing.T) {
	s := mustNew(t, Config{})
	if w := call(s, "GET", "/mock/log", ""); w.Body.String() != "[]" {
		t.Errorf("GET /mock/log of a new server = %s, want []", w.Body)
	}
	for i := range 3 {
		req := httptest.NewRequest("POST", textPath, strings.NewReader(`{"prompt":"a b","max_tokens":2,"stream":true}`))
		if i == 1 {
			req.Header.Set("X-Request-Id", "mine")
		}
		s.ServeHTTP(httptest.NewRecorder(), req)
	}
	call(s, "POST", textPath, `{}`)
	w := call(s, "GET", "/mock/log", "")
	var got []Entry
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, s.Log()) {
		t.Errorf("GET /mock/log = %+v, want Log(), %+v", got, s.Log())
	}
	var ids, ordinals, outputs string
	for _, e := range got {
		ids += fmt.Sprintf("%q ", e.ID)
		ordinals += fmt.Sprint(e.Ordinal, " ")
		outputs += fmt.Sprint(e.PromptTokens, "+", e.OutputTokens, " ")
	}
	if ids != `"" "mine" "" "" ` || ordinals != "1 2 3 4 " || outputs != "2+2 2+2 2+2 0+0 " {
		t.Errorf("log has ids %s, ordinals %s, tokens %s", ids, ordinals, outputs)
	}
	var keys []map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &keys); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{"id", "ordinal", "path", "stream", "accepted_ns", "admitted_ns", "tokens_ns", "end_ns",
		"prompt_tokens", "output_tokens", "status", "fault", "aborted"} {
		if _, ok := keys[0][k]; !ok {
			t.Errorf("an entry has no %q in JSON", k)
		}
	}
	s.Log()[0].Tokens[0] = -7
	if s.Log()[0].Tokens[0] == -7 {
		t.Error("Log() shares its tokens with the server")
	}
	if w := call(s, "DELETE", "/mock/log", ""); w.Code != 200 || len(s.Log()) != 0 {
		t.Errorf("DELETE /mock/log = %d and leaves %d entries, want 200 and none", w.Code, len(s.Log()))
	}
	call(s, "POST", textPath, `{"prompt":"a"}`)
	if got := s.Log(); len(got) != 1 || got[0].Ordinal != 5 {
		t.Errorf("Log() after one more request = %+v, want ordinal 5 only", got)
	}
}

// When a client has read the end of an answer, the log has its entry.
func TestEntryIsThereAtEOF(t *testing.T) {
	r := onLoopback(t, Config{})
	for i := range 200 {
		r.must(textPath, fmt.Sprintf(`{"prompt":"a","max_tokens":3,"stream":%v}`, i%2 == 0))
		if got := len(r.Log()); got != i+1 {
			t.Fatalf("Log() has %d entries after request %d", got, i+1)
		}
	}
}
