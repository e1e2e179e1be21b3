package compare

import (
	"testing"

	"gotest.tools/v3/assert"
)

// TestAdded checks that a comparison with a gateway says what the gateway adds, and not which of the two is faster.
func TestAdded(t *testing.T) {
	figures := func(of map[string][]float64) []Added { return AddedOf(func(unit string) []float64 { return of[unit] }) }
	whole := map[string][]float64{"added-ttft-ms": {0.375}, "added-ttft-low-ms": {0.34}, "added-ttft-high-ms": {0.457},
		"added-itl-ms": {-0.0029}, "added-itl-low-ms": {-0.009}, "added-itl-high-ms": {0.001}}
	gateway := func(name string, loads []float64, of ...map[string][]float64) System {
		s := System{Name: name}
		for i, load := range loads {
			s.Points = append(s.Points, Point{Load: load, Unit: "output-tok/s", Speed: []float64{100}, Added: figures(of[min(i, len(of)-1)])})
		}
		return s
	}
	one, two := []float64{1}, []float64{1, 16}
	for _, c := range []struct {
		name, key string
		loads     []float64
		of        []map[string][]float64
		want      string
	}{
		{"both latencies", "concurrency", one, []map[string][]float64{whole},
			"gateway adds to the first token 0.375 ms [0.34, 0.457] at 1 user; and to each gap between tokens -0.0029 ms [-0.009, 0.001] at 1 user. Brackets hold 95 % confidence."},
		{"two loads, one of them without an interval", "concurrency", two, []map[string][]float64{{"added-ttft-ms": {0.25}}, {"added-ttft-ms": {2}, "added-ttft-low-ms": {1}, "added-ttft-high-ms": {3}}},
			"gateway adds to the first token 0.25 ms at 1 user and 2 ms [1, 3] at 16 users. Brackets hold 95 % confidence. An interval needs six rounds, as with -benchtime=8x."},
		{"runs", "", []float64{0}, []map[string][]float64{{"added-ttft-ms": {1, 2, 9}, "added-ttft-low-ms": {0.5, 1.5, 8}, "added-ttft-high-ms": {1.5, 2.5, 10}}},
			"gateway adds to the first token 2 ms [0.5, 10]. Brackets hold 95 % confidence."},
		{"an interval of some runs", "", []float64{0}, []map[string][]float64{{"added-ttft-ms": {1, 2, 9}, "added-ttft-low-ms": {0.5}, "added-ttft-high-ms": {1.5}}},
			"gateway adds to the first token 2 ms. An interval needs six rounds, as with -benchtime=8x."},
	} {
		says := Of(c.key, []System{gateway("direct", c.loads, nil), gateway("gateway", c.loads, c.of...)}, 0.95).Says
		assert.DeepEqual(t, says, []string{c.want})
	}
	says := Of("", []System{gateway("old", []float64{0}, whole), gateway("new", []float64{0}, whole)}, 0.95).Says
	assert.Equal(t, says[0], "old and new are about equally fast: the ratio is 1.000. Preliminary after 1 run of each: 4 are needed.")
}
