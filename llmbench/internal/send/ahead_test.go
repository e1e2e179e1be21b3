package send

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
)

// TestConnectionsAhead checks how many connections the schedule of an open loop needs.
func TestConnectionsAhead(t *testing.T) {
	second := time.Second
	for _, tt := range []struct {
		due     []time.Duration
		longest time.Duration
		want    int
	}{
		{[]time.Duration{}, second, 0},
		{[]time.Duration{0}, second, 1},
		{[]time.Duration{0, 2 * second, 4 * second}, second, 2},
		{[]time.Duration{0, 3 * second, 6 * second}, second, 1},
		{[]time.Duration{0, 3 * second, 6 * second}, 3 * second, 3},
		{[]time.Duration{0, 9 * second, 9 * second, 9 * second}, second, 3},
		{[]time.Duration{0, 2 * second}, 0, 2}, // nothing is known about the duration of requests
		{[]time.Duration{0, 3 * second}, 0, 1},
		{make([]time.Duration, 5000), second, maxAhead},
	} {
		p := &Pass{Classes: []Class{{Due: tt.due, Posts: Posts{N: len(tt.due)}}}}
		assert.Equal(t, p.connectionsAhead(tt.longest), tt.want, "%v, %v", tt.due, tt.longest)
	}
}

// TestLongest checks which posts count for the longest post: requests, and sessions whose turns all
// succeeded.
func TestLongest(t *testing.T) {
	for _, tt := range []struct {
		name string
		last string // the answer to the last turn
		want time.Duration
	}{
		{"a session", content + finish + done, 250 * ms},
		{"a session that failed", content, 100 * ms},
	} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			w, p := newTestWorker(t, roundTrip(func(r *http.Request) (*http.Response, error) {
				time.Sleep(100 * ms)
				if asked++; asked == 4 {
					return answerer(tt.last).RoundTrip(r)
				}
				return answerer(content + finish + done).RoundTrip(r)
			}), Options{Stream: true})
			session := p
			session.Turns = []Turn{{After: []int{0}, Think: 50 * ms}}
			session.Next = func(int, func(int) string) (Post, error) { return p, nil }
			sendAll(t, w, p, p, session)
			assert.Equal(t, w.client.longest, tt.want, tt.name)
		})
	}
}
