package llmbench

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestOutcomeOfRefusal checks which refusals are because of the server's load.
func TestOutcomeOfRefusal(t *testing.T) {
	for _, tt := range []struct {
		status     int
		retryAfter string
		want       sample.Outcome
		named      []int // statuses that the target names
	}{
		{429, "", sample.Shed, nil}, {429, "7", sample.Shed, nil},
		{503, "", sample.HTTP, nil}, {503, "7", sample.Shed, nil},
		{529, "", sample.Shed, nil}, {529, "7", sample.Shed, nil},
		{400, "7", sample.HTTP, nil}, {500, "7", sample.HTTP, nil}, {504, "", sample.HTTP, nil}, {530, "", sample.HTTP, nil},
		{503, "", sample.Shed, []int{429, 503}}, {420, "", sample.Shed, []int{420}}, {429, "7", sample.HTTP, []int{503}}, {503, "7", sample.HTTP, []int{504}},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if tt.retryAfter != "" {
				w.Header().Set("Retry-After", tt.retryAfter)
			}
			w.WriteHeader(tt.status)
		}))
		s := Do(t.Context(), Target{URL: srv.URL, Model: "m", ShedStatus: tt.named}, Request{Prompt: "a", MaxTokens: 1}, true)
		srv.Close()
		assert.Equal(t, s.Outcome, tt.want, "%d %q", tt.status, tt.retryAfter)
	}
}

// TestSampleOfRefusal checks that the sample of a refused request holds the server's Retry-After.
func TestSampleOfRefusal(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		http.Error(w, "busy", http.StatusTooManyRequests)
	}))
	defer srv.Close()
	s := Do(t.Context(), Target{URL: srv.URL, Model: "m"}, Request{Prompt: "a", MaxTokens: 1}, true)
	assert.Equal(t, s.Outcome, sample.Shed)
	assert.Equal(t, s.RetryAfter, 7*time.Second)
}
