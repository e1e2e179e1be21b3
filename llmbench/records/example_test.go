package records_test

import (
	"fmt"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
)

func Example() {
	const file = `{"version":1,"benchmark":"BenchmarkChat/concurrency=1","dialect":"openai-chat","stream":true,"concurrency":1,"start":"2026-01-02T03:04:05Z","host":{"go":"go1.26"}}
{"id":"a-1","pass":0,"due_ns":0,"start_ns":0,"connect_ns":0,"first_ns":20000000,"last_ns":50000000,"end_ns":60000000,"gaps_ns":[30000000],"prompt_tokens":5,"output_tokens":2,"token_source":"usage","outcome":"ok","status":200}
`
	run, err := records.Read(strings.NewReader(file), "chat.jsonl")
	if err != nil {
		fmt.Println(err)
		return
	}
	for q := range run.All() {
		ttft, _ := q.TTFT()
		fmt.Println(q.Outcome, ttft)
	}
	run, err = records.Read(strings.NewReader(file[:len(file)-10]), "chat.jsonl")
	fmt.Println(run.Len(), run.Failed(), err)
	// Output:
	// ok 20ms
	// 0 the run was cut: its process was killed or still runs, and the records have no line about its end <nil>
}
