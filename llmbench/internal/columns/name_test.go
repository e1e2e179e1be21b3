package columns

import (
	"testing"

	"gotest.tools/v3/assert"
)

func TestName(t *testing.T) {
	for unit, want := range map[string][2]string{ // the name, and the unit that readers see
		"p99-ttft-ns":         {"TTFT p99", "p99-ttft-ns"},
		"mean-tpot-ns":        {"TPOT mean", "mean-tpot-ns"},
		"p50-e2e-ns":          {"latency p50", "p50-e2e-ns"},
		"output-tok/s":        {"output", "tok/s"},
		"steady-output-tok/s": {"output, steady part", "tok/s"},
		"fail-%":              {"failed", "%"},
		"srv-queue-ns":        {"server: queue", "srv-queue-ns"},
		"srv-cpu-s/ktok":      {"server: cpu", "s/ktok"},
		"ns/op":               {"ns/op", "ns/op"},
		"price/Mtok":          {"price of a million output tokens", "price/Mtok"},
		"own-thing":           {"own thing", "own-thing"},
	} {
		assert.Equal(t, Name(unit), want[0], unit)
		assert.Equal(t, Short(unit), want[1], unit)
	}
}
