package gate_test

import (
	"fmt"
	"log"
	"os"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
)

// This example compares two files. The margins are in the Unit lines of the files.
func ExampleCompare() {
	old, err := os.Open("testdata/chat/old.txt")
	if err != nil {
		log.Fatal(err)
	}
	defer old.Close()
	slower, err := os.Open("testdata/chat/new.txt")
	if err != nil {
		log.Fatal(err)
	}
	defer slower.Close()
	report, err := gate.Compare(gate.File{}, gate.File{Name: "old.txt", Data: old}, gate.File{Name: "new.txt", Data: slower}, gate.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Verdict)
	for _, row := range report.Rows {
		if row.Verdict == gate.Regression {
			fmt.Printf("%s %s %+.1f%%\n", row.Name, row.Unit, 100**row.Change)
		}
	}
	// Output:
	// regression
	// Chat/backend=vllm/model=yi-6b-chat/concurrency=8-8 mean-tpot-ns +5.6%
	// Chat/backend=vllm/model=yi-6b-chat/concurrency=8-8 output-tok/s -5.5%
}
