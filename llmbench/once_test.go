package llmbench

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// once measures a simulated server.
func once(b *testing.B) {
	_, target := loopback(b, mockserver.Config{})
	Run(b, target, Load{Requests: words(1, 5), Concurrency: 1})
}

// Benchmarks that call Run in other ways than once.
func helperTwice(b *testing.B) { once(b); once(b) }

func helperOverN(b *testing.B) {
	for i := 0; i < b.N; i++ { // unlike range, this reads b.N again
		once(b)
	}
}

func helperOverLoop(b *testing.B) {
	for b.Loop() {
		once(b)
	}
}

func helperMetricBefore(b *testing.B) {
	b.ReportMetric(7, "setup-s")
	once(b)
}

func helperMetricAfter(b *testing.B) {
	b.StopTimer() // as if something were set up
	once(b)
	b.ReportMetric(7, "setup-s")
}

// TestRunOnce checks that a benchmark that cannot be measured says what to do.
func TestRunOnce(t *testing.T) {
	for name, want := range map[string]string{
		"Twice":        "Run is called again in the same benchmark; call it once, without a loop over b.N: one op is a pass, and Run makes as many passes as -benchtime asks for. Measure a second load in a sub-benchmark, with b.Run",
		"OverN":        "Run is called again in the same benchmark; call it once, without a loop over b.N",
		"OverLoop":     "Run is called within a loop over b.Loop; call it once, without a loop: one op is a pass",
		"MetricBefore": "setup-s reported before Run, where package testing deletes all metrics when the first pass begins; call b.ReportMetric after Run",
	} {
		out, _, code, _ := runHelper(t, name, []string{"-test.benchtime=3x"}, nil)
		assert.Equal(t, code, 1, out)
		assert.Assert(t, strings.Contains(out, want), "%s: %s", name, out)
	}
	out, _, code, _ := runHelper(t, "MetricAfter", nil, nil)
	assert.Equal(t, code, 0, out)
	all, _ := results(t, out)
	seconds, _ := all[0].Value("setup-s")
	assert.Equal(t, seconds, 7.0)
}
