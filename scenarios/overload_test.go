package scenarios

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestOverloadLosesNoRequest checks that this client gets an answer to every request from an
// overloaded server. In study D the same server answered only 731 of 1,000 requests, when 300 were
// sent at the same time. The reason is that each worker of that study's client ends with its first
// timeout.
func TestOverloadLosesNoRequest(t *testing.T) {
	srv, target := backends.Mock{Profile: "vllm-qwen2-7b-t4", Speed: 200}.Serve(t)
	requests, err := benchdata.Prompts{Input: 40, Output: 308, Seed: 1}.Requests(1000)
	assert.NilError(t, err)
	result, err := llmbench.Pass(t.Context(), t.Name(), target, llmbench.Load{Requests: requests, Concurrency: 300, NoStream: true})
	assert.NilError(t, err)
	n := 0
	for s := range result.All() {
		assert.Equal(t, s.Outcome, sample.OK, "request %d: %v", s.Request, s.Err)
		assert.Equal(t, s.OutputTokens, 308, "request %d", s.Request)
		n++
	}
	assert.Equal(t, n, len(requests))
	assert.Equal(t, len(srv.Log()), n)
}
