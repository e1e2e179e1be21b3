package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A kind says how the versions of a comparison differ. The package comment explains each kind.
type kind string

const (
	equal   kind = "equal"
	slower  kind = "slower"
	row     kind = "row"
	gateway kind = "gateway"

	buildEqual kind = "build-equal"
	buildDelay kind = "build-delay"
	buildCPU   kind = "build-cpu"

	bisection kind = "bisect"
)

// kinds lists all kinds, in the order of the table.
var kinds = []kind{equal, slower, row, gateway, buildEqual, buildDelay, buildCPU, bisection}

// A finding says whether a verdict is right. The package comment explains each finding.
type finding string

const (
	right  finding = "right"
	noisy  finding = "noisy"
	missed finding = "missed"
	wrong  finding = "wrong"
)

// A comparison is one run of benchgate ab.
type comparison struct {
	kind    kind
	finding finding
	report  gate.Report
	last    string        // the last line of the report
	took    time.Duration // duration, including the builds
}

// find returns whether a report's verdict is right for this kind of comparison.
func find(k kind, r gate.Report) finding {
	if len(r.Problems) > 0 || len(r.Rows) == 0 {
		return wrong
	}
	for _, row := range r.Rows {
		if row.Verdict == gate.Regression && !isSlower(k, row) {
			return wrong
		}
	}
	switch {
	case r.Verdict == gate.CannotJudge:
		return noisy
	case k != equal && k != buildEqual && r.Verdict == gate.Pass:
		return missed
	}
	return right
}

// isSlower reports whether a row is really worse in the new version.
func isSlower(k kind, r gate.Row) bool {
	speed := r.Unit == sample.MeanTPOT || r.Unit == sample.OutputRate
	switch k {
	case slower:
		return speed
	case row:
		return speed && strings.Contains(r.Name, fmt.Sprintf("/row=%d/", slowRow))
	case gateway:
		return (r.Unit == sample.P50TTFT || r.Unit == sample.OutputRate) && strings.Contains(r.Name, "/via=gateway/")
	case buildDelay:
		return r.Unit == sample.P50TTFT || r.Unit == sample.OutputRate || r.Unit == "srv-cpu-s/ktok"
	case buildCPU:
		return r.Unit == "srv-cpu-s/ktok"
	}
	return false
}

// heading is the header line above the lines of comparisons.
const heading = "  run  versions     verdict       finding  rounds    time  last line of the report"

// line returns the line that is printed for a comparison. It begins with the number.
func (c comparison) line(number int) string {
	return fmt.Sprintf("%5d  %-11s  %-12s  %-7s  %6d  %6s  %s", number, c.kind, c.report.Verdict, c.finding, c.report.Samples, c.took.Round(time.Second), c.last)
}

// table summarizes comparisons by kind: the number of verdicts per finding, and the median and the maximum of
// the rounds and of the times.
func table(all []comparison) string {
	var b strings.Builder
	b.WriteString("versions     runs  right  noisy  missed  wrong  rounds (most)    time  (most)\n")
	for _, k := range kinds {
		count := map[finding]int{}
		var rounds []int
		var times []time.Duration
		for _, c := range all {
			if c.kind == k {
				count[c.finding]++
				rounds, times = append(rounds, c.report.Samples), append(times, c.took)
			}
		}
		if len(rounds) == 0 {
			continue
		}
		slices.Sort(rounds)
		slices.Sort(times)
		n := len(rounds)
		fmt.Fprintf(&b, "%-11s %5d %6d %6d %7d %6d %8d %5s %7s %7s\n", k, n, count[right], count[noisy], count[missed], count[wrong],
			rounds[n/2], fmt.Sprintf("(%d)", rounds[n-1]), times[n/2].Round(time.Second), fmt.Sprintf("(%v)", times[n-1].Round(time.Second)))
	}
	return b.String()
}
