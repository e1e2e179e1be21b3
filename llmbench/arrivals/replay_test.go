package arrivals

import (
	"math"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

func TestReplay(t *testing.T) {
	at := []time.Duration{0, 3 * time.Second, 3 * time.Second, 10*time.Second + 1}
	for _, c := range []struct {
		speed float64
		n     int
		want  []time.Duration
	}{
		{0, 4, at},
		{1, 2, at[:2]},
		{2, 4, []time.Duration{0, 1500 * time.Millisecond, 1500 * time.Millisecond, 5*time.Second + 1}},
		{0.5, 3, []time.Duration{0, 6 * time.Second, 6 * time.Second}},
	} {
		got, err := Replay{At: at, Speed: c.speed}.Times(c.n)
		assert.NilError(t, err)
		assert.DeepEqual(t, got, c.want)
	}
	for _, c := range []struct {
		speed float64
		n     int
		want  string
	}{
		{0, 5, "replay: 5 requests for 4 instants"},
		{0, 0, "replay: 0 requests for 4 instants"},
		{-1, 1, "replay: speed -1: want above 0"},
		{math.NaN(), 1, "replay: speed NaN: want above 0"},
		{math.Inf(1), 1, "replay: speed +Inf: want above 0"},
		{1e-12, 4, "longer than a duration can hold"},
	} {
		_, err := Replay{At: at, Speed: c.speed}.Times(c.n)
		assert.ErrorContains(t, err, c.want)
	}
}
