package columns

import (
	"regexp"
	"slices"
	"strings"
)

// latencies holds the words of latencies.
var latencies = map[string]string{"ttft": "TTFT", "tpot": "TPOT", "itl": "ITL", "e2e": "latency", "ttfo": "first visible token", "lag": "sent late by", "err": "error", "srv": "server:"}

var percentile = regexp.MustCompile(`^(mean|max|p\d+)-(.+)$`)

// Name returns the name of a unit of benchmark files for readers, without its unit: "p99-ttft-ns" is
// "TTFT p99", and "out-tok/req" is "answer tokens". A unit that is not known keeps its words.
func Name(unit string) string {
	if name := Titles[unit]; name != "" {
		return name
	}
	name := strings.TrimSuffix(unit, "-ns")
	if short := Short(unit); short != name {
		name = strings.TrimSuffix(name, "-"+short)
	}
	last := ""
	if m := percentile.FindStringSubmatch(name); m != nil {
		name, last = m[2], " "+m[1]
	}
	words := strings.Split(name, "-")
	for i, w := range words {
		if known := latencies[w]; known != "" {
			words[i] = known
		}
	}
	return strings.Join(words, " ") + last
}

// Words returns the name of a unit in full: the title of its plot over the load, such as "time to first token, p50", or else
// its [Name], and the unit of its values if that says more: "output, steady part (tok/s)", "failed requests (%)".
func Words(unit string) string {
	name, short := Name(unit), Short(unit)
	if i := slices.IndexFunc(Sweep, func(c Column) bool { return slices.Contains(c.Units, unit) }); i >= 0 {
		name = Sweep[i].Title
		if !strings.HasSuffix(unit, "%") {
			return name
		}
	}
	if (short != unit || strings.HasSuffix(unit, "/s")) && !strings.HasSuffix(name, short) {
		name += " (" + short + ")"
	}
	return name
}

// Short returns the unit in which readers see the values of a unit of benchmark files: rates and percentages lose the
// words before the last hyphen, so that "output-tok/s" becomes "tok/s".
func Short(unit string) string {
	if i := strings.LastIndex(unit, "-"); i >= 0 && (strings.Contains(unit[i:], "/") || strings.HasSuffix(unit, "-%")) {
		return unit[i+1:]
	}
	return unit
}
