// Leanclient is the client of BenchmarkChunk in a program that links nothing but llmbench. Its
// argument is a load in JSON. It prints what the client used, in JSON.
package main

import (
	"encoding/json"
	"log"
	"os"

	"github.com/seed-2b9cec6d/llmbench/scenarios/internal/testkit/chunkclient"
)

func main() {
	var l chunkclient.Load
	if err := json.Unmarshal([]byte(os.Args[len(os.Args)-1]), &l); err != nil {
		log.Fatalf("load %q: %v", os.Args[len(os.Args)-1], err)
	}
	r, err := chunkclient.Measure(l, chunkclient.Send)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(r)
	}
	if err != nil {
		log.Fatal(err)
	}
}
