// Package scenarios is a catalogue of experiments on LLM inference servers, as
// methods of [Options] that any Go benchmark can call.
//
//	func BenchmarkChat(b *testing.B) {
//		target := backends.URL{URL: "http://127.0.0.1:8000"}.Start(b)
//		scenarios.Options{}.Chat(b, target)
//	}
//
// A scenario measures its target in sub-benchmarks of b. Their names describe the load:
// workload=random-512x200/stream=true/concurrency=4. The fields of Options change a scenario, for example
// its concurrencies, its number of requests, or whether it has its reduced or its published form.
//
//	scenarios.Options{Concurrencies: []int{1, 16}}.Chat(b, target)
//
// [Scenarios] lists the whole catalogue. README.md, in the package's folder, describes each scenario, its
// parameters, and the published study that it repeats.
//
// The benchmarks of this package run the catalogue on the simulated server, or on the servers named in
// LLMBENCH_BACKEND or LLMBENCH_URL:
//
//	go test -run='^$' -bench=. -benchtime=1x ./scenarios
package scenarios
