package scenarios

import (
	"testing"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// In study D a server at 300 concurrent requests answered 731 of 1000, because
// workers of that client die when their first request times out (mockserver's
// calibration has it, and predicts 250 lost). The same server, simulated, answers
// this harness every one.
func TestOverloadLosesNoRequest(t *testing.T) {
	srv, target := backends.Mock{Profile: "vllm-qwen2-7b-t4", Speed: 200}.Serve(t)
	all, err := benchdata.Prompts{Input: 40, Output: 308, Seed: 1}.Requests(1000)
	if err != nil {
		t.Fatal(err)
	}
	var samples []sample.Sample
	testing.Benchmark(func(b *testing.B) {
		samples = llmbench.Run(b, target, llmbench.Load{Requests: all, Concurrency: 300, NoStream: true})
	})
	if len(samples) < len(all) {
		t.Fatalf("%d samples, want %d or a multiple", len(samples), len(all))
	}
	for i, s := range samples {
		if s.Outcome != sample.OK || s.OutputTokens != 308 {
			t.Errorf("request %d: %v with %d tokens, want ok with 308", i, s.Outcome, s.OutputTokens)
		}
	}
	if got := len(srv.Log()); got != len(samples) {
		t.Errorf("the server saw %d requests, the client %d", got, len(samples))
	}
}
