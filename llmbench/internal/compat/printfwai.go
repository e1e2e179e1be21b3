package compat

import (
	"fmt"
	"strings"
)

// fwaiWidth is the width of the longest label in llm_bench's block; all labels are padded to it.
const fwaiWidth = len("Overall Latency Per Token")

// printFwAI writes the summary of llm_bench. Like the tool, it does not round numbers.
func printFwAI(b *block, p Pass, f Figures) {
	b.format = fmt.Sprintf("%%-%ds: %%s", fwaiWidth)
	settings := cannotTell("it is a setting of the tool, which the records do not hold")
	number := func(label string, v Value) {
		switch {
		case v.Why == noValue: // the tool prints no average
			b.text(label, "")
		case v.known():
			b.text(label, repr(v.V))
		default:
			b.line(label, v, 0)
		}
	}
	b.WriteString(strings.Repeat("=", 35) + " Summary " + strings.Repeat("=", 36) + "\n")
	b.line("Provider", settings, 0)
	b.text("Model", p.Head.Model)
	number("Prompt Tokens", f.extra("Prompt Tokens"))
	number("Generation Tokens", f.extra("Num Tokens"))
	number("Completion Tokens", f.extra("Num Tokens"))
	b.text("Stream", map[bool]string{true: "True", false: "False"}[p.Head.Stream])
	b.line("Temperature", settings, 0)
	b.line("Logprobs", settings, 0)
	fwaiConcurrency(b, p)
	if p.Head.Stream {
		number("Time To First Token", ms(f.TTFT.Mean))
		number("Latency Per Token", ms(f.TPOT.Mean))
	} else {
		b.text("Time To First Token", "")
		b.text("Latency Per Token", "")
	}
	number("Overall Latency Per Token", ms(f.extra("Overall Latency Per Token")))
	number("Total Latency", ms(f.E2E.Mean))
	number("Num Tokens", f.extra("Num Tokens"))
	if cached := f.extra("Cached Tokens"); cached.Bound != Absent {
		number("Cached Tokens", cached)
	}
	b.line("Num Requests", f.Completed, 0)
	number("Qps", f.Requests)
	for _, l := range []struct {
		name string
		of   Latency
	}{{"Time To First Token", f.TTFT}, {"Total Latency", f.E2E}} {
		if l.of.Mean.Bound == Absent || l.of.Mean.Why == noValue {
			continue
		}
		for _, percent := range []float64{50, 90, 95, 99, 99.9} {
			label := fmt.Sprintf("P%v %s", percent, l.name)
			if v := ms(l.of.At(percent)); v.known() && v.V >= 100 {
				number(label, Value{V: round(v.V, 0)})
			} else {
				b.line(label, v, 0)
			}
		}
	}
	b.WriteString(strings.Repeat("=", 80) + "\n")
	b.because()
	if f.Failed.known() && f.Failed.V > 0 {
		b.notes = append(b.notes, "The tool prints this block only if at most 1 % of its events are failures (--max-fail-ratio); a request that succeeds is many events.")
	}
}

// fwaiConcurrency writes the number of users of a closed loop, or the rate of an open loop and the
// distribution of its intervals.
func fwaiConcurrency(b *block, p Pass) {
	if p.Head.Concurrency > 0 {
		b.text("Concurrency", fmt.Sprint(p.Head.Concurrency))
		return
	}
	rate := requestRate(p)
	distribution := ""
	if a := p.Head.Arrivals; a != nil {
		distribution = map[string]string{"constant": "constant", "poisson": "exponential"}[a.Process]
	}
	if rate.known() && distribution == "" {
		rate = cannotTell("the tool has no such arrivals: " + p.Head.Arrivals.String())
	}
	if !rate.known() {
		b.line("Concurrency", rate, 0)
		return
	}
	b.text("Concurrency", "QPS "+repr(rate.V)+" "+distribution)
}
