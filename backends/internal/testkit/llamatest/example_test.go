package llamatest_test

import (
	"context"
	"fmt"
	"log"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/llamatest"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/llamatest/tinygguf"
)

// This example starts a server with one slot. Its model ends its turns after about 150 tokens.
// Tests call Start instead, which skips the test if the server cannot run.
func ExampleRun() {
	s, err := llamatest.Run(context.Background(), llamatest.Options{
		Parallel: 1,
		Model:    tinygguf.Options{EndsTurns: true},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	fmt.Println(s.URL)
}
