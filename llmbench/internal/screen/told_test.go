package screen

import (
	"testing"

	"gotest.tools/v3/assert"
)

func TestLine(t *testing.T) {
	const name = "BenchmarkServe/backend=url/concurrency=8"
	for _, c := range []struct {
		e    Entry
		want string
	}{
		{Entry{Benchmark: name, Figures: map[string]float64{"output-tok/s": 3759, "req/s": 117.5, "p50-ttft-ns": 21.1e6, "p99-ttft-ns": 3e7, "mean-tpot-ns": 1.5e6, "p50-e2e-ns": 67.6e6}, True: map[string]float64{"p50-ttft-ns": 1}},
			"Serve concurrency=8: 3760 tok/s, TTFT p50 21.1 ms, TPOT 1.50 ms, E2E p50 67.6 ms"},
		{Entry{Benchmark: name, Figures: map[string]float64{"req/s": 2, "offered-req/s": 4, "shed-%": 50, "price/Mtok": 0.5}},
			"Serve concurrency=8: 4.00 offered/s, 2.00 served/s, shed 50.0 %, price/Mtok 0.500"},
		{Entry{Benchmark: name, Figures: map[string]float64{"output-tok/s": 3}, Withheld: []Withheld{{Unit: "p50-ttft-ns"}, {Unit: "mean-tpot-ns"}}, Notes: []string{"a note"}},
			"Serve concurrency=8: 3.00 tok/s, withheld: p50-ttft mean-tpot"},
		{Entry{Benchmark: "BenchmarkG/x=1/via=direct/concurrency=1", Figures: map[string]float64{"output-tok/s": 3}}, "G via=direct concurrency=1: 3.00 tok/s"},
		{Entry{Benchmark: "BenchmarkG/x=1/via=direct", Figures: map[string]float64{"output-tok/s": 3}}, "G via=direct: 3.00 tok/s"},
		{Entry{Benchmark: "BenchmarkX", Notes: []string{"failed: pass 0: 3 of 8 requests failed\n  request 1: \x1b[31m"}},
			"X: failed: pass 0: 3 of 8 requests failed"},
		{Entry{Benchmark: "BenchmarkX", Notes: []string{Undecided + "\x1b[31mred"}}, `X: cannot judge: \x1b[31mred`},
	} {
		assert.Equal(t, c.e.Line(), c.want)
	}
}

func TestShort(t *testing.T) {
	for name, want := range map[string]string{
		"BenchmarkServe/backend=url/workload=random-8x2/stream=true/concurrency=8":                        "Serve concurrency=8",
		"BenchmarkGatewayOverhead/backend=url/workload=random-8x2/stream=false/via=gateway/concurrency=1": "GatewayOverhead stream=false via=gateway concurrency=1",
		"BenchmarkEmbeddings/backend=url/workload=random-128/batch=8/concurrency=1":                       "Embeddings batch=8 concurrency=1",
		"BenchmarkDecode/backend=url/workload=random-16x128/stream=true":                                  "Decode stream=true",
		"BenchmarkMine": "Mine",
	} {
		assert.Equal(t, Short(name), want)
	}
}
