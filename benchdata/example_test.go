package benchdata_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
)

func Example() {
	workload := benchdata.Prompts{Input: 12, Output: 64, Seed: 1}
	requests, err := workload.Requests(3)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range requests {
		fmt.Printf("%d in, %d out: %s\n", r.PromptTokens, r.MaxTokens, r.Prompt)
	}
	// Output:
	// 12 in, 64 out: tool fit until ring tool this raw gas vote pound stock grow
	// 12 in, 64 out: age exit very build sign diary radio call island dense wide poem
	// 12 in, 64 out: stair secret due depth any jungle rally theory width media leave moral
}

func ExamplePrompts_sharedPrefix() {
	// A system prompt of 4 tokens, which a prefix cache should answer.
	workload := benchdata.Prompts{Input: 8, Output: 16, SharedPrefix: 4}
	requests, err := workload.Requests(2)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range requests {
		fmt.Println(r.Prompt)
	}
	// Output:
	// notice text cow more shadow want knock resist
	// notice text cow more this half debate find
}

func ExampleShareGPT() {
	const file = `[
		{"id": "a_0", "conversations": [
			{"from": "human", "value": "When does the last ferry leave?"},
			{"from": "gpt", "value": "At ten, and at nine on Sundays."}]},
		{"id": "b_0", "conversations": [
			{"from": "human", "value": "Hi"},
			{"from": "gpt", "value": "Hello, how can I help?"}]}
	]`
	requests, err := benchdata.ShareGPT{NoOversample: true}.Read(strings.NewReader(file), 10)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range requests {
		fmt.Printf("%d in, up to %d out: %s\n", r.PromptTokens, r.MaxTokens, r.Prompt)
	}
	// Output: 6 in, up to 7 out: When does the last ferry leave?
}

func ExampleHuggingFace() {
	tok, err := benchdata.LoadHuggingFace("testdata/qwen2-style.json")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tok.Count("The captain's 12 sacks"))
	requests, err := benchdata.Prompts{Input: 256, Output: 32, Tokenizer: tok}.Requests(1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tok.Count(requests[0].Prompt))
	// Output:
	// 7
	// 256
}
