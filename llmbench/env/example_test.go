package env_test

import (
	"fmt"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

// A package reads its variables into a struct with the defaults.
func ExampleRead() {
	requests, rates := 16, []float64{1}
	r := env.NewReader([]string{"LLMBENCH_RATE=0.5, 2", "PATH=/bin"})
	env.Read(r, &requests, "LLMBENCH_REQUESTS", env.AtLeast(1), "a whole number, at least 1")
	env.Read(r, &rates, "LLMBENCH_RATE", env.List(env.Positive), "a comma list of different rates, above 0")
	fmt.Println(requests, rates, r.Err())
	// Output: 16 [0.5 2] <nil>
}

// Errors name each variable that cannot be used, its value and what is allowed.
func ExampleReader_Err() {
	var share float64
	r := env.NewReader([]string{"LLMBENCH_MAX_FAIL=5%", "LLMBENCH_RATES=1"})
	env.Read(r, &share, "LLMBENCH_MAX_FAIL", env.Share, "a number from 0 to 1")
	fmt.Println(r.Err())
	// Output:
	// LLMBENCH_MAX_FAIL=5%: want a number from 0 to 1
	// LLMBENCH_RATES: no such variable; the nearest is LLMBENCH_RATE
}
