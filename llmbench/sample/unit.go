package sample

import (
	"fmt"
	"slices"
	"strings"
)

// A Unit is a metric that a benchmark reports, under its name in benchmark files.
type Unit struct {
	// Name is the unit's name in benchmark files. Benchstat converts names that end in
	// -ns to seconds.
	Name string
	// Better is "higher" or "lower", or "" if neither is better.
	Better string
	// Core units are always reported. The other units are reported with LLMBENCH_UNITS=all, or if the load
	// asks for them.
	Core bool
	// Means defines the unit in one sentence. If the sentence does not say otherwise, only successful requests
	// count.
	Means string
	// Gate is the largest loss that benchgate does not call a regression, as after gate= in a Unit line: a share such as
	// "2%", an amount such as "0.5ms", or "5%,0.5ms" for the larger of both. Values of a unit whose Gate has an amount may
	// be 0 or negative. Gate is "" if benchgate does not judge the unit.
	Gate string
	// Of and Apart are for a percentage whose Gate is in percentage points, such as "2pp". Of is the unit
	// for the number of observations, which benchgate needs to compare counts. Apart is "", or a unit whose
	// value differs from process to process if the observations of the processes are independent.
	Of, Apart string
	// Pairs says that two results of a benchmark file with the same value of the unit are a pair: what they
	// measured took turns in random order. benchgate judges them by the difference of each pair.
	Pairs bool
	// Same says that two benchmark files can be compared only if their values of the unit
	// are nearly equal: benchgate cannot judge if the medians differ by more than Same, a
	// share such as "2%" or an amount in the unit such as "5". "" is no such condition.
	Same string
	// Withheld says that a result with the unit lacks figures, which were withheld, and whose doing it is: "server", what
	// was measured, or "client", the program or the machine that measures. benchgate calls it a regression if results of
	// the new side alone have such a unit of the server. "" is no such unit. Says are the words of benchgate, with a
	// hyphen for each space: what the side does, a colon, and what its runs do, as in "buffers-streams:come-in-bursts".
	Withheld, Says string
	// Family says what the unit measures. It determines how the client can distort the unit.
	Family Family
	// Parts has the names of the units from which the unit is computed, such as a ratio of two latencies,
	// separated by spaces. If one of them is withheld, the unit is withheld, too. The parts have no parts
	// themselves, and the unit has no Family. "" is a unit that is measured.
	Parts string
	// Base is, for a figure of only some of the requests, such as the requests of a class, the unit of the same figure of all
	// requests: output-tok/s of chat-output-tok/s. A figure that means nothing of all requests means nothing of some. Base is
	// "" for a unit of all requests, and for the rate of requests that keep an SLO without a limit of the TTFT or the TPOT.
	Base string
	// Statistic says which statistic of the family's values the unit is. It is "" if the unit is not a
	// statistic of many values.
	Statistic Statistic
}

// A Family is what a unit measures.
type Family string

// The families.
const (
	FamilyOther    Family = ""         // the client's delays do not change the unit
	FamilyTTFT     Family = "ttft"     // times that end with the first delta
	FamilyTPOT     Family = "tpot"     // times per output token
	FamilyITL      Family = "itl"      // gaps between deltas
	FamilyE2E      Family = "e2e"      // times that end with the last delta
	FamilyRate     Family = "rate"     // amounts per second, over whole passes
	FamilyUserRate Family = "userrate" // amounts per second, for each request
)

// ComputedFrom reports whether the unit is computed from one of the units with the given names.
func (u Unit) ComputedFrom(names []string) bool {
	for part := range strings.FieldsSeq(u.Parts) {
		if slices.Contains(names, part) {
			return true
		}
	}
	return false
}

// Timed reports whether the unit is a rate or a latency, which the client can distort.
func (u Unit) Timed() bool { return u.Family != FamilyOther }

// A Statistic summarizes many values in one.
type Statistic string

// The statistics.
const (
	Mean Statistic = "mean"
	P50  Statistic = "p50"
	P90  Statistic = "p90"
	P99  Statistic = "p99"
	Max  Statistic = "max"
	// P99Bound is the upper confidence bound of P99; see [BoundRank].
	P99Bound Statistic = "p99-bound"
)

