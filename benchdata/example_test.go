package benchdata_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
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
	// All prompts begin with the same 4 tokens, which a prefix cache can reuse.
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

func ExampleDrawn() {
	input, err := benchdata.ParseLength("lognormal(24,0.6,4..64)") // a median of 24 tokens
	if err != nil {
		log.Fatal(err)
	}
	output, err := benchdata.ParseLength("normal(128,32)") // a mean of 128 tokens
	if err != nil {
		log.Fatal(err)
	}
	requests, err := benchdata.Drawn{Input: input, Output: output, Seed: 1}.Requests(4)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range requests {
		fmt.Println(r.PromptTokens, "in,", r.MaxTokens, "out")
	}
	// Output:
	// 29 in, 152 out
	// 34 in, 105 out
	// 31 in, 116 out
	// 36 in, 169 out
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
	requests, err := benchdata.ShareGPT{NoRepeat: true}.Read(strings.NewReader(file), 10)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range requests {
		fmt.Printf("%d in, up to %d out: %s\n", r.PromptTokens, r.MaxTokens, r.Prompt)
	}
	// Output: 6 in, up to 7 out: When does the last ferry leave?
}

func ExamplePrompts_tokenizer() {
	tok, err := tokenizer.LoadHuggingFace("tokenizer/testdata/qwen2-style.json")
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

func ExampleTrace() {
	const file = `{"timestamp": 0, "input_length": 1100, "output_length": 52, "hash_ids": [0, 1, 2]}
{"timestamp": 3000, "input_length": 1024, "output_length": 7, "hash_ids": [0, 1]}
{"timestamp": 3500, "input_length": 600, "output_length": 26, "hash_ids": [0, 3]}`
	requests, replay, err := benchdata.Trace{Format: benchdata.Mooncake, Speed: 2}.Read(strings.NewReader(file), 0)
	if err != nil {
		log.Fatal(err)
	}
	due, err := replay.Times(len(requests))
	if err != nil {
		log.Fatal(err)
	}
	first := strings.Fields(requests[0].Prompt)
	for i, r := range requests {
		shared := 0
		for k, word := range strings.Fields(r.Prompt) {
			if word != first[k] {
				break
			}
			shared++
		}
		fmt.Printf("at %v: %d in, %d equal to the first prompt, %d out\n", due[i], r.PromptTokens, shared, r.MaxTokens)
	}
	// Output:
	// at 0s: 1100 in, 1100 equal to the first prompt, 52 out
	// at 1.5s: 1024 in, 1024 equal to the first prompt, 7 out
	// at 1.75s: 600 in, 512 equal to the first prompt, 26 out
}

func ExampleOpen() {
	workload, err := benchdata.Open("generated-shared-prefix:per-group=2,system=20,question=10,output=5", benchdata.Options{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	requests, err := workload.Requests(4)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range requests {
		system, _, _ := strings.Cut(r.Prompt, "\n\n")
		fmt.Printf("%d in, %d out: %.20s…\n", r.PromptTokens, r.MaxTokens, system)
	}
	_, err = benchdata.Open("openqa:open_qa.jsonl?speed=2", benchdata.Options{})
	fmt.Println(err)
	// Output:
	// 30 in, 5 out: tool fit until ring …
	// 30 in, 5 out: ounce boot wise them…
	// 30 in, 5 out: ounce boot wise them…
	// 30 in, 5 out: tool fit until ring …
	// dataset "openqa:open_qa.jsonl?speed=2": parameter speed: want one of max, min, output, repeat
}
