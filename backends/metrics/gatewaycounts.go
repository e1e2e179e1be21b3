package metrics

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

// A tally is what a gateway has counted: by the name of a unit, by hits or decisions, or by serverKey.
type tally map[string]float64

// The keys of a tally beside the names of units.
const (
	once      = "attempts that were no retries"
	hits      = "hits"
	decisions = "decisions"
)

// serverKey returns the key of the requests for a server. Servers of one group share requests.
func serverKey(kind, group, server string) string {
	return strings.Join([]string{"server", kind, group, server}, "\x00")
}

// groupOf returns the key of a server without its name. It returns false if the key is of something else.
func groupOf(key string) (group string, ok bool) {
	at := strings.LastIndexByte(key, 0)
	return key[:max(at, 0)], at >= 0
}

// tally returns what the gateways whose metrics these are have counted.
func (f families) tally() tally {
	t := tally{}
	for _, k := range f.gateways() {
		add := func(key string, names []Alternatives) {
			for _, n := range names {
				if sum, _ := f.sum(n); sum != nil || k.late {
					t[key] += valueOr0(sum)
				}
			}
		}
		add(retriesUnit, k.retries)
		add(once, k.once)
		add(overflowUnit, k.overflow)
		add(shedUnit, k.shed)
		add(hits, k.hits)
		add(decisions, k.decisions)
		for _, m := range f.find(k.perServer).GetMetric() {
			t[serverKey(k.name, labelOf(m, k.group), labelOf(m, k.label))] += m.GetCounter().GetValue() + m.GetUntyped().GetValue()
		}
	}
	return t
}

// servers returns the number of servers that each kind of gateway says it has, if there is a gauge of them.
func (f families) servers() map[string]int {
	n := map[string]int{}
	for _, k := range f.gateways() {
		if sum, _ := f.sum(k.servers); sum != nil {
			n[k.name] = int(min(*sum, maxSeries))
		}
	}
	return n
}

func labelOf(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

// add adds what was counted between two instants. A counter that appears meanwhile was 0. A server that disappears
// meanwhile was removed.
func (t tally) add(before, after tally) error {
	for key := range before {
		if _, isServer := groupOf(key); !isServer && after[key] < before[key] {
			return fmt.Errorf("a counter of %s fell from %g to %g: the gateway was restarted, or several gateways answer at this address in turn", key, before[key], after[key])
		}
	}
	for key, now := range after {
		t[key] += max(0, now-before[key])
	}
	return nil
}

// count returns how many requests a unit has. It returns false if that is unknown.
func (t tally) count(unit string) (n float64, known bool) {
	n, known = t[unit]
	if unit == retriesUnit {
		n = max(0, n-t[once])
	}
	return n, known
}

// imbalance returns the requests for the busiest server / the mean of all servers. It returns false if nothing is
// known. Of several groups of servers it returns the greatest value. The argument known has the number of servers by kind
// of gateway, if it may be more than those that have requests.
func (t tally) imbalance(known map[string]int) (greatest float64, ok bool) {
	groups := map[string][]float64{}
	for key, n := range t {
		if group, isServer := groupOf(key); isServer {
			groups[group] = append(groups[group], n)
		}
	}
	for group, requests := range groups {
		kind := strings.Split(group, "\x00")[1]
		if imbalance, requested := imbalanceOf(requests, max(len(requests), known[kind])); requested {
			greatest, ok = max(greatest, imbalance), true
		}
	}
	return greatest, ok
}

// Limits of the counters of a pass in the records: their number, and the length of the name of each in bytes.
const (
	maxSeries     = 1000
	maxSeriesName = 1000
)

// series returns the values of all counters by name and labels. Values of labels that are credentials are hidden.
func (f families) series() map[string]float64 {
	all := map[string]float64{}
	for name, family := range f {
		for _, m := range family.Metric {
			labels := labelText(m)
			switch family.GetType() {
			case dto.MetricType_COUNTER, dto.MetricType_UNTYPED:
				all[name+labels] += m.GetCounter().GetValue() + m.GetUntyped().GetValue()
			case dto.MetricType_HISTOGRAM, dto.MetricType_SUMMARY:
				all[name+"_count"+labels] += float64(m.GetHistogram().GetSampleCount() + m.GetSummary().GetSampleCount())
				all[name+"_sum"+labels] += m.GetHistogram().GetSampleSum() + m.GetSummary().GetSampleSum()
			}
		}
	}
	return all
}

func labelText(m *dto.Metric) string {
	var text []string
	for _, l := range m.GetLabel() {
		value := l.GetValue()
		if env.IsSecret(l.GetName(), value) {
			value = env.NewSecret(value).String()
		}
		text = append(text, fmt.Sprintf("%s=%q", l.GetName(), value))
	}
	if text == nil {
		return ""
	}
	return "{" + strings.Join(text, ",") + "}"
}

// changes returns the counters that differ between two instants, and those that tally uses, before and after, and how
// many it leaves out because they are too many or have too long names. A counter that appears meanwhile was 0.
func changes(before, after families) (changed map[string][2]float64, left int) {
	used := after.used()
	then, now := before.series(), after.series()
	changed = map[string][2]float64{}
	names := slices.Sorted(maps.Keys(now))
	for _, wantUsed := range []bool{true, false} { // those that are used come first, so that they are not left out
		for _, name := range names {
			values := [2]float64{then[name], now[name]}
			switch {
			case used[base(name)] != wantUsed || !wantUsed && values[0] == values[1] || !finite(values[0]) || !finite(values[1]):
			case len(changed) == maxSeries || len(name) > maxSeriesName:
				left++
			default:
				changed[name] = values
			}
		}
	}
	return changed, left
}

func finite(v float64) bool { return !math.IsInf(v, 0) && !math.IsNaN(v) }

// base returns the name of a counter without its labels.
func base(series string) string {
	name, _, _ := strings.Cut(series, "{")
	return name
}

// used returns the names of the counters that tally uses.
func (f families) used() map[string]bool {
	used := map[string]bool{}
	for _, k := range f.gateways() {
		for _, names := range slices.Concat(k.retries, k.once, k.overflow, k.shed, k.hits, k.decisions, []Alternatives{k.perServer}) {
			for _, name := range names {
				used[base(name)] = true
			}
		}
	}
	return used
}
