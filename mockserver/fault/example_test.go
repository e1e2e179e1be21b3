package fault_test

import (
	"fmt"
	"log"

	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

func Example() {
	f, err := fault.Parse("reset,every=3,at=10")
	if err != nil {
		log.Fatal(err)
	}
	const stream = true
	for ordinal := range uint64(6) {
		fmt.Printf("%d: %q\n", ordinal+1, fault.For([]fault.Fault{f}, ordinal+1, stream, 1).Kind)
	}
	// Output:
	// 1: ""
	// 2: ""
	// 3: "reset"
	// 4: ""
	// 5: ""
	// 6: "reset"
}
