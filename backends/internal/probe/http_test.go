package probe

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// TestLongAnswer checks the limit of the answers to probes.
func TestLongAnswer(t *testing.T) {
	length := maxAnswer
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.Copy(w, io.LimitReader(endless{}, int64(length)))
	}))
	defer s.Close()
	fetch := func() ([]byte, error) {
		return Fetch(t.Context(), llmbench.Target{URL: s.URL}, http.MethodGet, "/metrics?a=b", "")
	}
	body, err := fetch()
	assert.NilError(t, err)
	assert.Equal(t, len(body), maxAnswer)
	for _, length = range []int{maxAnswer + 1, 1 << 30} {
		body, err = fetch()
		assert.Error(t, err, "GET /metrics: an answer of more than 16777216 bytes")
		assert.Equal(t, len(body), 0)
	}
}

// endless is a reader of spaces.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return copy(b, strings.Repeat(" ", len(b))), nil }

// TestGatewayPages checks that errors have one line, and that a gateway without its server is told as such.
func TestGatewayPages(t *testing.T) {
	const nginx = "<html>\r\n<head><title>504 Gateway Time-out</title></head>\r\n<body>\r\n<center><h1>504 Gateway Time-out</h1></center>\r\n<hr><center>nginx/1.22.1</center>\r\n</body>\r\n</html>\r\n"
	const down = "the gateway answers, its upstream does not"
	for _, tt := range []struct {
		status           int
		kind, body, want string
	}{
		{504, "text/html", nginx, "status 504 Gateway Timeout: " + down},
		{502, "text/html; charset=utf-8", nginx, "status 502 Bad Gateway: " + down},
		{502, "text/plain", "", "status 502 Bad Gateway: " + down},
		{503, "text/html", "<html><body><h1>503 Service Unavailable</h1>\nNo server is available to handle this request.\n</body></html>\n", "status 503 Service Unavailable: " + down},
		{503, "application/json", `{"error":"loading"}`, `status 503 Service Unavailable: {"error":"loading"}`},
		{504, "text/plain", "upstream request timeout", "status 504 Gateway Timeout: " + down + ": upstream request timeout"},
		{404, "text/html", "<html><style>a {\n}</style>\n<h1>Not Found</h1></html>", "status 404 Not Found: Not Found"},
		{400, "application/json", "{\n  \"error\": 1\n}", `status 400 Bad Request: { "error": 1 }`},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", tt.kind)
			w.WriteHeader(tt.status)
			io.WriteString(w, tt.body)
		}))
		_, err := Fetch(t.Context(), llmbench.Target{URL: s.URL}, http.MethodGet, "/v1/models", "")
		s.Close()
		assert.Error(t, err, "GET /v1/models: "+tt.want)
	}
}
