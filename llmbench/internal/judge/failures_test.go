package judge

import (
	"errors"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestTooManyFailed checks which requests count as failed. A request that was sent again counts only if it
// had reached the server, and if the server also refused a request on a new connection.
func TestTooManyFailed(t *testing.T) {
	failed := func(o sample.Outcome, wrote bool) sample.Sample {
		s := sample.Sample{ID: "f", Outcome: o, Err: errors.New("no answer")}
		if wrote {
			s.Wrote = time.Millisecond
		}
		return s
	}
	again := func(unread bool) sample.Sample {
		s := answered(5)
		s.Resent, s.ResentUnread = 1, unread
		return s
	}
	refused, shed := failed(sample.Connect, true), failed(sample.Shed, true)
	for _, tt := range []struct {
		name      string
		first     []sample.Sample // the first of ten samples; the others succeed
		tolerated float64
		shed      float64 // tolerated
		want      string
	}{
		{"none", nil, 0, 0, ""},
		{"one", []sample.Sample{refused}, 0, 0, "1 of 10 requests failed, 0% are tolerated: connect 1\n  request 0 f: connect: no answer"},
		{"one is tolerated", []sample.Sample{refused}, 0.1, 0, ""},
		{"sent again", []sample.Sample{again(true), again(true), again(false)}, 0, 0, ""},
		{"sent again, and a timeout", []sample.Sample{failed(sample.Timeout, true), again(true), again(true)}, 0.1, 0, ""},
		{"sent again, and no connection", []sample.Sample{failed(sample.Connect, false), again(true), again(true)}, 0.1, 0, ""},
		{"sent again before they reached the server, and refused", []sample.Sample{refused, again(false), again(false)}, 0.1, 0, ""},
		{"sent again, and refused", []sample.Sample{refused, again(true), again(true)}, 0.2, 0,
			"3 of 10 requests failed, 20% are tolerated: connect 1, sent again after a connection was closed 2\n  request 0 f: connect: no answer"},
		{"sent again, and refused, is tolerated", []sample.Sample{refused, again(true), again(true)}, 0.3, 0, ""},
		{"shed", []sample.Sample{shed, shed}, 0, 0, "2 of 10 requests failed, 0% are tolerated: shed 2\n  request 0 f: shed: no answer"},
		{"shed, tolerated as failed", []sample.Sample{shed, shed}, 0.2, 0, ""},
		{"shed, tolerated", []sample.Sample{shed, shed}, 0, 0.2, ""},
		{"too many shed", []sample.Sample{shed, shed}, 0.5, 0.1, "2 of 10 requests were shed, 10% are tolerated"},
		{"shed and failed", []sample.Sample{shed, shed, refused}, 0, 0.1,
			"2 of 10 requests were shed, 10% are tolerated; 1 of 10 requests failed, 0% are tolerated: connect 1\n  request 0 f: connect: no answer"},
		{"shed, tolerated, and failed", []sample.Sample{shed, refused}, 0, 0.1, "1 of 10 requests failed, 0% are tolerated: connect 1\n  request 0 f: connect: no answer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			samples := tt.first
			for len(samples) < 10 {
				samples = append(samples, answered(5))
			}
			assert.Equal(t, TooManyFailed(sample.All(samples...), Tolerated{tt.tolerated, tt.shed}), tt.want)
		})
	}
}
