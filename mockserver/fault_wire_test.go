package mockserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

const (
	chatStream = `{"messages":[{"content":"hi"}],"max_tokens":5,"stream":true}`
	chatWhole  = `{"messages":[{"content":"hi"}],"max_tokens":5}`
)

// always1 returns a fault that hits every request at token 3.
func always1(kind fault.Kind) []fault.Fault { return []fault.Fault{{Kind: kind, Every: 1, At: 3}} }

// TestFaultAnswers checks the status, the content type and the body of answers with faults.
func TestFaultAnswers(t *testing.T) {
	plain := call(mustNew(t, Config{}), "POST", chatPath, chatStream).Body.String()
	whole := call(mustNew(t, Config{}), "POST", chatPath, chatWhole).Body.String()
	sse, html, js := "text/event-stream; charset=utf-8", "text/html", "application/json"
	for _, tt := range []struct {
		kind   fault.Kind
		body   string
		status int
		typ    string
		want   string // the body; "..." means any rest
		tokens int    // number of tokens in the log
	}{
		{fault.HTTP400, chatStream, 400, js, `{"error":{"message":"This model's maximum context length is 4096 tokens. However...`, 0},
		{fault.HTTP401, chatStream, 401, js, `{"error":"Unauthorized"}`, 0},
		{fault.HTTP404, chatStream, 404, js, "{\"error\":{\"message\":\"The model `mock` does not exist.\",\"type\":\"NotFoundError\",\"param\":\"model\",\"code\":404}}", 0},
		{fault.HTTP413, chatStream, 413, js, `{"error":{"message":"Request body too large."...`, 0},
		{fault.HTTP422, chatStream, 422, js, `{"detail":[{"type":"missing","loc":["body","messages"],"msg":"Field required","input":{}}]}`, 0},
		{fault.HTTP429, chatStream, 429, js, `{"error":{"message":"Rate limit reached, please try again in 1s.","type":"RateLimitError","param":null,"code":429}}`, 0},
		{fault.HTTP500, chatWhole, 500, js, `{"error":{"message":"mockserver: injected fault","type":"InternalServerError","param":null,"code":500}}`, 0},
		{fault.HTTP529, chatStream, 529, js, `{"error":{"message":"Overloaded"...`, 0},
		{fault.HTTP503, chatStream, 503, js, `{"error":{"message":"Maximum number of queued requests (8) reached."...`, 0},
		{fault.HTML502, chatStream, 502, html, "<html>\r\n<head><title>502 Bad Gateway</title>...", 0},
		{fault.HTML200, chatStream, 200, html, "<html>\r\n<head><title>502 Bad Gateway</title>...", 0},
		{fault.HTML200, chatWhole, 200, html, "<html>\r\n...", 0},
		{fault.WrongType, chatStream, 200, "text/html; charset=utf-8", plain, 5},
		{fault.WrongType, chatWhole, 200, "text/html; charset=utf-8", whole, 5},
		{fault.JSON, chatStream, 200, js, whole, 5},
		{fault.JSON, chatWhole, 200, js, whole, 5},
		{fault.SlowHeader, chatStream, 200, sse, plain, 5},
		{fault.SlowHeader, chatWhole, 200, js, whole, 5},
		{fault.ErrorString, chatStream, 200, sse, plain[:strings.Index(plain, `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":`+created(plain)+`,"model":"mock","choices":[{"index":0,"delta":{"content":" fox`)] +
			`data: {"error":"mockserver: injected fault"}` + "\n\n", 3},
		{fault.ErrorString, chatWhole, 200, js, `{"error":"mockserver: injected fault"}`, 0},
		{fault.NamedError, chatWhole, 200, js, `{"error":{"message":"mockserver: injected fault"...`, 0},
	} {
		t.Run(fmt.Sprintf("%s stream=%t", tt.kind, tt.body == chatStream), func(t *testing.T) {
			r := onLoopback(t, Config{Faults: always1(tt.kind)})
			resp, err := r.post(t.Context(), chatPath, tt.body)
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			got := strings.ReplaceAll(string(b), created(string(b)), created(tt.want))
			if err != nil || resp.StatusCode != tt.status || resp.Header.Get("Content-Type") != tt.typ {
				t.Errorf("status %d, type %q, %v, want %d, %q", resp.StatusCode, resp.Header.Get("Content-Type"), err, tt.status, tt.typ)
			}
			if start, open := strings.CutSuffix(tt.want, "..."); got != tt.want && !(open && strings.HasPrefix(got, start)) {
				t.Errorf("body %q, want %q", got, tt.want)
			}
			if got, want := resp.Header.Get("Retry-After"), map[bool]string{true: "1"}[tt.kind == fault.HTTP429]; got != want {
				t.Errorf("Retry-After: %q, want %q", got, want)
			}
			kind := tt.kind
			if kind == fault.JSON && tt.body == chatWhole {
				kind = "" // the fault has no effect on a request without a stream
			}
			if e := r.only(); e.Status != tt.status || e.OutputTokens != tt.tokens || e.Fault != kind || e.Aborted {
				t.Errorf("Log()[0] = %+v, want status %d, %d tokens, fault %q", e, tt.status, tt.tokens, kind)
			}
		})
	}
}

