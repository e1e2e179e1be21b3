package sample

import (
	"fmt"
	"slices"
	"time"
)

// A Unit is a metric that a benchmark reports, under its name in benchmark files.
type Unit struct {
	Name   string
	Better string // "higher", "lower", or "" when neither is
	Core   bool   // reported by default; the others with LLMBENCH_UNITS=all
	Means  string // what it is
	// Gate is the share that may be lost before benchgate calls a change a
	// regression, like "2%", and "" where it does not judge.
	Gate string
}

// Line returns the unit's metadata line of the Go benchmark format
// (https://pkg.go.dev/golang.org/x/perf/cmd/benchstat#hdr-Unit_metadata), or
// "" when there is none to give.
func (u Unit) Line() string {
	if u.Better == "" {
		return ""
	}
	line := fmt.Sprintf("Unit %s better=%s", u.Name, u.Better)
	if u.Gate != "" {
		line += " gate=" + u.Gate
	}
	return line
}

// latency is a family of units: one duration of each request, or several.
type latency struct {
	name  string
	means string
	core  []string // which of its statistics are core
	// of appends the durations of s to all. It is called for successful
	// requests only.
	of func(all []time.Duration, s *Sample) []time.Duration
}

// one makes a latency's function of one that yields at most one duration.
func one(of func(s *Sample) (time.Duration, bool)) func([]time.Duration, *Sample) []time.Duration {
	return func(all []time.Duration, s *Sample) []time.Duration {
		if d, ok := of(s); ok {
			all = append(all, d)
		}
		return all
	}
}

// service makes t0 of a latency the send: what the server took, whoever was
// late. Only requests of an open loop have one of their own.
func service(of func(s *Sample) (time.Duration, bool)) func(s *Sample) (time.Duration, bool) {
	return func(s *Sample) (time.Duration, bool) {
		d, ok := of(s)
		return d - (s.Start - s.Due), ok && s.Scheduled
	}
}

var latencies = []latency{
	{"ttft", "t0 to the first delta with generated text", []string{"p50", "p99"}, one((*Sample).TTFT)},
	{"ttfo", "t0 to the first delta with more than reasoning, where there was reasoning", []string{"p50"}, one((*Sample).TTFO)},
	{"tpot", "(last delta - first delta) / (output tokens - 1)", []string{"mean"}, one((*Sample).TPOT)},
	{"itl", "gaps between successive deltas, pooled over requests", []string{"p99"},
		func(all []time.Duration, s *Sample) []time.Duration { return append(all, s.Gaps...) }},
	{"e2e", "t0 to the last delta; not streamed: to the end of the body", []string{"p50"}, one((*Sample).E2E)},
	{"service-ttft", "the send to the first delta with generated text (open loop)", nil, one(service((*Sample).TTFT))},
	{"read-lag", "from the kernel's stamp of a delta until the client had read it: how far its own clock was off", []string{"p99"},
		func(all []time.Duration, s *Sample) []time.Duration { return append(all, s.Lags...) }},
	{"service-e2e", "the send to the last delta (open loop)", nil, one(service((*Sample).E2E))},
}

// statistics of a latency, in the order they are reported. A percentile is
// taken only of enough samples: n >= 1/(1-NN/100).
var statistics = []struct {
	name    string
	percent int // 0: the mean
}{{"mean", 0}, {"p50", 50}, {"p90", 90}, {"p99", 99}}

// Units lists every metric that llmbench and its scenarios may report, in the order
// of reports. README.md says the same.
var Units = units()

