package llmbench

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

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