// percents holds the statistics that are percentiles.
var percents = map[Statistic]int{P50: 50, P90: 90, P99: 99}

// Percent returns the percentile of s, from 1 to 99, or 0 if s is not a percentile.
func (s Statistic) Percent() int { return percents[s] }

// Enough reports whether n values are enough for s. The percentile pNN needs n >= 1/(1-NN/100), [P99Bound]
// needs n >= 299, and the others need n >= 1.
func (s Statistic) Enough(n int) bool {
	if s == P99Bound {
		_, enough := BoundRank(n, 0.99)
		return enough
	}
	return EnoughFor(n, float64(s.Percent())/100)
}

// EnoughFor reports whether n values are enough for their q-quantile, q in [0,1]: n >= 1/(1-q). With fewer
// values, the quantile is probably above the largest value. The largest value itself, q = 1, needs only one
// value.
func EnoughFor(n int, q float64) bool {
	return n > 0 && (q == 1 || float64(n)*(1-q) >= 1-1e-9)
}

// Line returns the unit's metadata line in the Go benchmark format
// (https://pkg.go.dev/golang.org/x/perf/cmd/benchstat#hdr-Unit_metadata), or "" if the unit has no
// metadata.
func (u Unit) Line() string {
	line, pairs := "", ""
	if u.Pairs {
		pairs = "yes"
	}
	for _, field := range []struct{ key, value string }{{"better", u.Better}, {"gate", u.Gate}, {"of", u.Of}, {"apart", u.Apart}, {"same", u.Same}, {"pairs", pairs}, {"withheld", u.Withheld}, {"says", u.Says}} {
		if field.value != "" {
			line += " " + field.key + "=" + field.value
		}
	}
	if line == "" {
		return ""
	}
	return "Unit " + u.Name + line
}

// Check returns an error if a benchmark cannot report the unit, because its name or another field has an
// invalid value.
func (u Unit) Check() error {
	switch {
	case u.Name == "" || strings.ContainsAny(u.Name, " \t\r\n") || u.Name == "ns/op":
		return fmt.Errorf("unit %q: want a name without spaces, other than ns/op", u.Name)
	case u.Better != "" && u.Better != "higher" && u.Better != "lower":
		return fmt.Errorf("unit %s: better %q: want higher, lower or \"\"", u.Name, u.Better)
	case u.Gate != "" && u.Better == "":
		return fmt.Errorf("unit %s has gate=%q but no value for better: want better=higher or better=lower", u.Name, u.Gate)
	case strings.HasSuffix(u.Gate, "pp") != (u.Of != ""):
		return fmt.Errorf("unit %s: gate %q and of %q: want of, the unit with the number of observations, for a gate in percentage points only", u.Name, u.Gate, u.Of)
	case u.Withheld != "" && u.Withheld != "server" && u.Withheld != "client":
		return fmt.Errorf("unit %s: withheld %q: want server, client or \"\"", u.Name, u.Withheld)
	case !slices.Contains([]Family{FamilyOther, FamilyTTFT, FamilyTPOT, FamilyITL, FamilyE2E, FamilyRate, FamilyUserRate}, u.Family):
		return fmt.Errorf("unit %s: family %q: want one of the families", u.Name, u.Family)
	case u.Parts != "" && u.Family != FamilyOther:
		return fmt.Errorf("unit %s: parts %q and family %q: want only one of them", u.Name, u.Parts, u.Family)
	case !slices.Contains([]Statistic{"", Mean, P50, P90, P99, P99Bound, Max}, u.Statistic):
		return fmt.Errorf("unit %s: statistic %q: want one of the statistics", u.Name, u.Statistic)
	}
	return nil
}

// An Interval is the range in which the true value of a metric lies, as far as the client's own delays may
// have distorted the measured value. It contains the measured value.
type Interval struct {
	Low    float64 `json:"low"`    // lowest possible value
	Likely float64 `json:"likely"` // most likely value
	High   float64 `json:"high"`   // highest possible value
}
