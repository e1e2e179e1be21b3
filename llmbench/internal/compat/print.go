package compat

import (
	"fmt"
	"strconv"
)

// requestRate returns the rate of an open loop, in requests per second. It is unknown if the rate is not
// constant.
func requestRate(p Pass) Value {
	a := p.Head.Arrivals
	if a == nil {
		return cannotTell("the records do not hold how requests arrived")
	}
	switch a.Process {
	case "constant", "poisson", "gamma":
		if rate, err := strconv.ParseFloat(a.Parameters["rate"], 64); err == nil {
			return exact(rate)
		}
	}
	return cannotTell("the arrivals have more than one rate: " + a.String())
}

// burstiness returns the shape parameter of the gamma distribution of an open loop's arrivals: 1 for a
// Poisson process.
func burstiness(p Pass) Value {
	if a := p.Head.Arrivals; a != nil && a.Process == "poisson" {
		return exact(1)
	} else if a != nil && a.Process == "gamma" {
		if shape, err := strconv.ParseFloat(a.Parameters["shape"], 64); err == nil {
			return exact(shape)
		}
	}
	return cannotTell("the arrivals are neither Poisson nor gamma")
}

func printSGLang(b *block, p Pass, f Figures) {
	b.title(" Serving Benchmark Result ", "=")
	backend := "sglang-oai"
	if p.Head.Dialect == "openai-chat" {
		backend += "-chat"
	}
	b.text("Backend:", backend)
	if p.Head.Concurrency > 0 {
		b.text("Traffic request rate:", "inf")
		b.text("Max request concurrency:", fmt.Sprint(p.Head.Concurrency))
	} else {
		b.line("Traffic request rate:", requestRate(p), 2)
		b.text("Max request concurrency:", "not set")
	}
	b.line("Successful requests:", f.Completed, 0)
	b.line("Benchmark duration (s):", f.Duration, 2)
	b.line("Total input tokens:", f.InputTokens, 0)
	b.line("Total input text tokens:", f.InputTokens, 0)
	b.line("Total generated tokens:", f.OutputTokens, 0)
	b.line("Total generated tokens (retokenized):", cannotTell("the records do not have the text, so its tokens cannot be counted"), 0)
	b.line("Request throughput (req/s):", f.Requests, 2)
	b.line("Input token throughput (tok/s):", f.extra("Input token throughput"), 2)
	b.line("Output token throughput (tok/s):", f.Output, 2)
	b.line("Peak output token throughput (tok/s):", f.PeakOutput, 2)
	b.line("Peak concurrent requests:", f.PeakRequests, 0)
	b.line("Total token throughput (tok/s):", f.Total, 2)
	b.line("Concurrency:", f.extra("Concurrency"), 2)
	b.latencies([]section{
		{"", "End-to-End Latency", "E2E Latency", f.E2E},
		{"", "Time to First Token", "TTFT", f.TTFT},
		{"", "Time per Output Token (excl. 1st token)", "TPOT", f.TPOT},
		{"", "Inter-Token Latency", "ITL", f.ITL},
	}, 90, 95, 99)
	b.line("Max ITL (ms):", ms(f.ITL.At(100)), 2)
	b.title("", "=")
}

// extra returns the mean of an entry of Extra. If there is no such entry, the tool could not have made the
// run, and extra returns the reason.
func (f Figures) extra(name string) Value {
	if l, has := f.Extra[name]; has {
		return l.Mean
	}
	return f.Duration
}

// total returns the number of served and failed requests of a run.
func total(f Figures) Value {
	if !f.Completed.known() || !f.Failed.known() {
		return f.Completed
	}
	return f.Completed.plus(f.Failed)
}

// each returns v / the number of completed requests.
func each(v Value, f Figures) Value { return v.over(f.Completed, noServed) }

func printEvalScope2024(b *block, p Pass, f Figures) {
	if p.Head.Concurrency > 0 {
		b.line("Number of concurrency:", exact(float64(p.Head.Concurrency)), 0)
	}
	b.line("Total requests:", total(f), 0)
	b.line("Succeed requests:", f.Completed, 0)
	b.line("Failed requests:", f.Failed, 0)
	b.line("Time taken for tests (s):", f.Duration, 3)
	b.line("Average QPS:", f.Requests, 3)
	b.line("Average latency:", secs(f.E2E.Mean), 3)
	b.line("Throughput(average tokens/s):", f.Output, 3)
	b.line("Average time to first token:", secs(f.TTFT.Mean), 3)
	b.line("Average time per output token:", secs(f.TPOT.Mean), 5)
	b.line("Average input tokens per request:", each(f.InputTokens, f), 3)
	b.line("Average output tokens per request:", each(f.OutputTokens, f), 3)
	for _, p := range []float64{50, 66, 75, 80, 90, 95, 98, 99} {
		b.line(fmt.Sprintf("p%.0f:", p), secs(f.E2E.At(p)), 4)
	}
}

func printLlamaBench(b *block, p Pass, f Figures) {
	b.format = "| %s | %s |"
	b.text("test", "t/s")
	b.text("---", "---:")
	for _, test := range []string{"pp", "tg"} {
		l := f.Extra[test]
		if l.Mean.Bound == CannotTell {
			b.line(test, l.Mean, 2)
			continue
		}
		b.text(test, l.Mean.Text(2)+" ± "+l.Std().Text(2))
	}
}
