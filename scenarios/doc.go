// Package scenarios is the catalogue: every experiment as a benchmark.
//
// The scenarios are the package's benchmarks; they run with
//
//	go test -run='^$' -bench=. -benchtime=1x ./scenarios
//
// on the simulated server, unless LLMBENCH_BACKEND or LLMBENCH_URL name another.
//
// Those that repeat published studies have a reduced form, which ends in seconds
// on the simulated server, and with LLMBENCH_FULL the one that was published:
//
//   - Chat: one user and four, 512 tokens in and 200 out.
//   - LengthGrid: lengths of prompts by lengths of answers.
//   - ShareGPT: real conversations, in a closed and in an open loop.
//   - Prefill and Decode: what llama-bench measures, over HTTP.
//   - OpenQA and CodeQA: short questions and programming tasks, by ever more users.
//   - LongContext: one long text, by ever more users.
//
// A study is a table of loads (study_test.go), which the package's tests hold
// against the published rows in benchdata/published.
package scenarios
