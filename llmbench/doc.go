// Package llmbench measures streaming LLM inference servers from Go benchmarks,
// and tells the truth about them.
//
// A benchmark hands [Run] a [Target] and a [Load]; what comes out is the Go
// benchmark format, which benchstat compares:
//
//	func TestMain(m *testing.M) { os.Exit(llmbench.Main(m)) }
//
//	func BenchmarkChat(b *testing.B) {
//		llmbench.Run(b, llmbench.Target{URL: "http://127.0.0.1:8000"}, llmbench.Load{
//			Requests:    requests,
//			Concurrency: 8,
//		})
//	}
//
// # What a figure means
//
// One op is one pass: the load's requests, each sent once, in a closed loop at a
// concurrency or in an open loop on a schedule, until the last has ended. Each
// request leaves a [sample.Sample] of raw instants on one monotonic clock: a delta's is
// when the kernel received its bytes, where it says so ([sample.KernelClock]), or else when
// they were read, before anything is parsed. All metrics are computed afterwards,
// by [sample.Summarize], from the samples alone; [sample.Units] lists them with their definitions.
//
// Latencies count from t0. In a closed loop that is the instant just before the
// request is sent; in an open loop it is the instant it was due, so that a
// server which makes its clients wait cannot hide it.
//
// # What it refuses to do
//
// It reports no figure that the client itself distorted ([Load].MaxDistortion), and
// no pass that contradicts itself.
//
// It counts no broken answer: a stream that ended before its dialect says it
// may, or that carried an error, is a failure with an [sample.Outcome], enters no
// latency and no token figure, and fails the benchmark unless the load tolerates
// it. It fills in nothing: an answer that was not streamed has no TTFT, and a
// percentile of too few samples is not reported. And it writes nothing to the
// standard streams but what [Main] prints before results.
package llmbench
