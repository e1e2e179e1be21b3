package metrics

import (
	"fmt"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/model"
)

// A selector is the parsed form of a name in [Alternatives].
type selector struct {
	name   string
	labels []*dto.LabelPair // the labels that a metric must have
}

// parseSelector parses a name with or without labels.
func parseSelector(text string) (selector, error) {
	name, rest, labelled := strings.Cut(text, "{")
	if valid := model.LegacyValidation.IsValidMetricName(name); valid && !labelled {
		return selector{name: name}, nil
	} else if valid && strings.HasSuffix(rest, "}") {
		if all, err := parse([]byte(text + " 0")); err == nil && len(all) == 1 && all[name] != nil && len(all[name].Metric) == 1 {
			return selector{name, all[name].Metric[0].Label}, nil
		}
	}
	return selector{}, fmt.Errorf("%q is not the name of a metric: want a name like my_requests_total, or with labels my_requests_total{status=\"ok\"}", text)
}

// selects reports whether m has all labels of s.
func (s selector) selects(m *dto.Metric) bool {
	return !slices.ContainsFunc(s.labels, func(want *dto.LabelPair) bool {
		return !slices.ContainsFunc(m.Label, func(l *dto.LabelPair) bool {
			return l.GetName() == want.GetName() && l.GetValue() == want.GetValue()
		})
	})
}

// pick returns the metrics that a name selects, or nil if there are none.
func (f families) pick(text string) *dto.MetricFamily {
	s, err := parseSelector(text)
	if err != nil {
		return nil
	}
	family := f.family(s.name)
	if family == nil || len(s.labels) == 0 {
		return family
	}
	picked := &dto.MetricFamily{Name: family.Name, Type: family.Type}
	for _, m := range family.Metric {
		if s.selects(m) {
			picked.Metric = append(picked.Metric, m)
		}
	}
	if len(picked.Metric) == 0 {
		return nil
	}
	return picked
}

// family returns the family with a name, or nil. The name may have the suffix with which the samples of a counter, or the
// count or the sum of a histogram or a summary, are printed.
func (f families) family(name string) *dto.MetricFamily {
	if family := f[name]; family != nil {
		return family
	}
	// Some servers omit the suffix _total from the name of a counter's family, and only have it in the
	// names of the samples.
	if bare, found := strings.CutSuffix(name, "_total"); found {
		return f[bare]
	}
	if bare, found := strings.CutSuffix(name, "_count"); found {
		return part(f[bare], func(count, _ float64) float64 { return count })
	}
	if bare, found := strings.CutSuffix(name, "_sum"); found {
		return part(f[bare], func(_, sum float64) float64 { return sum })
	}
	return nil
}

// part returns a family of counters with the part of each histogram or summary of a family that choose returns. It returns
// nil if the family is nil or of another type.
func part(family *dto.MetricFamily, choose func(count, sum float64) float64) *dto.MetricFamily {
	if t := family.GetType(); family == nil || t != dto.MetricType_HISTOGRAM && t != dto.MetricType_SUMMARY {
		return nil
	}
	counters := &dto.MetricFamily{Name: family.Name, Type: dto.MetricType_COUNTER.Enum()}
	for _, m := range family.Metric {
		value := choose(float64(m.GetHistogram().GetSampleCount()+m.GetSummary().GetSampleCount()), m.GetHistogram().GetSampleSum()+m.GetSummary().GetSampleSum())
		counters.Metric = append(counters.Metric, &dto.Metric{Label: m.Label, Counter: &dto.Counter{Value: &value}})
	}
	return counters
}
