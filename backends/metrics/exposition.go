package metrics

import (
	"bytes"
	"math"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// families holds metrics by name.
type families map[string]*dto.MetricFamily

// parse reads Prometheus' text format
// (https://prometheus.io/docs/instrumenting/exposition_formats/).
func parse(body []byte) (families, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	// The format requires a final line feed, which some servers do not send.
	return parser.TextToMetricFamilies(bytes.NewReader(append(bytes.TrimRight(body, "\r\n"), '\n')))
}

// add adds the metrics of another server.
func (f families) add(other families) {
	for name, family := range other {
		if f[name] == nil {
			f[name] = family
		} else {
			f[name].Metric = append(f[name].Metric, family.Metric...)
		}
	}
}

// has reports whether the name of any metric begins with prefix.
func (f families) has(prefix string) bool {
	for name := range f {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// find returns the metrics with the first of the names that exists, or nil.
func (f families) find(names Alternatives) *dto.MetricFamily {
	for _, name := range names {
		if family := f.pick(name); family != nil {
			return family
		}
	}
	return nil
}

// sum adds up the values of a metric over its label sets. For a histogram or a summary, sum is the sum of
// the observed values and count is their number. Both are nil if the sum is not [possible].
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
	if known := possible(v); known != nil {
		return known, &c
	}
	return nil, nil
}

// possible returns v, or nil if v is negative or not finite, because no metric of interest can have such a value.
func possible(v float64) *float64 {
	if !(v >= 0) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// mean returns the average of a gauge over its label sets.
func (f families) mean(names Alternatives) *float64 {
	sum, _ := f.sum(names)
	if sum != nil {
		*sum /= float64(len(f.find(names).Metric))
	}
	return sum
}

// starts returns the start times of the processes that export these metrics, in seconds since 1970 and
// sorted. Prometheus' client libraries export the start time if the process has only one registry
// (https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics).
func (f families) starts() []float64 {
	var all []float64
	for _, m := range f["process_start_time_seconds"].GetMetric() {
		all = append(all, m.GetGauge().GetValue()+m.GetUntyped().GetValue())
	}
	slices.Sort(all)
	return all
}
