package resultfile

import (
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// kinds lists units by kind. Of each kind, the gate judges only one unit: the first in the list that a result has. The
// later units are for tools that do not report the earlier ones. The margin is the first unit's in package sample.
var kinds = [][]string{
	{sample.OutputRate, sample.ServerOutputRate, sample.ServerPromptRate, sample.AudioRate, sample.PromptRate, sample.TotalRate, sample.RequestRate},
	{sample.P50TTFT, sample.MeanTTFT, sample.MeanE2E, sample.P50E2E},
	{sample.MeanTPOT, sample.P50TPOT, sample.MeanTokenITL, "mean-tpot-incl-ttft-ns", sample.MeanITL, sample.P50ITL},
}

// sameOf returns the tolerance of a unit in which both sides must agree, or "". Of results of other tools this includes
// the length of prompts.
func sameOf(unit string) string {
	if unit == sample.PromptLength {
		unit = sample.OutputLength
	}
	u, _ := sample.Find(sample.Units, unit)
	return u.Same
}

// UnitLines returns the Unit lines of the benchmark format for the results in some files. They have the
// directions, margins and tolerances that llmbench uses. UnitLines returns none for files in Go benchmark
// format, which contain their own.
func UnitLines(files []*File) []string {
	var units []string
	margins := map[string]string{} // of the units that the gate judges
	for _, f := range files {
		for _, r := range f.Results {
			for _, v := range r.Values {
				if !slices.Contains(units, v.Unit) {
					units = append(units, v.Unit)
				}
			}
			for _, kind := range kinds {
				if i := slices.IndexFunc(kind, r.has); i >= 0 {
					margins[kind[i]] = sample.Named(kind[0])[0].Gate
				}
			}
		}
	}
	var lines []string
	for _, unit := range units {
		line := "Unit " + unit
		if better := sample.Better(unit); better != "" {
			line += " better=" + better
		}
		if margin := margins[unit]; margin != "" {
			line += " gate=" + margin
		}
		if same := sameOf(unit); same != "" {
			line += " same=" + same
		}
		if strings.Contains(line, "=") {
			lines = append(lines, line)
		}
	}
	return lines
}

// has reports whether a result has a value in the given unit.
func (r Result) has(unit string) bool {
	return slices.ContainsFunc(r.Values, func(v Value) bool { return v.Unit == unit })
}
