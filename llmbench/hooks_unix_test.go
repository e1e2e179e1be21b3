//go:build unix

package llmbench

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// TestHooks checks when hooks run, what records and results say of them, and that a hook that fails fails the benchmark.
func TestHooks(t *testing.T) {
	for _, c := range []struct {
		name, before, after string
		asked               string // the paths that the server gets, in order; completions in a row are one
		notes               string
		failed              string
	}{
		{name: "requests", before: "POST /start_profile?to={pass}", after: `POST /stop_profile '{"pass":{pass}}'`,
			asked: "/v1/chat/completions /start_profile?to=0 /v1/chat/completions /stop_profile", notes: `pass 0: LLMBENCH_BEFORE_PASS: started|pass 0: LLMBENCH_AFTER_PASS: stopped {"pass":0}`},
		{name: "commands", before: "sh -c 'echo {benchmark} {pass} [$0] >&2' 'two words'", after: "true",
			asked: "/v1/chat/completions", notes: "pass 0: LLMBENCH_BEFORE_PASS: BenchmarkA,b=1 0 [two words]"},
		{name: "a command whose child goes on", before: "sh -c 'sleep 3 & echo $!'", after: "true", asked: "/v1/chat/completions"},
		{name: "it fails before", before: "sh -c 'echo no such profiler; exit 3'", after: "POST /stop_profile",
			asked: "/v1/chat/completions", failed: "before it: LLMBENCH_BEFORE_PASS: exit status 3: no such profiler"},
		{name: "it fails after", after: "POST /nothing", asked: "/v1/chat/completions /nothing", failed: "LLMBENCH_AFTER_PASS: POST /nothing: HTTP status 404: not here"},
		{name: "no such program", before: "/no/such/program{pass}", asked: "/v1/chat/completions", failed: "LLMBENCH_BEFORE_PASS: fork/exec /no/such/program0: no such file or directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			mock, err := mockserver.New(mockserver.Config{})
			assert.NilError(t, err)
			var mu sync.Mutex
			var asked []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				if n := len(asked); n == 0 || asked[n-1] != r.RequestURI {
					asked = append(asked, r.RequestURI)
				}
				mu.Unlock()
				body := new(strings.Builder)
				switch r.URL.Path {
				case "/start_profile":
					body.WriteString("started\n")
				case "/stop_profile":
					sent := make([]byte, r.ContentLength)
					r.Body.Read(sent)
					body.WriteString("stopped " + string(sent))
				case "/nothing":
					http.Error(w, "not here", http.StatusNotFound)
				default:
					mock.ServeHTTP(w, r)
				}
				w.Write([]byte(body.String()))
			}))
			defer server.Close()
			dir := t.TempDir()
			t.Setenv("LLMBENCH_OUT", dir)
			t.Setenv("LLMBENCH_BEFORE_PASS", c.before)
			t.Setenv("LLMBENCH_AFTER_PASS", c.after)
			r, err := Pass(t.Context(), "BenchmarkA/b=1", Target{URL: server.URL, Model: "mock"}, Load{Requests: words(4, 4), Warmup: words(1, 4), Concurrency: 2, ClientBound: BoundReported})
			if r != nil {
				assert.NilError(t, r.Close())
			}
			assert.Equal(t, err != nil, c.failed != "", "%v", err)
			assert.Equal(t, strings.Join(asked, " "), c.asked)
			files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
			assert.NilError(t, err)
			run, err := records.Open(files[0])
			assert.NilError(t, err)
			assert.Assert(t, strings.Contains(run.Failed(), c.failed), run.Failed())
			var notes []string
			for _, n := range run.End.Notes {
				if n.Kind == records.NoteHook && !strings.Contains(c.before, "sleep") {
					notes = append(notes, n.Text)
				}
			}
			assert.Equal(t, strings.Join(notes, "|"), c.notes)
			if c.name == "requests" {
				assert.Equal(t, run.Head.Config["before-pass"], "POST /start_profile")
			}
		})
	}
}
