package llmbench

import (
	"iter"
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/distortion"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/judge"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/store"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// BenchmarkFigures measures the time to compute all metrics, and to judge the client's distortion, after a
// pass of 5,000 requests of 128 tokens. Some of the tokens were read late. The unit decodes is how often
// the stored samples were decoded. The unit x-decode is the total time divided by the time of decoding the
// samples once.
//
// When each computation decoded the samples itself, there were 16 decodings, and x-decode was 31. With
// shared iterations there are 5 decodings, and x-decode is 21.
func BenchmarkFigures(b *testing.B) {
	const requests, tokens = 5000, 128
	m := &measurement{load: Load{Concurrency: 64, MaxDistortion: DefaultMaxDistortion}, bound: BoundReported, party: process.Join("test"), samples: store.New(store.Bound, "")}
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
		m.add(passResult{samples: samples})
		f := judge.FindFacts(samples, m.elapsed, m.estimate.Late(), m.load.SLO, m.load.tolerated())
		m.estimate.Report(samples, m.figures, m.load.units(), f.Summary.Metrics, m.load.MaxDistortion, m.shown)
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

// TestFiguresOwnSamples checks that Load.Figures may keep and change the samples that it gets: the
// judgement of the client's distortion must be the same as without Figures.
func TestFiguresOwnSamples(t *testing.T) {
	judged := func(figures func(iter.Seq[*sample.Sample]) map[string]float64) distortion.Report {
		m := measured(t, BoundReported, 50*ms, 9, false)
		m.load.Figures = figures
		assert.NilError(t, m.samples.Add(&sample.Sample{Request: 2, Start: 200 * ms, Due: 200 * ms, Streamed: true, Outcome: sample.OK, Clock: sample.KernelClock,
			Deltas: 3, First: 300 * ms, Gaps: []time.Duration{10 * ms, 20 * ms}, Lags: make([]time.Duration, 3), Last: 330 * ms, End: 330 * ms}))
		metrics := sample.Summarize(m.all(), m.elapsed, sample.SLO{}).Metrics
		assert.Assert(t, metrics["mean-itl-ns"] > 0)
		v, err := m.judge(metrics, judge.Facts{})
		assert.NilError(t, err)
		return v.client
	}
	calls := 0
	got := judged(func(samples iter.Seq[*sample.Sample]) map[string]float64 {
		calls++
		all := slices.Collect(samples)
		for i, s := range all {
			assert.Equal(t, s.Request, i, "it is another sample by now")
		}
		for s := range samples {
			clear(s.Gaps)
		}
		return nil
	})
	assert.Assert(t, calls > 1)
	want := judged(nil)
	assert.Assert(t, len(want.Distorted) > 0)
	assert.DeepEqual(t, got, want)
}