// created returns the time in a body, which is the time of day.
func created(body string) string {
	_, rest, ok := strings.Cut(body, `"created":`)
	if !ok {
		return "no time"
	}
	at, _, _ := strings.Cut(rest, ",")
	return at
}

func TestNamedError(t *testing.T) {
	for _, tt := range []struct{ path, body, want string }{
		{chatPath, chatStream, "\n\nevent: error\ndata: {\"error\":{\"message\":\"mockserver: injected fault\",\"type\":\"InternalServerError\",\"param\":null,\"code\":500}}\n\n"},
		{"/generate_stream", `{"inputs":"a"}`, "\n\nevent: error\ndata: {\"error\":\"mockserver: injected fault\",\"error_type\":\"generation\"}\n\n"},
		{"/v1/responses", `{"input":"a","stream":true}`, "\n\nevent: error\ndata: {\"type\":\"error\",\"sequence_number\":7,\"code\":\"server_error\",\"message\":\"mockserver: injected fault\",\"param\":null}\n\n"},
		{"/v1/messages", `{"messages":[{"content":"a"}],"max_tokens":9,"stream":true}`, "\n\nevent: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"mockserver: injected fault\"},\"request_id\":null}\n\n"},
		{"/v2/chat", `{"messages":[{"content":"a"}],"stream":true}`, "\n\nevent: error\ndata: {\"message\":\"mockserver: injected fault\"}\n\n"},
		{"/api/chat", `{"messages":[{"content":"a"}]}`, "\n{\"error\":\"mockserver: injected fault\"}\n"},
	} {
		got := call(mustNew(t, Config{Faults: always1(fault.NamedError)}), "POST", tt.path, tt.body).Body.String()
		if !strings.HasSuffix(got, tt.want) {
			t.Errorf("POST %s = %q, want it to end with %q", tt.path, got, tt.want)
		}
	}
}

func TestErrorEventByDialect(t *testing.T) {
	for _, tt := range []struct{ path, body, want string }{
		{"/generate_stream", `{"inputs":"a"}`, "\n\ndata: {\"error\":\"mockserver: injected fault\",\"error_type\":\"generation\"}\n\n"},
		{"/completion", `{"prompt":"a","stream":true}`, "\n\ndata: {\"error\":{\"code\":500,\"message\":\"mockserver: injected fault\",\"type\":\"server_error\"}}\n\n"},
		{"/generate", `{"text":"a","stream":true}`, "\n\ndata: {\"error\":{\"message\":\"mockserver: injected fault\",\"type\":\"internal_error\",\"code\":500,\"retryable\":false}}\n\ndata: [DONE]\n\n"},
		{"/generate", `{"prompt":"a","stream":true}`, "\n\ndata: {\"error\":{\"object\":\"error\",\"message\":\"mockserver: injected fault\",\"type\":\"InternalServerError\",\"param\":null,\"code\":500}}\n\ndata: [DONE]\n\n"},
		{tritonPath + "_stream", `{"text_input":"a"}`, "\n\ndata: {\"error\":\"mockserver: injected fault\"}\n\n"},
		{"/api/generate", `{"prompt":"a"}`, "\n{\"error\":\"mockserver: injected fault\"}\n"},
		{"/v1/responses", `{"input":"a","stream":true}`, `"usage":null}}` + "\n\n"},
		{"/v2/chat", `{"messages":[{"content":"a"}],"stream":true}`, "\n\nevent: message-end\ndata: {\"type\":\"message-end\",\"delta\":{\"error\":\"mockserver: injected fault\",\"finish_reason\":\"ERROR\"}}\n\ndata: [DONE]\n\n"},
		{geminiPath, `{"contents":[{}]}`, "\n\ndata: {\"error\":{\"code\":500,\"message\":\"mockserver: injected fault\",\"status\":\"INTERNAL\"}}\n\n"},
		{"/model/m/converse-stream", `{"messages":[{}]}`, "\x0f:exception-type\x07\x00\x17internalServerException\r:content-type\x07\x00\x10application/json\r:message-type\x07\x00\texception{\"message\":\"mockserver: injected fault\"}KT\xa7!"},
		{"/model/m/invoke-with-response-stream", `{"messages":[{}],"max_tokens":9}`, "\x0f:exception-type\x07\x00\x17internalServerException\r:content-type\x07\x00\x10application/json\r:message-type\x07\x00\texception{\"message\":\"mockserver: injected fault\"}KT\xa7!"},
		{"/v1/messages", `{"messages":[{"content":"a"}],"max_tokens":9,"stream":true}`, "\n\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"mockserver: injected fault\"},\"request_id\":null}\n\n"},
	} {
		got := call(mustNew(t, Config{Faults: always1(fault.ErrorEvent)}), "POST", tt.path, tt.body).Body.String()
		if !strings.HasSuffix(got, tt.want) {
			t.Errorf("POST %s = %q, want it to end with %q", tt.path, got, tt.want)
		}
		if tt.path == "/v1/responses" && !strings.Contains(got, "event: response.failed\n") {
			t.Errorf("POST %s = %q, want the event response.failed", tt.path, got)
		}
	}
}

