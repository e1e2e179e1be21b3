package judge

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestRecorded checks what is said about recorded header fields.
func TestRecorded(t *testing.T) {
	metrics := map[string]float64{"p50-ttft-ns": 170e6, "p50-e2e-ns": 1234e6}
	for _, tt := range []struct {
		name, header string
		values       []string
		metrics      map[string]float64
		want         string
	}{
		{"milliseconds by documentation", "X-Envoy-Upstream-Service-Time", []string{"5", "7", "4"}, metrics,
			"x-envoy-upstream-service-time p50 5 ms, largest 7 ms (3 of 4 answers); measured by this client: TTFT p50 170 ms, E2E latency p50 1.23e+03 ms"},
		{"milliseconds by name", "x-litellm-overhead-duration-ms", []string{"5.5", "6", "1", "2"}, metrics,
			"x-litellm-overhead-duration-ms p50 3.75 ms, largest 6 ms (4 of 4 answers); measured by this client: TTFT p50 170 ms, E2E latency p50 1.23e+03 ms"},
		{"withheld latencies are not compared", "x-litellm-overhead-duration-ms", []string{"5"}, map[string]float64{}, "x-litellm-overhead-duration-ms p50 5 ms, largest 5 ms (1 of 4 answers)"},
		{"a number", "x-ratelimit-remaining-tokens", []string{"900", "800"}, metrics, "x-ratelimit-remaining-tokens p50 850, largest 900 (2 of 4 answers)"},
		{"names", "x-served-by", []string{"a", "b", "a"}, metrics, `x-served-by "a" 2, "b" 1 (3 of 4 answers)`},
		{"many names", "x-id", []string{"a", "b", "c", "d", "e", "f", "g"}, metrics, "x-id has more than 6 different values (7 of 7 answers)"},
		{"numbers and others", "x-n", []string{"1", "-", "NaN"}, metrics, `x-n "-" 1, "1" 1, "NaN" 1 (3 of 4 answers)`},
		{"none", "x-none", nil, metrics, "x-none in no answer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var samples []sample.Sample
			for i := range max(4, len(tt.values)) {
				s := sample.Sample{Outcome: sample.OK}
				if i < len(tt.values) {
					s.Header = []sample.Field{{Name: strings.ToLower(tt.header), Value: tt.values[i]}}
				}
				samples = append(samples, s)
			}
			samples = append(samples, sample.Sample{Outcome: sample.HTTP, Header: []sample.Field{{Name: tt.header, Value: "failed"}}})
			got := findRecorded(sample.All(samples...)).Describe([]string{tt.header}, tt.metrics)
			assert.Equal(t, got, "header fields of the answers: "+tt.want)
		})
	}
	assert.Equal(t, findRecorded(sample.All(sample.Sample{Outcome: sample.OK})).Describe(nil, metrics), "")
}
