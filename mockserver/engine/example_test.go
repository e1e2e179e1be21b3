package engine_test

import (
	"fmt"
	"log"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
)

// Two requests on a server with decode steps of 20 ms and prefills of 100 ms.
func Example() {
	e, err := engine.New(engine.Profile{Step: 20_000, Prefill: 100_000, MaxBatch: 8}, engine.Watcher{
		Ended: func(s *engine.Sequence, at time.Duration) {
			fmt.Println("first token after", s.First-s.Arrived, "and the last of", s.Tokens(), "after", at-s.Arrived)
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, at := range []time.Duration{0, 150 * time.Millisecond} {
		if _, err := e.Submit(at, engine.Job{Prompt: 512, Output: 200}); err != nil {
			log.Fatal(err)
		}
	}
	e.Advance(time.Minute)
	fmt.Println(e.Counts().Steps, "decode steps for", e.Counts().Generated, "tokens")
	// Output:
	// first token after 100ms and the last of 200 after 4.18s
	// first token after 110ms and the last of 200 after 4.09s
	// 202 decode steps for 400 tokens
}
