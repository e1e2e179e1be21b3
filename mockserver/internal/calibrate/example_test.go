package calibrate_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/calibrate"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/profiles"
)

// The example shows how well the engines of a profile predict load points to which they were not fitted.
func Example() {
	p, err := profiles.Load("vllm-qwen1.5-7b")
	if err != nil {
		log.Fatal(err)
	}
	predictions, err := calibrate.Predict(p)
	if err != nil {
		log.Fatal(err)
	}
	t := calibrate.Count(predictions)
	fmt.Printf("%d held-out values, %.0f %% within 10 %%\n", t.Values, t.Share(t.Within10))
	// Output: 40 held-out values, 98 % within 10 %
}

// The example makes load points from results in Go benchmark format. Two samples of the same load become one
// point.
func ExampleMerge() {
	const results = `
BenchmarkServe/backend=vllm/workload=chat/concurrency=1 1 100 in-tok/req 50 out-tok/req 40 output-tok/s
BenchmarkServe/backend=vllm/workload=chat/concurrency=8 1 100 in-tok/req 50 out-tok/req 290 output-tok/s
BenchmarkServe/backend=vllm/workload=chat/concurrency=8 1 100 in-tok/req 50 out-tok/req 310 output-tok/s
`
	const requests = 64
	samples, err := calibrate.Results(strings.NewReader(results), "results.txt", []string{"workload=chat"}, requests)
	if err != nil {
		log.Fatal(err)
	}
	_, points, err := calibrate.Merge(samples)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range points {
		fmt.Println(p.Workload, p.Concurrency, p.Values["output-tok/s"])
	}
	// Output:
	// Serve/workload=chat 1 40
	// Serve/workload=chat 8 300
}
