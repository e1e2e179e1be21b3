package metrics

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
)

// A snapshot holds the values of a server's metrics at one instant, or the
// differences of two snapshots. A metric that the server does not have is nil.
type snapshot struct {
	cacheHits, cacheQueries, preemptions, queueSum, queueCount *float64
	requests, promptTokens, outputTokens                       *float64
	cacheHitRate, kvUsage, openRequests                        *float64
}

// counters returns the fields of which differences are taken.
func (s *snapshot) counters() []**float64 {
	return []**float64{&s.cacheHits, &s.cacheQueries, &s.preemptions, &s.queueSum, &s.queueCount, &s.requests, &s.promptTokens, &s.outputTokens}
}

// valueOr0 returns *v, or 0 if v is nil.
func valueOr0(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}

// scrape reads the server's metrics.
func (s Source) scrape(ctx context.Context) (snap snapshot, err error) {
	if s.Names.Path == "" {
		return snap, nil
	}
	client := s.Client
	if client == nil {
		client = probe.Direct
	}
	body, err := probe.Fetch(ctx, client, http.MethodGet, strings.TrimSuffix(s.URL, "/")+s.Names.Path, "", s.Header)
	if err != nil {
		return snap, err
	}
	all, err := parse(body)
	if err != nil {
		return snap, fmt.Errorf("%s: %w", s.Names.Path, err)
	}
	n := s.Names
	snap.cacheHits, _ = all.sum(n.CacheHits)
	snap.cacheQueries, _ = all.sum(n.CacheQueries)
	snap.preemptions, _ = all.sum(n.Preemptions)
	snap.queueSum, snap.queueCount = all.sum(n.QueueTime)
	snap.requests, _ = all.sum(n.Requests)
	snap.promptTokens, _ = all.sum(n.PromptTokens)
	snap.outputTokens, _ = all.sum(n.OutputTokens)
	snap.cacheHitRate = all.mean(n.CacheHitRate)
	snap.kvUsage = all.mean(n.KVUsage)
	snap.openRequests = all.mean(n.OpenRequests)
	return snap, nil
}

// families are metrics by their names.
type families map[string]*dto.MetricFamily

// parse reads Prometheus' text format
// (https://prometheus.io/docs/instrumenting/exposition_formats/).
func parse(body []byte) (families, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	// The format requires a line feed at the end, which not all servers send.
	return parser.TextToMetricFamilies(bytes.NewReader(append(bytes.TrimRight(body, "\r\n"), '\n')))
}

// find returns the family of the first name that is there, or nil.
func (f families) find(names Alternatives) *dto.MetricFamily {
	for _, name := range names {
		if family := f[name]; family != nil {
			return family
		}
		// Some servers name a counter's family without the suffix that the
		// samples of the counter have.
		if family := f[strings.TrimSuffix(name, "_total")]; family != nil {
			return family
		}
	}
	return nil
}

// sum adds up the values of a metric over its label sets. For a histogram or a
// summary, sum is the sum of the observed values and count their number.
func (f families) sum(names Alternatives) (sum, count *float64) {
	family := f.find(names)
	if family == nil || len(family.Metric) == 0 {
		return nil, nil
	}
	var v, c float64
	for _, m := range family.Metric {
		v += m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetUntyped().GetValue() +
			m.GetHistogram().GetSampleSum() + m.GetSummary().GetSampleSum()
		c += float64(m.GetHistogram().GetSampleCount() + m.GetSummary().GetSampleCount())
	}
	return &v, &c
}

// mean averages the values of a gauge over its label sets.
func (f families) mean(names Alternatives) *float64 {
	sum, _ := f.sum(names)
	if sum != nil {
		*sum /= float64(len(f.find(names).Metric))
	}
	return sum
}
