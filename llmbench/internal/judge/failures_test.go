package judge

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestTooManyFailed checks which requests count as failed. A request that was sent again counts by its last
// answer, as in the unit fail-%.
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
		{"sent again, and refused", []sample.Sample{refused, again(true), again(true)}, 0, 0, "1 of 10 requests failed, 0% are tolerated: connect 1\n  request 0 f: connect: no answer"},
		{"sent again, and refused, is tolerated", []sample.Sample{refused, again(true), again(true)}, 0.1, 0, ""},
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

// TestInterruptedPass checks the text about a pass that the user interrupted.
func TestInterruptedPass(t *testing.T) {
	of := func(outcome sample.Outcome, n int, text string) (all []sample.Sample) {
		for i := range n {
			all = append(all, sample.Sample{Request: i, ID: "id", Outcome: outcome, Err: errors.New(text)})
		}
		return all
	}
	for _, c := range []struct {
		samples []sample.Sample
		want    string
	}{
		{slices.Concat(of(sample.Connect, 36, "connection refused"), of(sample.HTTP, 1, "status 500"), of(sample.OK, 2, ""), of(sample.Canceled, 1, "interrupted")),
			"37 of 40 requests had failed: connect 36, http 1; 2 were complete\n  request 0 id: connect: connection refused\n  request 0 id: http: status 500"},
		{slices.Concat(of(sample.OK, 2, ""), of(sample.Left, 1, ""), of(sample.Canceled, 3, "interrupted")), "3 of 6 requests were complete, and none had failed"},
		{nil, "0 of 0 requests were complete, and none had failed"},
	} {
		assert.Equal(t, Interrupted(sample.All(c.samples...)), c.want)
	}
}

// TestOneDefinitionOfFailed checks that the text about failures and the units count the same requests.
func TestOneDefinitionOfFailed(t *testing.T) {
	var samples []sample.Sample
	for i := range 20 {
		s := answered(5)
		switch {
		case i < 2:
			s = sample.Sample{ID: "f", Outcome: sample.Connect, Wrote: time.Millisecond, Err: errors.New("no answer")}
		case i < 7:
			s.Resent, s.ResentUnread = 1, true
		}
		samples = append(samples, s)
	}
	f := FindFacts(sample.All(samples...), time.Second, 0, sample.SLO{}, Tolerated{Fail: 0.5})
	assert.Equal(t, f.Failures, "2 of 20 requests failed, 50% are tolerated: connect 2\n  request 0 f: connect: no answer")
	assert.Equal(t, f.Summary.Metrics["fail-%"], 10.0)
	assert.Equal(t, f.Summary.Metrics["resent-%"], 25.0)
	noted := ""
	for _, n := range f.Notes() {
		noted += n.Text
	}
	assert.Assert(t, strings.Contains(noted, "5 of 20 requests were sent again"), noted)
}

// TestShedHint checks when a text about failures names the variable that counts them as shed.
func TestShedHint(t *testing.T) {
	const name = "LLMBENCH_SHED_STATUS="
	for _, tt := range []struct {
		statuses []int
		shed     float64 // tolerated
		want     string  // after name; "" means that the variable is not named
	}{
		{[]int{503}, 1, "429,503,529"},
		{[]int{503, 503, 504}, 0.5, "429,503,504,529"},
		{[]int{429}, 1, ""}, // has another reason: the target names other statuses
		{[]int{420}, 1, "420,429,503,529"},
		{[]int{400, 404}, 1, ""},
		{[]int{503}, 0, ""},
	} {
		var samples []sample.Sample
		for _, status := range tt.statuses {
			samples = append(samples, sample.Sample{ID: "f", Outcome: sample.HTTP, Status: status, Err: errors.New("status")})
		}
		text := TooManyFailed(sample.All(samples...), Tolerated{Shed: tt.shed})
		_, list, named := strings.Cut(text, name)
		assert.Equal(t, named, tt.want != "", text)
		assert.Equal(t, list, tt.want)
	}
}
