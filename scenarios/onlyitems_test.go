package scenarios

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// TestOnlyItems measures servers that answer requests of one kind alone, without LLMBENCH_DIALECT.
func TestOnlyItems(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it starts processes")
	}
	_, base := mockserver.Start(t, mockserver.Config{})
	to, err := url.Parse(base)
	assert.NilError(t, err)
	self, err := os.Executable()
	assert.NilError(t, err)
	for _, c := range []struct {
		bench, path, model string
		status             int // of requests of other kinds
		code               int
		want               string // a part of the output
	}{
		{"Embeddings", "/v1/embeddings", "mock", http.StatusNotFound, 0, "inputs/s"},
		{"Embeddings", "/v1/embeddings", "", http.StatusBadRequest, 0, "inputs/s"},
		{"Rerank", "/v1/rerank", "mock", http.StatusNotImplemented, 0, "inputs/s"},
		{"Embeddings", "/v1/chat/completions", "mock", http.StatusNotFound, 0, "is skipped: the server refuses such a request"},
		{"Rerank", "/v1/embeddings", "mock", http.StatusNotFound, 1, "by its other paths it speaks embeddings, which LLMBENCH_DIALECT can name"},
		{"Chat", "/v1/embeddings", "mock", http.StatusNotFound, 1, "by its other paths it speaks embeddings, which LLMBENCH_DIALECT can name"},
	} {
		proxy := httputil.NewSingleHostReverseProxy(to)
		only := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != c.path && r.URL.Path != "/v1/models" {
				http.Error(w, "no such request", c.status)
				return
			}
			proxy.ServeHTTP(w, r)
		}))
		defer only.Close()
		cmd := exec.CommandContext(t.Context(), self, "-test.run=^$", "-test.bench=^Benchmark"+c.bench+"$", "-test.benchtime=1x")
		cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "LLMBENCH_") })
		cmd.Env = append(cmd.Env, "LLMBENCH_URL="+only.URL, "LLMBENCH_MODEL="+c.model, "LLMBENCH_CLIENT_BOUND=report", "LLMBENCH_PROGRESS=none")
		if c.bench != "Chat" { // which does not read it
			cmd.Env = append(cmd.Env, "LLMBENCH_BATCH=1")
		}
		out, err := cmd.CombinedOutput()
		assert.Equal(t, cmd.ProcessState.ExitCode(), c.code, "%+v: %v\n%s", c, err, out)
		assert.Assert(t, strings.Contains(string(out), c.want), "%+v\n%s", c, out)
	}
}
