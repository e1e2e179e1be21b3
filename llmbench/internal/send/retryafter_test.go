package send

import (
	"net/http"
	"testing"
	"time"

	"gotest.tools/v3/assert"
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
