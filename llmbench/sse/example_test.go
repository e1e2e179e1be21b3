package sse_test

import (
	"fmt"
	"io"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// The body of a response is read until Next returns io.EOF. An event whose blank line is missing is also
// returned, and marked.
func ExampleDecoder() {
	body := strings.NewReader(": a comment\n\n" +
		"id: 7\ndata: first line\ndata: second line\n\n" +
		"event: usage\ndata: {\"tokens\":2}\n\n" +
		"data: cut o")
	d := sse.NewDecoder(body)
	for {
		e, err := d.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("type %s, id %q, data %q, unterminated %t\n", e.Type, e.ID, e.Data, e.Unterminated)
	}
	// Output:
	// type message, id "7", data "first line\nsecond line", unterminated false
	// type usage, id "7", data "{\"tokens\":2}", unterminated false
	// type message, id "7", data "cut o", unterminated true
}

// Auto also reads JSON lines, whatever content type the server declared.
func ExampleFormat() {
	d := sse.NewDecoder(strings.NewReader(`{"response":"a"}` + "\n" + `{"response":"b"}` + "\n"))
	d.Format = sse.Auto
	for {
		e, err := d.Next()
		if err != nil {
			break
		}
		fmt.Printf("%s\n", e.Data)
	}
	// Output:
	// {"response":"a"}
	// {"response":"b"}
}
