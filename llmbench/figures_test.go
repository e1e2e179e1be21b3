package llmbench

import (
	"iter"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/distortion"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/store"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// BenchmarkFigures measures the computation of all figures and of the verdict on the client after a
// pass of 5,000 requests of 128 tokens, some of which were read late. decodes is how often the samples
// were decoded, and x-decode is the time divided by that of one decoding.
//
// Shared ranges made 5 decodings of 16, and the whole 21 times as long as one of 31.
func BenchmarkFigures(b *testing.B) {
	const requests, tokens = 5000, 128
	m := &measurement{load: Load{MaxDistortion: DefaultMaxDistortion}, bound: BoundReported, samples: store.New(store.Bound, "")}
	for i := range requests {
		s := sample.Sample{Request: i, Streamed: true, Outcome: sample.OK, Clock: sample.KernelClock, TokenSource: sample.FromUsage,
			Start: time.Duration(i) * ms, Deltas: tokens, Outputs: tokens, OutputTokens: tokens, PromptTokens: 10}
		s.Due, s.Admitted = s.Start, s.Start
		s.First, s.Last = s.Start+50*ms, s.Start+50*ms
		s.FirstOutput = s.First
		for k := range tokens {
			s.Lags = append(s.Lags, time.Duration(20+i%7)*time.Microsecond)
			if k > 0 {
				s.Gaps = append(s.Gaps, 10*ms+time.Duration(i*k%1000)*time.Microsecond)
				s.Last += s.Gaps[k-1]
			}
		}
		if i%10 == 0 {
			s.Merged = []sample.Merged{{Delta: 5, Deltas: 1, Since: s.First}}
		}
		s.End = s.Last + ms
		assert.NilError(b, m.samples.Add(&s))
	}
	decodes := 0
	all := m.samples.Between(0, m.samples.End())
	counted := func(yield func(*sample.Sample) bool) {
		decodes++
		all(yield)
	}
	compute := func(samples iter.Seq[*sample.Sample]) {
		m.elapsed, m.estimate = 0, distortion.Estimate{}
		m.add(passResult{Pass: distortion.Pass{Samples: samples, Workers: 64}})
		f := findFacts(samples, m.elapsed, &m.load)
		m.estimate.Report(samples, m.figures, m.load.units(), f.summary.Metrics, m.load.MaxDistortion, m.shown)
	}
	var once, whole time.Duration
	for b.Loop() {
		begin := time.Now()
		for range all {
		}
		once += time.Since(begin)
		decodes = 0
		begin = time.Now()
		compute(counted)
		whole += time.Since(begin)
	}
	b.ReportMetric(float64(decodes), "decodes")
	b.ReportMetric(float64(whole)/float64(once), "x-decode")
}
