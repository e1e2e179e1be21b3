package profiles_test

import (
	"fmt"
	"log"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/profiles"
)

// The example shows how long the last of 201 simultaneous requests waits for its first token.
func Example() {
	p, err := profiles.Load("mindie-qwen1.5-7b-910b4")
	if err != nil {
		log.Fatal(err)
	}
	e, err := engine.New(p.Engine, engine.Watcher{})
	if err != nil {
		log.Fatal(err)
	}
	var last *engine.Sequence
	for range 201 {
		if last, err = e.Submit(0, engine.Job{Prompt: 40, Output: 240}); err != nil {
			log.Fatal(err)
		}
	}
	e.Advance(time.Minute)
	fmt.Println(p.About)
	fmt.Println("batches of", p.Engine.MaxBatch, "requests: the last waits", last.First.Round(time.Second))
	// Output:
	// MindIE, Qwen1.5-7B-Chat, fp16, short questions
	// batches of 200 requests: the last waits 6s
}
