package benchfile_test

import (
	"fmt"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
)

func Example() {
	const file = `backend: mock
BenchmarkChat/concurrency=8-2 1 20.5 req/s 7000000 p50-ttft-ns
`
	results, err := benchfile.Read(strings.NewReader(file), "new.txt")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range results {
		ttft, _ := r.Value("p50-ttft-ns")
		fmt.Println(r.Name.Base, r.Name.Key("concurrency"), benchfile.Lookup(r.Config, "backend"), ttft)
	}
	// Output: Chat 8 mock 7e+06
}
