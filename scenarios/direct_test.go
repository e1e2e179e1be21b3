package scenarios

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/router"
)

// proxied returns the URL of a gateway to the server at the given URL.
func proxied(t *testing.T, upstream string) string {
	r, err := router.New(&router.RoundRobin{}, upstream)
	assert.NilError(t, err)
	front := httptest.NewServer(r)
	t.Cleanup(front.Close)
	return front.URL
}

// TestDirect runs this binary under the name llmbench, with a gateway and the server behind it, and with the server
// alone.
func TestDirect(t *testing.T) {
	self, err := os.Executable()
	assert.NilError(t, err)
	name := filepath.Join(t.TempDir(), "llmbench")
	if err := os.Symlink(self, name); err != nil {
		t.Skip("skipped: no symbolic links: ", err)
	}
	_, url := mockserver.Start(t, mockserver.Config{TTFT: 2 * time.Millisecond, PerToken: 50 * time.Millisecond}) // slow enough that no load makes tokens come together
	run := func(environ ...string) string {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, name, "-bench=GatewayOverhead")
		cmd.Dir = t.TempDir()
		cmd.Env = append(os.Environ(), "LLMBENCH_REPORT=run.json", "LLMBENCH_CONCURRENCY=2", "LLMBENCH_REQUESTS=4", "LLMBENCH_OUTPUT=3", "LLMBENCH_CLIENT_BOUND=report") // too short to be judged for bursts
		cmd.Env = append(cmd.Env, environ...)
		out, err := cmd.CombinedOutput()
		assert.NilError(t, err, "%s", out)
		summary, err := os.ReadFile(filepath.Join(cmd.Dir, "run.json"))
		assert.NilError(t, err, "%s", out)
		added := regexp.MustCompile(` (added-[a-z0-9-]+-ms)`).FindAllSubmatch(out, -1)
		for _, unit := range added {
			assert.Assert(t, strings.Contains(string(summary), fmt.Sprintf("%q: {", unit[1])), "no %s in %s", unit[1], summary)
		}
		assert.Assert(t, len(added) > 0, "%s", out)
		return string(out)
	}
	const byLog = "the gateway adds is computed for each request"
	for _, tt := range []struct {
		environ   []string
		want, not []string
	}{
		{[]string{"LLMBENCH_DIRECT=" + url, "LLMBENCH_URL=" + proxied(t, url)},
			[]string{"stream=true/via=direct/", "stream=true/via=gateway/", "stream=false/via=gateway/", " added-ttft-ms", " added-e2e-ms", " added-whole-ms", byLog}, []string{"reference-proxy"}},
		{[]string{"LLMBENCH_DIRECT=" + url, "LLMBENCH_URL=" + proxied(t, url), "LLMBENCH_DIALECT=anthropic-messages"},
			[]string{"dialect: anthropic-messages", "stream=true/via=gateway/", " added-ttft-ms", " added-whole-ms", byLog}, nil},
		{[]string{"LLMBENCH_URL=" + url},
			[]string{"via=direct/", "via=reference-proxy/", "LLMBENCH_DIRECT=http://server measures the gateway at LLMBENCH_URL"}, []string{"via=gateway"}},
	} {
		out := run(tt.environ...)
		for _, want := range tt.want {
			assert.Assert(t, strings.Contains(out, want), "want %q in\n%s", want, out)
		}
		for _, not := range tt.not {
			assert.Assert(t, !strings.Contains(out, not), "%q in\n%s", not, out)
		}
	}
}

// TestReadLog checks which answers of a log are used, and that a server without a log is no error.
func TestReadLog(t *testing.T) {
	srv, url := mockserver.Start(t, mockserver.Config{TTFT: time.Millisecond})
	target := llmbench.Target{URL: url, Model: "mock"}
	ask := func(at llmbench.Target) sample.Sample {
		r, err := llmbench.Pass(t.Context(), "", at, llmbench.Load{Concurrency: 1, ClientBound: llmbench.BoundReported,
			Requests: []llmbench.Request{{Prompt: "a b", MaxTokens: 3, FixedOutput: true}}})
		assert.NilError(t, err)
		defer r.Close()
		for s := range r.All() {
			return *s
		}
		return sample.Sample{}
	}
	known := ask(target)
	log, err := readLog(t.Context(), target)
	assert.NilError(t, err)
	assert.Assert(t, log.covers(sample.All(known)))
	entry, real := log[known.ID], srv.Log()[0]
	assert.Assert(t, entry.Accepted == real.Accepted && entry.Received == real.Received && entry.End == real.End && entry.Tokens[0] == real.Tokens[0], "%+v", entry)
	assert.Assert(t, !log.covers(sample.All(known, sample.Sample{ID: "other", Outcome: sample.OK})), "a gateway that changes the ID")
	assert.Assert(t, log.covers(sample.All(known, sample.Sample{ID: "other", Outcome: sample.HTTP})))

	for name, handler := range map[string]http.HandlerFunc{
		"a real server": http.NotFound,
		"a page for each path": func(w http.ResponseWriter, r *http.Request) {
			w.Write([]byte("<html>"))
		},
	} {
		s := httptest.NewServer(handler)
		defer s.Close()
		log, err := readLog(t.Context(), llmbench.Target{URL: s.URL})
		assert.NilError(t, err, name)
		assert.Assert(t, log == nil, name)
	}
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Mock-Epoch-Unix-Ns", "1")
		w.Write([]byte(`[{"id":"a","status":200,"tokens_ns":[1]},{`))
	}))
	defer broken.Close()
	_, err = readLog(t.Context(), llmbench.Target{URL: broken.URL})
	assert.ErrorContains(t, err, "log of the simulated server")
}
