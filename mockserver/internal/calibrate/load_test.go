package calibrate

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/profiles"
)

// TestExpectedLoad checks the load that is expected of a point from the measured points.
func TestExpectedLoad(t *testing.T) {
	measured := []profiles.Point{
		{Requests: 1000, Output: 240, Runaway: []int{984}},
		{Requests: 1000, Output: 244, Runaway: []int{984}, RunawayTokens: 7840},
		{Requests: 1, Output: 900, Runaway: nil},
		{Requests: 1000, Output: 200, Runaway: []int{964, 984}, Censored: true},
	}
	l := expected(profiles.Point{Requests: 1000, Output: 1, Runaway: []int{3}}, measured)
	assert.DeepEqual(t, l.runaway, []int{984})
	assert.Equal(t, l.runawayTokens, 0) // it ended at only one of three points
	assert.Equal(t, l.output, (240*1000+244*1000+900)/2001.)
	assert.Equal(t, len(expected(profiles.Point{Requests: 900}, measured).runaway), 0)
	assert.Equal(t, expected(profiles.Point{Requests: 9}, measured[3:]).output, 200.)
	assert.Equal(t, expected(profiles.Point{Requests: 9}, nil).output, 0.)
}

// TestExpectedOfAskedLengths checks that, in a table of asked lengths, the expectation for a cell follows from
// the cell's row and column.
func TestExpectedOfAskedLengths(t *testing.T) {
	var measured []profiles.Point
	for _, in := range []float64{100, 500} {
		for _, out := range []float64{100, 1000, 4000} {
			if in == 500 && out == 4000 {
				continue
			}
			p := profiles.Point{Requests: 100, Asked: []float64{in, out}, Output: 200}
			if out == 4000 {
				p.Output, p.Runaway = 500, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
			}
			measured = append(measured, p)
		}
	}
	l := expected(profiles.Point{Requests: 50, Asked: []float64{500, 4000}, Output: 7}, measured)
	assert.Equal(t, l.output, 200*500/260.)
	assert.Equal(t, len(l.runaway), 0) // the row has none
	l = expected(profiles.Point{Requests: 10, Asked: []float64{100, 4000}, Output: 7}, measured)
	// The share is 1/30 in the row, 1/10 in the column and 1/50 in all: 1/6 of 10 is 2.
	assert.DeepEqual(t, l.runaway, []int{2, 7})
}
