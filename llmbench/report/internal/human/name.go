package human

import (
	"regexp"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/columns"
)

// latencies holds the words of latencies.
var latencies = map[string]string{"ttft": "TTFT", "tpot": "TPOT", "itl": "ITL", "e2e": "latency", "ttfo": "first visible token", "lag": "sent late by", "err": "error", "srv": "server:"}

var percentile = regexp.MustCompile(`^(mean|max|p\d+)-(.+)$`)

// Name returns the name of a unit of benchmark files for readers, without its unit: "p99-ttft-ns" is
// "TTFT p99", and "out-tok/req" is "answer tokens". A unit that is not known keeps its words.
func Name(unit string) string {
	if name := columns.Titles[unit]; name != "" {
		return name
	}
	name := strings.TrimSuffix(unit, "-ns")
	if i := strings.LastIndex(name, "-"); i > 0 && ScaleOf(unit, 0).Unit == name[i+1:] {
		name = name[:i]
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
