package sample

import (
	"fmt"
	"slices"
	"strings"
)

// A Unit is a figure that a benchmark reports, under its name in benchmark files.
type Unit struct {
	// Name is the unit's name in benchmark files. Benchstat converts names that end in
	// -ns to seconds.
	Name string
	// Better is "higher" or "lower", or "" for a unit of which neither is better.
	Better string
	// Core units are always reported; the others with LLMBENCH_UNITS=all, or where the
	// load asks for them.
	Core bool
	// Means defines the unit in one sentence.
	Means string
	// Gate is the share that may be lost before benchgate calls a change a
	// regression, such as "2%"; "" where benchgate does not judge the unit.
	Gate string
	// Of, for a percentage whose Gate is in percentage points, such as "2pp", is the unit with the number
	// of observations: benchgate compares the counts. Apart is a unit whose values differ from process to
	// process if their observations are independent, or "".
	Of, Apart string
	// Pairs says that two results of a benchmark file with the same value of the unit are a pair: what they
	// measured took turns in random order. benchgate judges them by the difference of each pair.
	Pairs bool
	// Same says that two benchmark files can be compared only if their values of the unit
	// are nearly equal: benchgate cannot judge if the medians differ by more than Same, a
	// share such as "2%" or an amount in the unit such as "5". "" is no such condition.
	Same string
	// Family says what the unit measures, and so how the client can distort the unit.
	Family Family
	// Statistic says what of the family's values the unit is; "" for a unit that is no
	// statistic of many values.
	Statistic Statistic
	// FromDue says that the values count from the instant at which requests of an open
	// loop were due, so that a late send adds to them.
	FromDue bool
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
	FamilyRate     Family = "rate"     // amounts per second of the passes
	FamilyUserRate Family = "userrate" // amounts per second of each request
)

// Timed reports whether the unit is a rate or a latency, which the client can distort.
func (u Unit) Timed() bool { return u.Family != FamilyOther }

// A Statistic is what of many values a unit is.
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

// percents are the percentiles among the statistics.
var percents = map[Statistic]int{P50: 50, P90: 90, P99: 99}

// Percent returns the percentile that s is, from 1 to 99, or 0 if s is none.
func (s Statistic) Percent() int { return percents[s] }

// Enough reports whether n values are enough for s: n >= 1/(1-NN/100) for pNN, n >= 299 for
// [P99Bound], and n >= 1 for the others.
func (s Statistic) Enough(n int) bool {
	if s == P99Bound {
		_, enough := BoundRank(n, 0.99)
		return enough
	}
	return EnoughFor(n, float64(s.Percent())/100)
}

// EnoughFor reports whether n values are enough for their q-quantile, q in [0,1]: n >=
// 1/(1-q). For a smaller n the quantile lies beyond the values that can be expected. The
// largest value, q = 1, needs only one.
func EnoughFor(n int, q float64) bool {
	return n > 0 && (q == 1 || float64(n)*(1-q) >= 1-1e-9)
}

// Line returns the unit's metadata line of the Go benchmark format
// (https://pkg.go.dev/golang.org/x/perf/cmd/benchstat#hdr-Unit_metadata), or
// "" when there is none to give.
func (u Unit) Line() string {
	line, pairs := "", ""
	if u.Pairs {
		pairs = "yes"
	}
	for _, field := range []struct{ key, value string }{{"better", u.Better}, {"gate", u.Gate}, {"of", u.Of}, {"apart", u.Apart}, {"same", u.Same}, {"pairs", pairs}} {
		if field.value != "" {
			line += " " + field.key + "=" + field.value
		}
	}
	if line == "" {
		return ""
	}
	return "Unit " + u.Name + line
}

// Check returns an error if a benchmark cannot report the unit: its name or another
// field has a value that is not allowed.
func (u Unit) Check() error {
	switch {
	case u.Name == "" || strings.ContainsAny(u.Name, " \t\r\n") || u.Name == "ns/op":
		return fmt.Errorf("unit %q: want a name without spaces, other than ns/op", u.Name)
	case u.Better != "" && u.Better != "higher" && u.Better != "lower":
		return fmt.Errorf("unit %s: better %q; want higher, lower or \"\"", u.Name, u.Better)
	case u.Gate != "" && u.Better == "":
		return fmt.Errorf("unit %s: gate %q without better; want higher or lower", u.Name, u.Gate)
	case strings.HasSuffix(u.Gate, "pp") != (u.Of != ""):
		return fmt.Errorf("unit %s: gate %q and of %q; want of, the unit with the number of observations, for a gate in percentage points only", u.Name, u.Gate, u.Of)
	case !slices.Contains([]Family{FamilyOther, FamilyTTFT, FamilyTPOT, FamilyITL, FamilyE2E, FamilyRate, FamilyUserRate}, u.Family):
		return fmt.Errorf("unit %s: family %q; want one of the families", u.Name, u.Family)
	case !slices.Contains([]Statistic{"", Mean, P50, P90, P99, P99Bound, Max}, u.Statistic):
		return fmt.Errorf("unit %s: statistic %q; want one of the statistics", u.Name, u.Statistic)
	}
	return nil
}

// An Interval is what the true value of a figure is between, because the client's own delays may have changed
// the measured one. It contains the measured value.
type Interval struct {
	Low    float64 `json:"low"`    // the lowest value that is possible
	Likely float64 `json:"likely"` // the most likely value
	High   float64 `json:"high"`   // the highest value that is possible
}
