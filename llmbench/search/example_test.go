package search_test

import (
	"fmt"

	"github.com/seed-2b9cec6d/llmbench/llmbench/search"
)

// The server in this example can serve 8.2 requests per second. In a benchmark, try would make a pass with
// llmbench.Pass, and check whether enough requests met the SLO.
func ExampleHighest_Find() {
	try := func(rate float64) (bool, error) { return rate <= 8.2, nil }
	found, err := search.Highest{From: 1, To: 64}.Find(try)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("from %.2f to %.2f in %d passes\n", found.Low, found.High, len(found.Trials))
	// Output: from 8.00 to 8.35 in 10 passes
}

// Up to eight users, the throughput increases. With more users, only the latency increases.
func ExampleKnee() {
	points := []search.Point{{Load: 4, Throughput: 40, Latency: 0.1}, {Load: 8, Throughput: 80, Latency: 0.1}, {Load: 16, Throughput: 82, Latency: 0.2}}
	at, err := search.Knee(points)
	fmt.Println(points[at].Load, err)
	// Output: 8 <nil>
}
