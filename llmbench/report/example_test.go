package report_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/report"
)

func Example() {
	dir, err := os.MkdirTemp("", "report")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "new.txt")
	const results = "BenchmarkServe/concurrency=1 1 616.4 output-tok/s\nBenchmarkServe/concurrency=8 1 4400 output-tok/s\n"
	if err := os.WriteFile(path, []byte(results), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	data, err := report.Read(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := report.New(data, report.Options{Title: "A sweep"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(r.Text())
	var page strings.Builder
	fmt.Println(r.HTML(&page), strings.Contains(page.String(), "616.4"))
	// Output:
	// 8 users get 4400 tok/s in all; the server may carry more
	// Greatest throughput: 4400 tok/s (at 8 users, the most that was measured)
	// How sure: One run (a second start of the server tells how much runs differ)
	// Next: measure more than 8 users
	//
	// users  output (tok/s)
	// 1      616
	// 8      4400
	//
	// The throughput is greatest at 8 users, 4400 tok/s. That is the highest load: the server may carry more.
	// Load: 1 to 8 users, 1 run each
	// <nil> true
}
