package llmbench

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestRecordHeader checks that the named fields of answers are in samples and records, without secrets, and that
// each request has a traceparent of its own, whose trace ID is in its record.
func TestRecordHeader(t *testing.T) {
	const secret = "sk-0123456789abcdef"
	var mu sync.Mutex
	traces := map[string]string{} // by request ID
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		traces[r.Header.Get("X-Request-Id")] = r.Header.Get("Traceparent")
		mu.Unlock()
		w.Header().Set("X-Envoy-Upstream-Service-Time", "5")
		w.Header().Set("X-Route", r.Header.Get("Authorization"))
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, wholeAnswer)
	}))
	defer srv.Close()
	out := t.TempDir()
	t.Setenv("LLMBENCH_OUT", out)
	target := Target{URL: srv.URL, Model: "m", RecordHeader: []string{"x-envoy-upstream-service-time", "x-route", "x-other"},
		Header: http.Header{"Authorization": {"Bearer " + secret}, "traceparent": {"00-00000000000000000000000000000000-0000000000000000-01"}}}
	c, err := NewClient("Header", target, Load{})
	assert.NilError(t, err)
	seen := map[string]bool{}
	for range 3 {
		s, err := c.Do(t.Context(), Request{Prompt: "a", MaxTokens: 3})
		assert.NilError(t, err)
		assert.NilError(t, s.Err)
		assert.DeepEqual(t, s.Header, []sample.Field{{Name: "x-envoy-upstream-service-time", Value: "5"}, {Name: "x-route", Value: "[redacted]"}})
		mu.Lock()
		trace := traces[s.ID]
		mu.Unlock()
		parts := regexp.MustCompile("^00-([0-9a-f]{32})-([0-9a-f]{16})-01$").FindStringSubmatch(trace)
		assert.Assert(t, parts != nil, trace)
		assert.Equal(t, s.TraceID, parts[1])
		assert.Assert(t, !seen[parts[1]] && !seen[parts[2]])
		seen[parts[1]], seen[parts[2]] = true, true
	}
	assert.NilError(t, c.Close())
	files, err := filepath.Glob(filepath.Join(out, "*.jsonl"))
	assert.NilError(t, err)
	text, err := os.ReadFile(files[0])
	assert.NilError(t, err)
	assert.Equal(t, strings.Count(string(text), `"header":{"x-envoy-upstream-service-time":"5","x-route":"[redacted]"},"trace_id":"`), 3, string(text))
	assert.Assert(t, !strings.Contains(string(text), secret))
}

// TestRecordHeaderRefused checks that no field is recorded whose values are credentials.
func TestRecordHeaderRefused(t *testing.T) {
	for _, tt := range []struct {
		name    string
		refused bool
	}{
		{"x-envoy-upstream-service-time", false}, {"x-ratelimit-remaining-tokens", false}, {"X-Served-By", false}, {"server-timing", false},
		{"Set-Cookie", true}, {"x-session-token", true}, {"X-Session-Id", true}, {"authorization", true}, {"x-api-key", true}, {"X-Team", true}, {"x-affinity", true},
		{"x-jwt-assertion", true}, {"a b", true}, {"", true},
	} {
		target := Target{URL: "http://any", RecordHeader: []string{tt.name}, Header: http.Header{"x-team": {"a"}}, Echo: []string{"X-Affinity"}}
		assert.Equal(t, target.Check() != nil, tt.refused, tt.name)
	}
}
