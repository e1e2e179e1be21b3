package tokenizer_test

import (
	"fmt"
	"log"

	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
)

// A prompt is counted as the model itself counts it.
func ExampleLoadHuggingFace() {
	tok, err := tokenizer.LoadHuggingFace("testdata/qwen2-style.json")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tok.Count("The captain's 12 sacks"), tok.Encode("The captain"))
	// Output: 7 [284 335]
}

// Two prompts were sent; the server's usage was 33 and 228 tokens.
func ExampleCalibrate() {
	est, err := tokenizer.Calibrate([]tokenizer.Point{
		{Words: 16, PromptTokens: 33},
		{Words: 166, PromptTokens: 228},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f tokens a word, %d around the prompt\n", est.PerWord, est.Template())
	// Output: 1.30 tokens a word, 12 around the prompt
}

func ExampleWords() {
	fmt.Println(tokenizer.Words{}.Count("one two\nthree"))
	// Output: 3
}
