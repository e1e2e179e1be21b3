package records

import (
	"bytes"
	"os"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// stream is a stream of 128 tokens.
func stream() sample.Sample {
	s := sample.Sample{
		ID: "llmbench-12345678-123456", Epoch: time.Unix(1_700_000_000, 1), Start: time.Second, Due: time.Second, Admitted: time.Second, Wrote: time.Second, FirstByte: time.Second + 1e8,
		Clock: sample.KernelClock, Streamed: true, Events: 130, Deltas: 128, First: time.Second + 1e8, Last: time.Second + 1e8 + 127*5_001_234, End: 2 * time.Second, Outputs: 128, FirstOutput: time.Second + 1e8,
		Choices: sample.Choices{First: time.Second + 1e8, Last: 2 * time.Second}, LastEvent: 2 * time.Second, Done: 2 * time.Second, UsageAlone: true,
		MaxTokens: 128, PromptTokens: 512, OutputTokens: 128, TokenSource: sample.FromUsage, PromptChars: 2000, OutputChars: 500, Status: 200, Finish: "length", Outcome: sample.OK,
	}
	for range 128 {
		s.Gaps, s.Lags = append(s.Gaps, 5_001_234), append(s.Lags, 21_345)
	}
	s.Gaps = s.Gaps[:127]
	return s
}

// BenchmarkWrite measures the time to write the record of a stream of 128 tokens. The client does this
// while it measures.
func BenchmarkWrite(b *testing.B) {
	s := stream()
	w, err := Create(b.TempDir(), Head{Benchmark: "A"})
	assert.NilError(b, err)
	for b.Loop() {
		assert.NilError(b, w.Write(&s))
	}
	assert.NilError(b, w.Close(End{Outcome: EndedOK}))
}

// BenchmarkRead measures the time to read such records. An op reads a thousand of them.
func BenchmarkRead(b *testing.B) {
	w, err := Create(b.TempDir(), Head{Benchmark: "A", Dialect: "tgi", Concurrency: 1, Stream: true, Start: time.Unix(1, 0), Host: Host{Go: "go1.26"}})
	assert.NilError(b, err)
	s := stream()
	for range 1000 {
		assert.NilError(b, w.Write(&s))
	}
	assert.NilError(b, w.Close(End{Outcome: EndedOK}))
	text, err := os.ReadFile(w.Name())
	assert.NilError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		run, err := Read(bytes.NewReader(text), "f")
		assert.NilError(b, err)
		assert.Equal(b, run.Len(), 1000)
	}
}
