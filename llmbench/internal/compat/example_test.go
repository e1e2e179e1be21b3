package compat_test

import (
	"fmt"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compat"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
)

// In this example the first event has only a role and comes after 10 ms. The first token comes
// after 500 ms.
func Example() {
	const file = `{"version":1,"benchmark":"BenchmarkChat/concurrency=1","dialect":"openai-chat","stream":true,"concurrency":1,"start":"2026-01-02T03:04:05Z","host":{"go":"go1.26"}}
{"id":"a-1","pass":0,"due_ns":0,"start_ns":0,"connect_ns":0,"first_ns":500000000,"last_ns":540000000,"end_ns":560000000,"gaps_ns":[40000000],"choices":{"before":1,"amid":0,"after":0,"first_ns":10000000,"last_ns":540000000},"prompt_tokens":5,"output_tokens":2,"token_source":"usage","outcome":"ok","status":200}
`
	run, err := records.Read(strings.NewReader(file), "chat.jsonl")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"vllm", "sglang", "llama-bench"} {
		tool, _ := compat.Find(name)
		ttft := tool.Figures(compat.Of(run, 0)).TTFT.Mean
		fmt.Println(tool.Title, ttft.Text(0))
	}
	// Output:
	// vLLM bench serve 10000000
	// SGLang bench_serving 500000000
	// llama-bench -
}
