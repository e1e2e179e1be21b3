package arrivals_test

import (
	"fmt"
	"math"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
)

func Example() {
	process := arrivals.Poisson{Rate: 4, Seed: 1}
	times, err := arrivals.Schedule(process, 4)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(process.Name(), times)
	// Output: poisson [0s 324.12214ms 447.569999ms 750ms]
}

func ExampleStages() {
	ramp := arrivals.Stages{Stages: []arrivals.Stage{
		{For: 2 * time.Second, Rate: 1},
		{For: 2 * time.Second, Rate: 1, Ramp: arrivals.Linear, To: 3},
	}, Shape: math.Inf(1)} // even intervals
	n, err := ramp.Requests()
	if err != nil {
		fmt.Println(err)
		return
	}
	times, err := ramp.Times(n)
	fmt.Println(times, err)
	// Output: [0s 1s 2s 2.732050808s 3.236067977s 3.645751311s] <nil>
}
