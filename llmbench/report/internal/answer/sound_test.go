package answer

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// fourRuns returns four runs of two systems at 16, 64 and 256 users. Both keep the SLO at 16 and miss it at the others.
// In the third run at 64 users the figures of vllm with the given units are in doubt.
func fourRuns(units string) string {
	var b strings.Builder
	for run := range 4 {
		for i, backend := range []string{"vllm", "tgi"} {
			for _, users := range []int{16, 64, 256} {
				speed := float64(users)/float64(1+i) + float64(run)/100
				good := speed * map[bool]float64{true: 1, false: 0.5}[users < 64]
				name := fmt.Sprintf("BenchmarkServe/backend=%s/concurrency=%d-2", backend, users)
				fmt.Fprintf(&b, "%s 1 %.4f output-tok/s %.4f req/s %.4f good-req/s 20000000 p50-ttft-ns\n", name, 10*speed, speed, good)
				if run == 2 && i == 0 && users == 64 && units != "" {
					fmt.Fprintf(&b, "--- BENCH: %s\n    run.go:1: llmbench warns (client: %s): the client may distort these figures by more than 5%%: %s 9%%.\n", name, units, units)
				}
			}
		}
	}
	return b.String()
}

// TestOneRunInDoubt checks that a load is judged by its sound runs, and that no load is advised that was measured.
func TestOneRunInDoubt(t *testing.T) {
	const faster, slo = "vllm is faster than tgi at 16 to 256 users: 2.00 times. The first token of vllm comes at about the same time. ", "Both meet the SLO at 16 users and miss it at 64: measure 32 next. "
	for _, units := range []string{"", "output-tok/s", "good-req/s", "p50-ttft-ns"} {
		a := answerOf(t, fourRuns(units), nil)
		assert.Assert(t, strings.HasPrefix(a.Sentences[0], faster+slo), "%s: %s", units, a.Sentences[0])
		assert.Assert(t, !strings.Contains(a.Sentences[0], "judged"), a.Sentences[0])
		if units == "" {
			assert.Equal(t, len(a.Warnings), 0)
			continue
		}
		assert.DeepEqual(t, a.Warnings, []string{"The client may distort these figures by more than 5%: " + units +
			" 9% (in 1 of 4 runs; figures of the other runs take the place of those in doubt). About: vllm concurrency=64"})
	}
}
