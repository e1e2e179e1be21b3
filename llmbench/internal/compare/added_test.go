package compare

import (
	"testing"

	"gotest.tools/v3/assert"
)

// TestAdded checks that a comparison with a gateway says what the gateway adds, and not which of the two is faster.
func TestAdded(t *testing.T) {
	figures := func(of map[string][]float64) []Added { return AddedOf(func(unit string) []float64 { return of[unit] }) }
	whole := map[string][]float64{"added-ttft-ms": {0.375}, "added-ttft-low-ms": {0.34}, "added-ttft-high-ms": {0.457},
		"added-itl-ms": {-0.0004}, "added-itl-low-ms": {-0.009}, "added-itl-high-ms": {0.001}}
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
			"the gateway adds 0.375 ms [0.34, 0.457] to the first token at 1 user; 0 ms [-0.009, 0.001] to each gap between tokens at 1 user. Brackets hold 95 % confidence."},
		{"two loads, one of them without an interval", "concurrency", two, []map[string][]float64{{"added-ttft-ms": {0.25}}, {"added-ttft-ms": {2}, "added-ttft-low-ms": {1}, "added-ttft-high-ms": {3}}},
			"the gateway adds 0.25 ms to the first token at 1 user and 2 ms [1, 3] at 16 users. Brackets hold 95 % confidence. An interval needs six rounds, as with -benchtime=8x."},
		{"runs", "", []float64{0}, []map[string][]float64{{"added-ttft-ms": {1, 2, 9}, "added-ttft-low-ms": {0.5, 1.5, 8}, "added-ttft-high-ms": {1.5, 2.5, 10}}},
			"the gateway adds 2 ms [0.5, 10] to the first token. Brackets hold 95 % confidence."},
		{"an interval of some runs", "", []float64{0}, []map[string][]float64{{"added-ttft-ms": {1, 2, 9}, "added-ttft-low-ms": {0.5}, "added-ttft-high-ms": {1.5}}},
			"the gateway adds 2 ms to the first token. An interval needs six rounds, as with -benchtime=8x."},
		{"percentiles, streamed and not", "concurrency", two, []map[string][]float64{
			{"added-ttft-ms": {44.3}, "added-ttft-low-ms": {40.5}, "added-ttft-high-ms": {46.9}, "added-p99-ttft-ms": {61.2}, "added-e2e-ms": {0.51}},
			{"added-ttft-ms": {45}, "added-ttft-low-ms": {41}, "added-ttft-high-ms": {47}, "added-whole-ms": {0.0004}, "added-p99-whole-ms": {2}}},
			"the gateway adds 44.3 ms [40.5, 46.9] to the first token at 1 user (p99 61.2 ms) and 45 ms [41, 47] at 16 users; 0.51 ms to the whole stream at 1 user; 0 ms to an answer that is not streamed at 16 users (p99 2 ms). Brackets hold 95 % confidence. An interval needs six rounds, as with -benchtime=8x."},
	} {
		says := Of(c.key, []System{gateway("direct", c.loads, nil), gateway("gateway", c.loads, c.of...)}, 0.95).Says
		assert.DeepEqual(t, says, []string{c.want})
	}
	one16 := gateway("reference-proxy", two, map[string][]float64{"added-ttft-ms": {1}})
	one16.Points[0].PerCore, one16.Points[1].PerCore = []float64{812.3}, []float64{1500, 1600}
	cores := Of("concurrency", []System{gateway("direct", two, nil), one16}, 0.95).Says
	assert.DeepEqual(t, cores, []string{"reference-proxy adds 1 ms to the first token at 1 user and 1 ms at 16 users. One core of it serves 812 requests a second at 1 user and 1550 at 16 users. An interval needs six rounds, as with -benchtime=8x."})
	// The throughput is withheld at one load of each system, so that no load has both.
	direct, streamed := gateway("streamed direct", two, nil), gateway("streamed gateway", two, map[string][]float64{"added-ttft-ms": {1}})
	direct.Points[0].Speed, streamed.Points[1].Speed = nil, nil
	plain, plainDirect := gateway("not streamed gateway", one, map[string][]float64{"added-whole-ms": {2}}), gateway("not streamed direct", one, nil)
	plain.Work, plainDirect.Work = "plain", "plain"
	streamed.Points[0].TTFT = []float64{20}
	withheld := Of("concurrency", []System{plainDirect, plain, direct, streamed}, 0.95)
	assert.DeepEqual(t, withheld.Says, []string{
		"the gateway adds 1 ms to the first token at 1 user and 1 ms at 16 users. An interval needs six rounds, as with -benchtime=8x.",
		"the gateway adds 2 ms to an answer that is not streamed at 1 user. An interval needs six rounds, as with -benchtime=8x."})
	assert.DeepEqual(t, withheld.Order, []int{3, 2})
	assert.Equal(t, withheld.Short.Sentence, "The gateway adds 1 ms to the first token, at 1 user")
	says := Of("", []System{gateway("old", []float64{0}, whole), gateway("new", []float64{0}, whole)}, 0.95).Says
	assert.Equal(t, says[0], "old and new are about equally fast: the ratio is 1.000. Preliminary after 1 run of each: 6 are needed.")
}
