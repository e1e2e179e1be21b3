package sample

import "testing"

// TestNames checks that the latencies have the names by which other packages ask for them: Named panics if one has not.
func TestNames(t *testing.T) {
	Named(MeanTTFT, P50TTFT, P99TTFT, MeanTTFO, P50TTFO, MeanTPOT, P50TPOT, P99TPOT, MeanITL, P50ITL, P99ITL, MeanTokenITL, P99TokenITL, MeanE2E, P50E2E, P90E2E, P99E2E, P99Lag, P99ReadLag)
}
