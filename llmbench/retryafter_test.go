package llmbench

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

func TestRetryAfter(t *testing.T) {
	const date, later = "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:51:07 GMT"
	now := time.Date(1994, 11, 6, 8, 50, 37, 0, time.UTC)
	for _, c := range []struct {
		header http.Header
		want   time.Duration
	}{
		{http.Header{}, 0},
		{http.Header{"Retry-After": {"0"}}, 0},
		{http.Header{"Retry-After": {" 120 "}}, 2 * time.Minute},
		{http.Header{"Retry-After": {"-1"}}, 0},
		{http.Header{"Retry-After": {"1.5"}}, 0},
		{http.Header{"Retry-After": {"99999999999999999999"}}, 0},
		{http.Header{"Retry-After": {"soon"}}, 0},
		{http.Header{"Retry-After": {later}}, 30 * time.Second},
		{http.Header{"Retry-After": {later}, "Date": {date}}, 90 * time.Second},
		{http.Header{"Retry-After": {date}}, 0},
	} {
		assert.Equal(t, retryAfter(c.header, now), c.want, "%v", c.header)
	}
}

// TestSampleOfRefusal checks that the sample of a refused request has what the server asked for.
func TestSampleOfRefusal(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		http.Error(w, "busy", http.StatusTooManyRequests)
	}))
	defer srv.Close()
	s := Do(t.Context(), Target{URL: srv.URL, Model: "m"}, Request{Prompt: "a", MaxTokens: 1}, true)
	assert.Equal(t, s.Outcome, sample.HTTP)
	assert.Equal(t, s.RetryAfter, 7*time.Second)
}
