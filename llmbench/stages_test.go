package llmbench

import (
	"math"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// TestStagesInAPass checks that the requests of a schedule with stages, one of them a ramp, are due and
// sent at the right instants.
func TestStagesInAPass(t *testing.T) {
	a := arrivals.Stages{Stages: []arrivals.Stage{{For: time.Second, Rate: 2}, {For: 2 * time.Second}, {For: 2 * time.Second, Ramp: arrivals.Linear, To: 8}}, Shape: math.Inf(1)}
	n, err := a.Requests()
	assert.NilError(t, err)
	times, err := a.Times(n)
	assert.NilError(t, err)
	assert.Equal(t, times[3], 3*time.Second+707106781)
	bubble(t, mockserver.Config{TTFT: 100 * ms}, Load{Requests: words(n, 1), Arrivals: a}, func(samples []sample.Sample, srv *mockserver.Server) {
		log := srv.Log()
		for i, s := range samples {
			assert.Equal(t, s.Outcome, sample.OK)
			assert.Equal(t, s.Due, times[i])
			assert.Equal(t, s.Start, times[i])
			assert.Equal(t, log[i].Accepted-log[0].Accepted, times[i])
		}
	})
}

// TestStagesCut checks the error if a load has too few requests to reach the last stage.
func TestStagesCut(t *testing.T) {
	stages := arrivals.Stages{Stages: []arrivals.Stage{{For: time.Second, Rate: 10}, {For: time.Second, Rate: 5}}}
	_, err := Load{Requests: words(11, 1), Arrivals: stages}.check()
	assert.NilError(t, err)
	_, err = Load{Requests: words(10, 1), Arrivals: stages}.check()
	assert.ErrorContains(t, err, "stages: 10 requests end before the last of 2 stages: want 11 to 15")
}
