package process

import (
	"testing"

	"gotest.tools/v3/assert"
)

// TestReported checks that a sample that failed has no metrics, and which sample the metrics of others belong to. A
// benchmark that package testing calls again with another b.N is the same sample.
func TestReported(t *testing.T) {
	saved := current.reported
	defer func() { current.reported = saved }()
	current.reported = reported{samples: map[string]*samples{}}
	for _, value := range []float64{1, 2} {
		testing.Benchmark(func(b *testing.B) {
			for range b.N {
			}
			Report(b, 0, "ns/op")
			Report(b, 10, "a/op")
			Report(b, value, "a/op")
			if value == 2 {
				Report(b, 3, "b/op")
			}
		})
	}
	testing.Benchmark(func(b *testing.B) {
		Report(b, 4, "a/op")
		b.Fail()
	})
	assert.DeepEqual(t, Reported(), []Figures{{"", "a/op", map[int]float64{0: 1, 1: 2}}, {"", "b/op", map[int]float64{1: 3}}})
}
