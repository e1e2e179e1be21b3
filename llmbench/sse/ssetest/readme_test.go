package ssetest_test

import (
	"io"
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sse/ssetest"
)

// decode is the adapter in README.md. It is for users of package sse who drop unterminated events and need
// the reconnection time.
func decode(body io.Reader, emit func(ssetest.Event)) error {
	d := sse.NewDecoder(body)
	for {
		e, err := d.Next()
		if err != nil {
			return err
		}
		if retry, _ := d.Retry(); !e.Unterminated {
			emit(ssetest.Event{Type: string(e.Type), Data: string(e.Data), ID: string(e.ID), Retry: retry})
		}
	}
}

func TestConformance(t *testing.T) { ssetest.TestDecoder(t, decode, ssetest.Options{}) }
func FuzzConformance(f *testing.F) { ssetest.Fuzz(f, decode, ssetest.Options{}) }

// TestReadme checks that README.md in the root folder has the lines of this file, which compile.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../../../README.md")
	assert.NilError(t, err)
	example, err := os.ReadFile("readme_test.go")
	assert.NilError(t, err)
	n := 0
	for line := range strings.Lines(string(example)) {
		if strings.HasSuffix(line, " ssetest.Options{}) }\n") {
			assert.Assert(t, strings.Contains(string(readme), "    "+line), "README.md lacks %q", line)
			n++
		}
	}
	assert.Equal(t, n, 2)
}
