package sample

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// TestOfferedRate checks that offered-req/s is the rate of the schedule, even if answers take longer than
// the schedule, if requests fail, and for several passes.
func TestOfferedRate(t *testing.T) {
	due := func(pass int, at ...float64) (all []Sample) {
		for _, x := range at {
			s := answer(x, x+500, x+1000, 5) // ms
			s.Pass, s.Scheduled = pass, true
			all = append(all, s)
		}
		return all
	}
	even := due(0, 0, 25, 50, 75, 100)
	failed := due(0, 0, 25, 50, 75, 100)
	failed[4].Outcome = Truncated
	turn := append(due(0, 0, 25), answer(5000, 5100, 5200, 5))
	turn[2].Turn = 1
	gaveUp := append(due(0, 0, 25), Sample{Scheduled: true, Due: 30 * ms, Start: 30 * ms, End: 30 * ms, Outcome: Canceled})
	for _, c := range []struct {
		name    string
		samples []Sample
		want    float64 // 0 means omitted
	}{
		{"an even schedule", even, 40},
		{"a schedule that begins late", due(0, 1000, 1025), 40},
		{"a request that failed", failed, 40},
		{"two passes", append(due(1, 0, 10, 20), even...), 50},
		{"a later turn of a session", turn, 40},
		{"a request that was not sent", gaveUp, 40},
		{"a closed loop", []Sample{answer(0, 100, 200, 5), answer(50, 100, 200, 5)}, 0},
		{"one request", due(0, 10), 0},
		{"all at once", due(0, 10, 10, 10), 0},
		{"nothing", nil, 0},
	} {
		s := Summarize(All(c.samples...), Elapsed(All(c.samples...)), SLO{})
		got, has := s.Metrics["offered-req/s"]
		assert.Equal(t, got, c.want, c.name)
		assert.Equal(t, has, c.want > 0, c.name)
	}
	assert.Assert(t, Summarize(All(even...), Elapsed(All(even...)), SLO{}).Metrics["req/s"] < 5) // req/s includes the time of the last answers
	assert.Equal(t, Elapsed(All(even...)), 1101*time.Millisecond)
}
