// Package llmbench measures streaming LLM inference servers from Go benchmarks.
//
// A benchmark calls [Run] with a [Target] and a [Load]. The results are in the Go benchmark format, which
// benchstat compares:
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
// # How metrics are defined
//
// One op is one pass: each of the load's requests is sent once, and the pass lasts until the last of them
// has ended. The requests are sent in a closed loop with a fixed concurrency, or in an open loop on a
// schedule. The result of a request is a [sample.Sample], which holds instants on one monotonic clock. The
// instant of a delta is when the kernel received its bytes ([sample.KernelClock]). If the kernel gives no
// timestamp, it is when the client had read the bytes, before it parsed them. After the passes, all metrics
// are computed from the samples by [sample.Summarize]. [Units] lists the metrics with their definitions.
//
// Latencies count from an instant called t0. In a closed loop, t0 is just before the request is sent. In an
// open loop, t0 is when the request was due according to the schedule. A server that makes requests wait
// can therefore not hide the delay.
//
// # What is not reported
//
// A metric that the client itself distorted too much ([Load].MaxDistortion) is not reported. A pass whose
// samples contradict each other has no result.
//
// A broken answer is a failed request: for example, a stream that ended too early for its dialect, or that
// contained an error. Its [sample.Outcome] tells how it failed. A failed request counts for no latency and
// no token metric, and the benchmark fails unless the load tolerates the failure.
//
// Nothing is made up. An answer that was not streamed has no TTFT, and a percentile of too few samples is
// omitted.
//
// Nothing is written to standard output or standard error, except what [Main] prints.
package llmbench
