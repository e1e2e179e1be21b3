package k6

import (
	"time"

	"go.k6.io/k6/v2/metrics"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// figures holds the metrics that the extension registers with k6.
type figures struct {
	ttft, tpot, itl, e2e, connect, readLag             *metrics.Metric // trends of times
	requests, promptTokens, cachedTokens, outputTokens *metrics.Metric // counters
	failed, good                                       *metrics.Metric // rates
}

// newFigures registers the metrics. It returns an error if a metric with the same name and another type
// exists.
func newFigures(r *metrics.Registry) (*figures, error) {
	f := &figures{}
	for _, m := range []struct {
		metric **metrics.Metric
		name   string
		kind   metrics.MetricType
		value  metrics.ValueType
	}{
		{&f.ttft, "llm_ttft", metrics.Trend, metrics.Time},
		{&f.tpot, "llm_tpot", metrics.Trend, metrics.Time},
		{&f.itl, "llm_itl", metrics.Trend, metrics.Time},
		{&f.e2e, "llm_e2e", metrics.Trend, metrics.Time},
		{&f.connect, "llm_connect", metrics.Trend, metrics.Time},
		{&f.readLag, "llm_read_lag", metrics.Trend, metrics.Time},
		{&f.requests, "llm_requests", metrics.Counter, metrics.Default},
		{&f.promptTokens, "llm_prompt_tokens", metrics.Counter, metrics.Default},
		{&f.cachedTokens, "llm_cached_tokens", metrics.Counter, metrics.Default},
		{&f.outputTokens, "llm_output_tokens", metrics.Counter, metrics.Default},
		{&f.failed, "llm_failed", metrics.Rate, metrics.Default},
		{&f.good, "llm_good", metrics.Rate, metrics.Default},
	} {
		var err error
		if *m.metric, err = r.NewMetric(m.name, m.kind, m.value); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// of returns the values that a request adds to the metrics, with tags. The argument slo holds the limits
// for llm_good. Only a successful request has latencies and tokens. A request that was canceled counts
// neither as failed nor as successful.
func (f *figures) of(s *sample.Sample, slo sample.SLO, tags metrics.TagsAndMeta) metrics.Samples {
	v := values{time: time.Now(), metadata: tags.Metadata}
	ended := tags.Tags.With("outcome", string(s.Outcome))
	v.add(f.requests, 1, ended)
	if s.Outcome == sample.Canceled {
		return v.all
	}
	v.add(f.failed, metrics.B(s.Outcome != sample.OK), ended)
	if slo != (sample.SLO{}) {
		v.add(f.good, metrics.B(s.Outcome == sample.OK && slo.Met(s)), tags.Tags)
	}
	if s.Outcome != sample.OK {
		return v.all
	}
	for _, l := range []struct {
		metric *metrics.Metric
		of     func() (time.Duration, bool)
	}{
		{f.ttft, s.TTFT}, {f.tpot, s.TPOT}, {f.e2e, s.E2E},
		{f.connect, func() (time.Duration, bool) { return s.Connect, s.Connect > 0 }},
		{f.readLag, func() (time.Duration, bool) { return longest(s.Lags), len(s.Lags) > 0 }},
	} {
		if d, known := l.of(); known {
			v.add(l.metric, metrics.D(d), tags.Tags)
		}
	}
	for _, gap := range s.Gaps {
		v.add(f.itl, metrics.D(gap), tags.Tags)
	}
	v.add(f.promptTokens, float64(s.PromptTokens), tags.Tags)
	v.add(f.cachedTokens, float64(s.CachedTokens), tags.Tags)
	v.add(f.outputTokens, float64(s.OutputTokens), tags.Tags)
	return v.all
}

// values collects the metric values of one request.
type values struct {
	time     time.Time
	metadata map[string]string
	all      metrics.Samples
}

// add adds a value of a metric.
func (v *values) add(m *metrics.Metric, value float64, tags *metrics.TagSet) {
	series := metrics.TimeSeries{Metric: m, Tags: tags}
	v.all = append(v.all, metrics.Sample{TimeSeries: series, Time: v.time, Metadata: v.metadata, Value: value})
}

// longest returns the maximum of times, none of which is negative, or 0 if there are none.
func longest(times []time.Duration) (most time.Duration) {
	for _, d := range times {
		most = max(most, d)
	}
	return most
}
