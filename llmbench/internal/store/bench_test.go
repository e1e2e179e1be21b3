package store

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

var kept *sample.Sample // as code that ranges over samples may keep them

// BenchmarkCodec measures the time to write a stream of 128 tokens, which the client does while it
// measures, and the time to read it.
func BenchmarkCodec(b *testing.B) {
	s := sample.Sample{ID: "llmbench-12345678-123", Epoch: time.Unix(1_700_000_000, 1), Start: time.Second, Due: time.Second, Admitted: time.Second, First: time.Second + 1e8, Last: time.Second + 1e8 + 127*5_001_234, End: 2 * time.Second,
		Clock: sample.KernelClock, Streamed: true, Events: 130, Deltas: 128, Outputs: 128, OutputTokens: 128, TokenSource: sample.FromUsage, Outcome: sample.OK, Finish: "length", Status: 200}
	for range 128 {
		s.Gaps, s.Lags = append(s.Gaps, 5_001_234), append(s.Lags, 21_345)
	}
	s.Gaps = s.Gaps[:127]
	var write codec
	b.Run("write", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			write.encode(&s)
		}
	})
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		read := codec{reading: true, words: map[string]string{}}
		data := write.encode(&s)
		for b.Loop() {
			kept = new(sample.Sample)
			assert.NilError(b, read.decode(data, kept))
		}
	})
}
