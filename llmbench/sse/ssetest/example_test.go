package ssetest_test

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sse/ssetest"
)

func ExampleTestDecoder() {
	var t *testing.T // in a test, its argument
	decode := func(body io.Reader, emit func(ssetest.Event)) error {
		d := sse.NewDecoder(body)
		for {
			e, err := d.Next()
			if err != nil {
				return err // io.EOF counts as a clean end
			}
			emit(ssetest.Event{Type: string(e.Type), Data: string(e.Data), ID: string(e.ID), Unterminated: e.Unterminated})
		}
	}
	ssetest.TestDecoder(t, decode, ssetest.Options{NoRetry: true, EOF: ssetest.Mark})
}

// Many clients only read lines that begin with "data:". Check shows the cases in
// which such a client is wrong.
func ExampleCheck() {
	decode := func(body io.Reader, emit func(ssetest.Event)) error {
		lines := bufio.NewScanner(body)
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				emit(ssetest.Event{Data: data})
			}
		}
		return lines.Err()
	}
	failed := map[string]int{}
	for _, r := range ssetest.Check(decode, ssetest.Options{NoType: true, NoID: true, NoRetry: true, EOF: ssetest.Flush}) {
		if r.Err != nil {
			failed[r.Class]++
		}
		if r.Class == "fields" && r.Name == "no-space" {
			fmt.Printf("%s/%s: %s\n%v\n", r.Class, r.Name, r.Why, r.Err)
		}
	}
	fmt.Println(failed["bom"] > 0, failed["lines"] > 0, failed["nul"] > 0)
	// Output:
	// fields/no-space: the space after the colon is optional
	// body "data:a\n\n"
	// whole: event 0 is missing: want {Data: "a"}
	// (wrong in 17 of 17 ways of reading the body)
	// true true true
}
