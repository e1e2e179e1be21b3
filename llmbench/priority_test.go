package llmbench

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/priority"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/testkit/runtest"
)

// places collects the places of the threads that answer requests. They are threads of the client, too.
type places struct {
	tb   testing.TB
	want []priority.Place // for each request

	mu  sync.Mutex
	all []string
}

// ServeHTTP answers with a stream, and keeps the place of its thread. A new thread gets its place after a moment.
func (p *places) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	runtest.Until(p.tb, "a thread has its place", func() bool { return threadPlace() == string(p.want[len(p.all)]) })
	p.all = append(p.all, threadPlace())
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`+"\n\ndata: [DONE]\n\n")
}

// threadPlace describes the place of the current thread.
var threadPlace = func() string { return "none" }

// helperPlaces notes the places of threads before, during and after a pass.
func helperPlaces(b *testing.B) {
	target := Target{Model: "m"}
	cfg, err := process.ReadConfig()
	assert.NilError(b, err)
	p := places{tb: b, want: []priority.Place{priority.None, cmp.Or(target.place(cfg), priority.None)}}
	srv := httptest.NewServer(&p)
	defer srv.Close()
	target.URL = srv.URL
	Run(b, target, Load{Requests: words(1, 1), Warmup: words(1, 1), Concurrency: 1, ClientBound: BoundReported})
	harness.Note(b, "warm-up, pass and end: "+strings.Join(append(p.all, threadPlace()), " "))
}

// helperSimulated is like helperPlaces, for a server that is part of this process.
func helperSimulated(b *testing.B) {
	p := places{tb: b, want: []priority.Place{priority.None}}
	srv := httptest.NewServer(&p)
	defer srv.Close()
	Run(b, Target{URL: srv.URL, Model: "m", Simulated: true}, Load{Requests: words(1, 1), Concurrency: 1})
	harness.Note(b, "pass and end: "+strings.Join(append(p.all, threadPlace()), " "))
}

// TestPriority checks which place the threads have in the queue for a CPU, and that the configuration says so.
func TestPriority(t *testing.T) {
	t.Parallel()
	place, why := priority.Best()
	best := string(place)
	for _, tt := range []struct{ helper, env, line, places string }{
		{"Places", "auto", "\npriority: " + best + "\n", "warm-up, pass and end: none " + best + " none"},
		{"Places", "", "", "warm-up, pass and end: none none none"},
		{"Places", "none", "", "warm-up, pass and end: none none none"},
		{"Simulated", "auto", "", "pass and end: none none"},
	} {
		stdout, stderr, code, _ := runHelper(t, tt.helper, nil, nil, "LLMBENCH_PRIORITY="+tt.env)
		assert.Equal(t, code, 0, "%s%s", stdout, stderr)
		assert.Assert(t, strings.Contains(stdout, tt.places), "%q in\n%s", tt.places, stdout)
		assert.Assert(t, strings.Contains(stdout, tt.line), "%q in\n%s", tt.line, stdout)
		assert.Equal(t, strings.Contains(stdout, "\npriority:"), tt.line != "", stdout)
		assert.Equal(t, strings.Contains(stdout, "LLMBENCH_PRIORITY=auto changes nothing: "+why), tt.line != "" && place == priority.None, stdout)
		assert.Assert(t, !strings.Contains(stdout, "llmbench notes"), stdout)
	}
}
