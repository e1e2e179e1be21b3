package shape_test

import (
	"encoding/json"
	"fmt"
	"log"

	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

func Example() {
	var s shape.Shape
	if err := s.Set("crlf,ping,tokens-per-chunk=4"); err != nil {
		log.Fatal(err)
	}
	text, err := json.Marshal(s)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(text))
	// Output: {"tokens_per_chunk":4,"crlf":true,"ping":true}
}
