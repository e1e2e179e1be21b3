package gatewaytest_test

import (
	"bytes"
	"go/parser"
	"go/token"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends/gatewaytest"
)

func TestGateway(t *testing.T) {
	gatewaytest.Run(t, func(t testing.TB, upstreams []string) string {
		to, _ := url.Parse(upstreams[0])
		proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
		gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 32<<20)) // else some answers break: go.dev/issue/40747
			if err != nil {
				http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			proxy.ServeHTTP(w, r)
		}))
		t.Cleanup(gateway.Close)
		return gateway.URL
	}, gatewaytest.Options{Gaps: []string{"isolation/keys/tenant-key", "failover/*/error-object"}})
}

// TestDoc checks that the package comment has the test above.
func TestDoc(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	assert.NilError(t, err)
	var code []string
	for line := range strings.Lines(f.Doc.Text()) {
		if text, indented := strings.CutPrefix(line, "\t"); indented {
			code = append(code, text)
		}
	}
	assert.Assert(t, len(code) > 5)
	file, err := os.ReadFile("example_test.go")
	assert.NilError(t, err)
	assert.Assert(t, strings.Contains(string(file), strings.Join(code, "")), strings.Join(code, ""))
}
