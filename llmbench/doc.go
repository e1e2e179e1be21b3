// Package llmbench measures streaming LLM inference servers from Go benchmarks.
//
// A benchmark calls [Run] with a [Target] and a [Load]. The results are in the Go benchmark
// format, which benchstat compares:
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
// [Arms] measures several targets in turns, so that they can be compared.
//
// # What a figure means
//
// One op is one pass: the load's requests, each sent once, in a closed loop at a concurrency or
// in an open loop on a schedule, until the last has ended. The result of a request is a
// [sample.Sample] of instants on one monotonic clock. The instant of a delta is when the kernel
// received its bytes ([sample.KernelClock]). If the kernel gives no timestamp, it is when the
// client had read the bytes, before parsing. All figures are computed from the samples afterwards,
// by [sample.Summarize]. [Units] lists them with their definitions.
//
// Latencies count from t0. In a closed loop t0 is the instant just before the request is sent. In
// an open loop t0 is when the request was due, so that a server cannot hide the delay of requests
// that it makes wait.
//
// # What is not reported
//
// A figure that the client itself distorted ([Load].MaxDistortion) and a pass that contradicts
// itself are not reported.
//
// A broken answer does not count. A stream that ended too early for its dialect, or that
// contained an error, is a failure with a [sample.Outcome]. It enters no latency and no token
// figure, and the benchmark fails unless the load tolerates it.
//
// Nothing is made up: an answer that was not streamed has no TTFT, and a percentile of too few
// samples is left out.
//
// Nothing is written to the standard streams, except what [Main] prints before results.
package llmbench