func units() []Unit {
	all := []Unit{
		{Name: "output-tok/s", Better: "higher", Core: true, Means: "output tokens of successful requests / elapsed"},
		{Name: "steady-output-tok/s", Better: "higher", Means: "output tokens that came in the steady part of each pass / its time; left out when one has none"},
		{Name: "total-tok/s", Better: "higher", Means: "prompt and output tokens of successful requests / elapsed"},
		{Name: "prompt-tok/s", Better: "higher", Means: "prompt tokens of successful requests / elapsed"},
		{Name: "output-chars/s", Better: "higher", Means: "generated characters of successful requests / elapsed"},
		{Name: "prompt-chars/s", Better: "higher", Means: "characters of the prompts of successful requests / elapsed"},
		{Name: "req/s", Better: "higher", Core: true, Means: "successful requests / elapsed"},
		{Name: "good-req/s", Better: "higher", Core: true, Means: "successful requests within the SLO / elapsed"},
		{Name: "user-tok/s", Better: "higher", Means: "mean over requests of output tokens / e2e"},
	}
	for _, l := range latencies {
		for _, s := range statistics {
			all = append(all, Unit{Name: unitName(s.name, l.name), Better: "lower", Core: slices.Contains(l.core, s.name), Means: s.name + " of: " + l.means})
		}
	}
	for turn := range maxTurns {
		all = append(all, Unit{Name: turnUnit(turn), Better: "lower", Core: true, Means: fmt.Sprintf("p50 of the TTFT of turn %d of each session", turn+1)})
	}
	all = append(all,
		Unit{Name: "p99-lag-ns", Better: "lower", Core: true, Means: "send - due: how late the generator itself was (open loop); of a request that waited for one of MaxInFlight to end, send - that end"},
		Unit{Name: "client-err-%", Better: "lower", Core: true, Means: "the most by which the client may have distorted a figure that is reported"},
		Unit{Name: "in-tok/req", Core: true, Means: "mean prompt tokens of successful requests"},
		Unit{Name: "asked-in-tok/req", Core: true, Means: "mean prompt tokens that were meant to be sent; left out when as many came"},
		Unit{Name: "out-tok/req", Core: true, Means: "mean output tokens of successful requests"},
		Unit{Name: "cached-%", Better: "higher", Means: "prompt tokens that answers say came from a cache / prompt tokens; left out when none says so"},
		Unit{Name: "implied-hit-%", Better: "higher", Core: true, Means: "BenchmarkPrefixCache: prompt tokens whose prefix was sent before / prompt tokens"},
		Unit{Name: "p50-ttft-miss-ns", Better: "lower", Core: true, Means: "BenchmarkPrefixCache: of prompts whose prefix was not sent before"},
		Unit{Name: "p50-ttft-hit-ns", Better: "lower", Core: true, Means: "BenchmarkPrefixCache: of prompts whose prefix was"},
		Unit{Name: "valid-%", Better: "higher", Core: true, Means: "successful answers that are what the request's tools or schema say / successful answers"},
		Unit{Name: "slo-req/s", Better: "higher", Core: true, Means: "BenchmarkSLO: the highest rate that met the SLO"},
		Unit{Name: "slo-missed-req/s", Core: true, Means: "BenchmarkSLO: the lowest rate that missed it"},
		Unit{Name: "slo-concurrency", Better: "higher", Core: true, Means: "BenchmarkSLO: the highest concurrency that met the SLO"},
		Unit{Name: "slo-missed-concurrency", Core: true, Means: "BenchmarkSLO: the lowest concurrency that missed it"},
		Unit{Name: "passes/op", Core: true, Means: "BenchmarkSLO: how many passes the search took"},
		Unit{Name: "knee-concurrency", Core: true, Means: "BenchmarkSweep: the concurrency with the greatest throughput / latency"},
		Unit{Name: "knee-output-tok/s", Better: "higher", Core: true, Means: "BenchmarkSweep: output-tok/s there"},
		Unit{Name: "fail-%", Better: "lower", Core: true, Means: "failed requests / all requests"},
		Unit{Name: "left-%", Core: true, Means: "requests whose clients left before the end, as was planned / all requests"},
		Unit{Name: "start-to-ready-ns", Better: "lower", Core: true, Means: "a cold start: from the start of the server's container until it listed its model"},
		Unit{Name: "start-to-first-token-ns", Better: "lower", Core: true, Means: "the same until the first token of a completion"},
		Unit{Name: "srv-prompt-tok/s", Better: "higher", Core: true, Means: "the server's: prompt tokens that it processed / the time it says that took"},
		Unit{Name: "srv-output-tok/s", Better: "higher", Core: true, Means: "the server's: output tokens after the first / the time it says they took"},
		Unit{Name: "srv-prefix-hit-%", Better: "higher", Core: true, Means: "the server's: prompt tokens found in its prefix cache / looked for"},
		Unit{Name: "srv-preempt/op", Better: "lower", Core: true, Means: "the server's: requests put aside for lack of KV cache, per pass"},
		Unit{Name: "srv-kv-%", Means: "the server's: most of its KV cache that was in use, asked every two seconds of a pass, and only if all units are wanted"},
		Unit{Name: "srv-queue-ns", Better: "lower", Core: true, Means: "the server's: mean time that requests waited for their turn; left out when none did"},
	)
	for _, e := range []struct{ name, means string }{
		{"ttft-err", "of the first token's instant"},
		{"itl-err", "of the gaps"},
		{"wire-err", "of the kernel's stamp: from the server's write to it"},
		{"user-err", "of the client's reads: from the stamp to them, or without one from the server's write"},
	} {
		for _, s := range []string{"p50", "p99", "max"} {
			all = append(all, Unit{Name: unitName(s, e.name), Better: "lower", Core: true, Means: s + " of the harness's own error, by the mock server's log: " + e.means})
		}
	}
	for i := range all {
		all[i].Gate = gates[all[i].Name]
	}
	return all
}

// gates are the margins of units that benchgate judges: throughput, the median
// wait and the mean pace, and no tails, which take far more samples. In 20
// comparisons of equal versions on the mock, medians of six to eight samples
// differed by 0.17, 0.76 and 0.26 % at most.
var gates = map[string]string{"output-tok/s": "2%", "p50-ttft-ns": "5%", "mean-tpot-ns": "2%"}

// KnownUnits reports whether all names are of [Units].
func KnownUnits(names []string) bool {
	for _, name := range names {
		if !slices.ContainsFunc(Units, func(u Unit) bool { return u.Name == name }) {
			return false
		}
	}
	return true
}

// maxTurns is of how many turns of a session the TTFT is a unit.
const maxTurns = 8

// turnUnit is the unit of a turn's TTFT; its name counts from 1, as people do.
func turnUnit(turn int) string { return fmt.Sprintf("p50-ttft-turn%d-ns", turn+1) }

func unitName(statistic, latency string) string { return statistic + "-" + latency + "-ns" }
