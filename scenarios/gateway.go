package scenarios

import (
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
)

// Gateway measures what a gateway carries, and what that costs. The server behind the gateway must be simulated by package
// mockserver, in this process or in another one, without a limit of its own, and the gateway must pass on the header field
// X-Request-Id: what the gateway adds to a request is the latency at the client less the one in the server's log.
//
//   - Rows rate=R have added-p99-ttft-ms, the 99th percentile of what is added to the TTFT if R requests arrive each second
//     at random (Poisson). R doubles until more than the largest bound is added.
//   - Rows tail-ms=B have tail-req/s, the highest rate that two passes kept within B milliseconds: 1, 5, 10, 50 and 100. All
//     bounds share the passes.
//   - The row of=streams has max-streams, the most streams at once of which none fails, and of which 99 of 100 get each
//     token at most 100 ms later than the server sent it.
//   - Rows streams=N, if backends.Process started the gateway, have its memory and CPU time before any load, while N streams
//     are open, and after them. The row of=growth says by how much the memory grows with each million requests, with an
//     interval of 99 %. The gateway must not be started together with the server, in Process.Beside.
//
// A bound cannot be judged, and its row is skipped with the reason, if the client's own delays decide, or if the client and
// the server do not carry 1.25 times the rate without the gateway within half of the bound: then they may be the limit.
//
// Each request of the load asks for few tokens. How fast streams are is the simulated server's doing: 50 ms from token to
// token is usual. On the default server the scenario takes about five minutes, and seconds if Options.Simulated is set.
func (o Options) Gateway(b *testing.B, direct, gateway llmbench.Target) {
	b.Helper()
	o.gatewayNamed(b, direct, gateway, "gateway")
}

// gatewayNamed is Gateway for a gateway with the given name.
func (o Options) gatewayNamed(b *testing.B, direct, gateway llmbench.Target, name string) {
	b.Helper()
	s, through := gatewayLoad.pair(b, o, direct, gateway, name)
	if _, shards := harness.Shard(); shards > 1 {
		harness.Skip(b, "Gateway is measured by one process, and not by several shards")
	}
	workload, through, draw := through.prompted(pick(s, 512, 64), pick(s, 128, 8))
	g := gatewayRun{server: through, direct: direct, draw: repeated(draw), footprint: footprintOf(gateway)}
	lone, err := through.drawPrompts(64, 16)(1, through.options.Seed)
	if err != nil {
		b.Fatal(err)
	}
	answer := through.once(b, lone[0])
	if answer.Deltas > 1 {
		g.pace = (answer.Last - answer.First) / time.Duration(answer.Deltas-1)
	}
	g.lone, _ = answer.E2E()
	b.Run("workload="+workload+"/stream=true", func(b *testing.B) {
		g.costs(b)
		if logOf(b, direct) == nil {
			harness.Note(b, "throughput and streams are left out: they need a simulated server behind "+article(name)+", because a real one varies more than "+article(name)+" adds")
			return
		}
		g.tails(b)
		g.streams(b)
	})
}