// raw posts over a new connection. It returns all bytes of the answer, and the error that ended
// reading.
func (r *rig) raw(path, body string) (string, error) {
	r.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		r.t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: mock\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
	b, err := io.ReadAll(conn)
	return string(b), err
}

// TestFaultsOnTheWire checks how connections end.
func TestFaultsOnTheWire(t *testing.T) {
	for _, tt := range []struct {
		kind   fault.Kind
		body   string
		err    error
		suffix string
	}{
		{fault.Truncate, chatStream, nil, "\r\n0\r\n\r\n"},
		{fault.FIN, chatStream, nil, "}]}\n\n\r\n"}, // the end of a chunk, but not of the body
		{fault.FIN, chatWhole, nil, ``},
		{fault.Reset, chatStream, syscall.ECONNRESET, "}]}\n\n\r\n"},
		{fault.SlowHeader, chatStream, nil, "data: [DONE]\n\n\r\n0\r\n\r\n"},
		{fault.SlowHeader, chatWhole, nil, `"completion_tokens":5}}`},
	} {
		r := onLoopback(t, Config{Faults: always1(tt.kind)})
		got, err := r.raw(chatPath, tt.body)
		if !errors.Is(err, tt.err) || !strings.HasPrefix(got, "HTTP/1.1 200 OK\r\n") || !strings.HasSuffix(got, tt.suffix) {
			t.Errorf("%s: %q, %v, want it to end with %q, %v", tt.kind, got, err, tt.suffix, tt.err)
		}
		if tt.kind == fault.FIN {
			if _, _, err := r.read(chatPath, tt.body); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s: reading %s: %v, want %v", tt.kind, tt.body, err, io.ErrUnexpectedEOF)
			}
		}
		if e := r.Log()[0]; e.Fault != tt.kind || e.Status != 200 || e.Aborted {
			t.Errorf("%s: Log()[0] = %+v", tt.kind, e)
		}
	}
	r := onLoopback(t, Config{Faults: []fault.Fault{{Kind: fault.FIN, Every: 1}}})
	if got, err := r.raw(chatPath, chatStream); err != nil || !strings.HasSuffix(got, "\r\n\r\n") || strings.Contains(got, "data") {
		t.Errorf("fin at 0: %q, %v, want a header alone", got, err)
	}
}

func TestLongLine(t *testing.T) {
	for _, tt := range []struct {
		path, body string
		size       int64
		want       int
	}{
		{chatPath, chatStream, 0, 64 << 20},
		{chatPath, chatStream, 100_000, 100_000},
		{"/api/chat", `{"messages":[{"content":"a"}],"options":{"num_predict":5}}`, 1 << 20, 1 << 20},
		{chatPath, chatWhole, 1 << 20, 0},
	} {
		r := onLoopback(t, Config{Faults: []fault.Fault{{Kind: fault.LongLine, Every: 1, At: 2, Size: tt.size}}})
		resp, err := r.post(t.Context(), tt.path, tt.body)
		if err != nil {
			t.Fatal(err)
		}
		longest, words := 0, 0
		lines := bufio.NewReaderSize(resp.Body, 1<<16)
		for {
			line, err := lines.ReadBytes('\n')
			longest = max(longest, len(strings.TrimSuffix(string(line), "\n")))
			if doc := bytes.TrimPrefix(line, []byte("data: ")); len(line) > 1 && !bytes.HasPrefix(doc, []byte("[DONE]")) {
				if !json.Valid(doc) {
					t.Errorf("a line of %d bytes is not JSON", len(line))
				}
				words += bytes.Count(doc, []byte(`"content":" `))
			}
			if err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		resp.Body.Close()
		if tt.want > 0 && (longest != tt.want || words != 5) || tt.want == 0 && (int64(longest) <= tt.size || words != 1) {
			t.Errorf("%s: the longest line has %d bytes, and %d events have text, want %d and all", tt.body, longest, words, tt.want)
		}
		if e := r.only(); e.OutputTokens != 5 || e.Aborted {
			t.Errorf("Log()[0] = %+v, want 5 tokens", e)
		}
	}
}

// TestResetInAnotherServer checks that a connection is reset, also above TLS, if the handler runs in a server that is not of
// this package.
func TestResetInAnotherServer(t *testing.T) {
	srv, err := New(Config{Faults: always1(fault.Reset)})
	must(t, err)
	for name, s := range map[string]*httptest.Server{"plain": httptest.NewServer(srv), "TLS": httptest.NewTLSServer(srv)} {
		resp, err := s.Client().Post(s.URL+"/v1/chat/completions", "application/json", strings.NewReader(chatStream))
		must(t, err)
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		s.Close()
		if !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: the answer ended with %v, want a reset", name, err)
		}
	}
}
