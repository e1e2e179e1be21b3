package scenarios

import (
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// BenchmarkVerdict shows whether client-err-% tells a client that is short of CPU from
// a healthy one: 16 streams of a mock server in another process, with a token every
// 20 ms. .ci/sabotage runs it, also in a cgroup that has little CPU time.
func BenchmarkVerdict(b *testing.B) {
	cfg, err := readConfig()
	if err != nil {
		b.Fatal(err)
	}
	if cfg.Full != "1" {
		b.Skip("LLMBENCH_FULL=1 runs it")
	}
	mock := startMock(b, mockserver.Config{TTFT: 200 * time.Millisecond, PerToken: 20 * time.Millisecond, Jitter: 0.2})
	all, err := benchdata.Prompts{Input: 32, Output: 40, Seed: 1}.Requests(48)
	if err != nil {
		b.Fatal(err)
	}
	load := llmbench.Load{Requests: all[:32], Warmup: all[32:], Concurrency: 16, ClientBound: llmbench.BoundReported}
	b.Run("client=healthy/concurrency=16", func(b *testing.B) { llmbench.Run(b, mock.target, load) })
}
