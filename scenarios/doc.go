// Package scenarios is the catalogue: every experiment as a benchmark.
//
// The scenarios are the package's benchmarks; they run with
//
//	go test -run='^$' -bench=. -benchtime=1x ./scenarios
//
// on the simulated server, unless LLMBENCH_BACKEND or LLMBENCH_URL name another.
package scenarios
