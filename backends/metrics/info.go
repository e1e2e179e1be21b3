package metrics

import (
	"context"
	"strconv"
)

// An Info is what a server's metrics said at one instant. It is for settings that a server states among its metrics, such as
// the labels of vllm:cache_config_info.
type Info struct{ all families }

// Info reads the metrics of all addresses. It takes at most ten seconds.
func (s Source) Info(ctx context.Context) (Info, error) {
	all, err := s.read(ctx)
	return Info{all}, err
}

// Label returns the value of a label of a metric. It returns "" if no metric of that name has the label, or if
// several have different values. The name may have labels; see [Alternatives].
func (i Info) Label(name, label string) (value string) {
	for _, m := range i.all.pick(name).GetMetric() {
		for _, l := range m.Label {
			switch {
			case l.GetName() != label:
			case value != "" && l.GetValue() != value:
				return ""
			default:
				value = l.GetValue()
			}
		}
	}
	return value
}

// Value returns the value of a gauge or a counter in decimal digits. It returns "" if there is no such metric, or if
// several have different values.
func (i Info) Value(name string) (value string) {
	for _, m := range i.all.pick(name).GetMetric() {
		v := strconv.FormatFloat(m.GetGauge().GetValue()+m.GetCounter().GetValue()+m.GetUntyped().GetValue(), 'f', -1, 64)
		if value != "" && v != value {
			return ""
		}
		value = v
	}
	return value
}

// Missing returns the keys, as for [ParseNames], of the names of s that the server does not have. A server may have some
// of its metrics only from its first request on.
func (i Info) Missing(names Names) (missing []string) {
	for _, f := range names.keyed() {
		if len(*f.names) > 0 && i.all.find(*f.names) == nil {
			missing = append(missing, f.key+" "+(*f.names)[0])
		}
	}
	return missing
}
