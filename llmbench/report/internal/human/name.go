package human

import (
	"regexp"
	"strings"
)

// names holds the names of units that the rules of Name do not give.
var names = map[string]string{
	"output-tok/s": "output", "tok/s": "tokens", "total-tok/s": "prompts and output", "prompt-tok/s": "prompts", "req/s": "requests", "good-req/s": "within the SLO",
	"user-tok/s": "for each user", "steady-output-tok/s": "output, steady part", "offered-req/s": "offered",
	"in-tok/req": "prompt tokens", "out-tok/req": "answer tokens", "asked-in-tok/req": "prompt tokens asked", "asked-out-tok/req": "answer tokens asked",
	"fail-%": "failed", "shed-%": "shed", "client-err-%": "client's share of error", "cached-%": "prompts from a cache", "accuracy-%": "right answers", "valid-%": "valid answers", "agree-%": "equal answers",
	"checked-req": "answers checked", "implied-hit-%": "repeated prefixes", "srv-prefix-hit-%": "prefix hits, by the server",
	"slo-req/s": "SLO kept up to", "slo-concurrency": "SLO kept up to users", "slo-missed-req/s": "SLO missed at", "slo-missed-concurrency": "SLO missed at users",
	"slo-uncertified-req/s": "SLO kept up to, not certain", "slo-uncertified-concurrency": "SLO kept up to users, not certain",
	"knee-concurrency": "knee at users", "knee-output-tok/s": "output at the knee", "agree-prefix-tok/req": "equal tokens at the beginning",
	"run-ns": "run time", "start-to-ready-ns": "start until ready", "start-to-first-token-ns": "start until the first token",
}

// latencies holds the words of latencies.
var latencies = map[string]string{"ttft": "TTFT", "tpot": "TPOT", "itl": "ITL", "e2e": "latency", "ttfo": "first visible token", "lag": "sent late by", "err": "error", "srv": "server:"}

var percentile = regexp.MustCompile(`^(mean|max|p\d+)-(.+)$`)

// Name returns the name of a unit of benchmark files for readers, without its unit: "p99-ttft-ns" is
// "TTFT p99", and "out-tok/req" is "answer tokens". A unit that is not known keeps its words.
func Name(unit string) string {
	if name := names[unit]; name != "" {
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
