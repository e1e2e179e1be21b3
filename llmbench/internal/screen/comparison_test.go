package screen

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// pairOf returns an overview of two backends at three loads, with three runs each.
func pairOf(scaled bool) *Overview {
	var o Overview
	for run := range 3 {
		for i, backend := range []string{"vllm", "tgi"} {
			for _, users := range []float64{1, 4, 16} {
				speed := 100 * users / float64(i+1) * (1 + float64(run)/1000)
				o.Add(Entry{Benchmark: fmt.Sprintf("BenchmarkServe/backend=%s/model=m/workload=w/stream=true/concurrency=%v", backend, users), Scaled: scaled,
					Figures: map[string]float64{"output-tok/s": speed, "req/s": speed / 100, "good-req/s": speed / 100 * map[bool]float64{true: 1, false: 0.5}[users < 16], "p50-ttft-ns": 1e7}})
			}
		}
	}
	return &o
}

// TestComparisons checks that the report ends with a paragraph about two systems, and only about two.
func TestComparisons(t *testing.T) {
	const want = "Serve: vllm is faster than tgi at 1 to 16 users: 2.00 times. The first token of vllm comes at about the same time. Both meet the SLO at 4 users and miss it at 16: measure 8 next. " +
		"Over all loads more than chance (ahead in 27 of 27 pairs of runs, p < 0.001, if each run at each load is a fresh start); at each load preliminary after 3 runs of each: 6 are needed."
	o := pairOf(false)
	assert.DeepEqual(t, o.comparisons(), []string{want})
	report := strings.Join(strings.Fields(o.Report(80)), " ")
	assert.Assert(t, strings.Contains(report, want), report)
	for line := range strings.Lines(o.Report(60)) {
		assert.Assert(t, !strings.HasSuffix(line, " \n") && len([]rune(line)) <= 61 || strings.Contains(line, "skipped"), line)
	}
	assert.Assert(t, !strings.Contains(pairOf(true).comparisons()[0], "SLO"), "an SLO of a simulated server that is faster")

	o.Add(Entry{Benchmark: "BenchmarkServe/backend=c/model=m/workload=w/stream=true/concurrency=1", Figures: map[string]float64{"output-tok/s": 1}})
	assert.Equal(t, len(o.comparisons()), 0)
	assert.Equal(t, len(example().comparisons()), 0)
	o = &Overview{}
	o.Add(Entry{Benchmark: "BenchmarkA/via=direct", Figures: map[string]float64{"output-tok/s": 4}})
	o.Add(Entry{Benchmark: "BenchmarkA/via=gateway", Figures: map[string]float64{"output-tok/s": 2}})
	o.Add(Entry{Benchmark: "BenchmarkS/x=1", Figures: map[string]float64{"output-tok/s": 4, "shed-%": 30, "fail-%": 10}})
	o.Add(Entry{Benchmark: "BenchmarkS/x=2", Figures: map[string]float64{"output-tok/s": 2}})
	o.Add(Entry{Benchmark: "BenchmarkB/rate=2", Figures: map[string]float64{"p50-e2e-ns": 2}})
	o.Add(Entry{Benchmark: "BenchmarkB/cache=on/rate=2", Figures: map[string]float64{"p50-e2e-ns": 1}})
	o.Add(Entry{Benchmark: "BenchmarkC/x=1/workload=a", Figures: map[string]float64{"output-tok/s": 1}})
	o.Add(Entry{Benchmark: "BenchmarkC/x=2/workload=b", Figures: map[string]float64{"output-tok/s": 2}})
	assert.DeepEqual(t, o.comparisons(), []string{"A: direct is 2.00 times as fast as gateway. Preliminary after 1 run of each: 6 are needed.",
		"S: x=1 is 2.00 times as fast as x=2. x=1 did not answer 40 % of the requests. Preliminary after 1 run of each: 6 are needed.",
		"B: cache=on answers in 0.50 times the latency of without cache at 2 req/s. Preliminary after 1 run of each: 6 are needed."})
}

// TestGateway checks that the report about a gateway ends with what the gateway adds.
func TestGateway(t *testing.T) {
	var o Overview
	const name = "BenchmarkGatewayOverhead/backend=url/model=m/workload=random-64x32/stream=true/via="
	o.Add(Entry{Benchmark: name + "direct/concurrency=1", Figures: map[string]float64{"output-tok/s": 470, "p50-ttft-ns": 216e5}})
	o.Add(Entry{Benchmark: name + "gateway/concurrency=1", Figures: map[string]float64{"output-tok/s": 468, "p50-ttft-ns": 220e5}})
	for unit, v := range map[string]float64{"added-ttft-ms": 0.375, "added-ttft-low-ms": 0.34, "added-ttft-high-ms": 0.457} {
		o.AddFigure(name+"gateway/concurrency=1", unit, v)
	}
	assert.DeepEqual(t, o.comparisons(), []string{"GatewayOverhead: the gateway adds 0.375 ms [0.34, 0.457] to the first token at 1 user. Brackets hold 95 % confidence."})
}

// TestSoundRuns checks that a load is compared by the runs whose figures are not in doubt.
func TestSoundRuns(t *testing.T) {
	var o Overview
	for run := range 4 {
		for i, backend := range []string{"vllm", "tgi"} {
			e := Entry{Benchmark: "BenchmarkServe/backend=" + backend + "/concurrency=64", Figures: map[string]float64{"output-tok/s": float64(200-100*i) + float64(run)}}
			if run == 2 && i == 0 {
				e.Figures["output-tok/s"], e.Doubted = 5, []string{"output-tok/s"}
			}
			o.Add(e)
		}
	}
	assert.DeepEqual(t, o.comparisons(), []string{"Serve: vllm is 1.98 times as fast as tgi at 64 users. Preliminary after 3 to 4 sound runs of each: 6 are needed."})
}
