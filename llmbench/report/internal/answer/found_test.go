package answer

import (
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestFound checks that an answer begins with the limits that searches found, and not with the steps of the searches.
func TestFound(t *testing.T) {
	const rate = "slo: ttft=500ms\nBenchmarkSLO/backend=a/of=rate/upto=1024 1 %s 3.3 slo-missed-req/s 10 passes/op\n"
	const users = "BenchmarkSLO/backend=a/of=concurrency/upto=1024 1 12 slo-concurrency 14 slo-missed-concurrency\n"
	const steps = "BenchmarkSLO/backend=a/asked-once 1 90 output-tok/s\nBenchmarkSLO/backend=a/rate=1 1 100 output-tok/s\nBenchmarkSLO/backend=a/rate=4 1 300 output-tok/s\n"
	for _, c := range []struct{ name, text, short, tiles string }{
		{"both", strings.Replace(rate, "%s", "3.2 slo-req/s", 1) + users + steps, "Up to 3.2 req/s and up to 12 users keep the SLO ttft=500ms",
			"Requests a second within the SLO: 3.2 (ttft=500ms; missed at 3.3)|Users within the SLO: 12 (ttft=500ms; missed at 14)"},
		{"uncertified", strings.Replace(rate, "%s", "3.2 slo-uncertified-req/s", 1), "Up to 3.2 req/s keep the SLO ttft=500ms; the limit is not certified",
			"Requests a second within the SLO: 3.2 (ttft=500ms; missed at 3.3, not certified)"},
	} {
		a := answerOf(t, c.text, nil)
		assert.Equal(t, a.Short, c.short, c.name)
		var tiles []string
		for _, x := range a.Tiles {
			if strings.Contains(x.Label, "within the SLO") {
				tiles = append(tiles, x.Label+": "+x.Values[0].Text+" ("+x.Detail+")")
			}
		}
		assert.Equal(t, strings.Join(tiles, "|"), c.tiles, c.name)
		assert.Equal(t, a.Tiles[0].Label, "Requests a second within the SLO")
	}
	two := strings.Replace(rate, "%s", "3.2 slo-req/s", 1) + strings.Replace(strings.Replace(rate, "%s", "4 slo-req/s", 1), "backend=a", "backend=b", 1)
	assert.Assert(t, !strings.HasPrefix(answerOf(t, two, nil).Short, "Up to"))
}

// TestStages checks that an answer does not say that all users were there all the time if they came and left.
func TestStages(t *testing.T) {
	a := answerOf(t, "BenchmarkServe/backend=a/stages=1..8_2s-2_4s/concurrency=8 1 100 output-tok/s 20e6 p50-ttft-ns\n", nil)
	assert.Equal(t, a.Short, "8 users at most: 100 tok/s in all, the first token after 20 ms")
	assert.Assert(t, slices.Contains(a.Measured, Fact{"Load", "8 users at most, 1 run"}), "%v", a.Measured)
	a = answerOf(t, "BenchmarkServe/backend=a/stages=1..8_2s-2_4s/rate=3.5 1 100 output-tok/s 20e6 p50-ttft-ns\n", nil)
	assert.Equal(t, a.Short, "3.5 req/s: 100 tok/s in all, the first token after 20 ms")
}

// TestFoundBeside checks that a limit of one system, or beside other benchmarks, is not the answer to all.
func TestFoundBeside(t *testing.T) {
	const slo = "slo: ttft=500ms\nBenchmarkSLO/backend=a/of=rate/upto=1024 1 3.2 slo-req/s 3.3 slo-missed-req/s 10 passes/op\n"
	for _, beside := range []string{
		"BenchmarkServe/backend=a/concurrency=8 1 100 output-tok/s\nBenchmarkServe/backend=b/concurrency=8 1 300 output-tok/s\n",
		"BenchmarkSLO/backend=b/rate=1 1 100 output-tok/s\n",
		"BenchmarkServe/backend=a/concurrency=8 1 100 output-tok/s\n",
	} {
		a := answerOf(t, slo+beside, nil)
		assert.Assert(t, !strings.HasPrefix(a.Short, "Up to 3.2"), a.Short)
	}
}
