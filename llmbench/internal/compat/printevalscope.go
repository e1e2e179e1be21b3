package compat

import (
	"fmt"
	"math"
	"strconv"
)

// evalscopeVersions are the ranges of EvalScope releases that print differently.
var evalscopeVersions = []Version{
	evalscope{average: "Avg ", extremes: true, throughput: true, cached: true, shortest: true}.
		version("1.11", "numbers without zeros at the end, latencies in s with three decimals (main of 2026-08-22)"),
	evalscope{average: "Avg ", extremes: true, throughput: true, cached: true}.
		version("1.10", `columns min and max; "Avg TTFT (ms)" in place of "TTFT (ms)"; a cache hit rate if the server reports cached tokens`),
	evalscope{throughput: true}.version("1.8", "a table of the throughput in parts of the run"),
	evalscope{}.version("1.7", "tables with percentiles as columns"),
}

func (v evalscope) version(since, about string) Version {
	return Version{Since: since, About: about, figures: EvalScope, print: v.block}
}

// An evalscope describes the output of a range of EvalScope releases.
type evalscope struct {
	average    string // prefix of the labels of mean TTFT, TPOT and ITL
	extremes   bool   // whether there are columns min and max
	throughput bool   // whether there is a table of the throughput in parts of the run
	cached     bool   // whether there is a cache hit rate
	shortest   bool   // whether numbers are printed without trailing zeros
}

// number formats a number: in releases that omit trailing zeros with at most the given number of decimals,
// and in other releases with two.
func (v evalscope) number(x float64, decimals int) string {
	switch {
	case math.IsNaN(x) && v.shortest:
		return "—"
	case math.IsNaN(x):
		return "nan"
	case v.shortest:
		return shortest(x, decimals)
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// text formats a value that the tool first rounds to four decimals.
func (v evalscope) text(x Value, decimals int) string {
	if x.Bound != Exact {
		return x.Text(2)
	}
	return v.number(round(x.V, 4), decimals)
}

// block writes the tables that EvalScope prints.
func (v evalscope) block(b *block, p Pass, f Figures) {
	b.WriteString("Benchmarking summary:\n")
	summary := &grid{head: []string{"Metric", "Value"}}
	v.summary(b, p, f, summary)
	b.WriteString(summary.String())
	v.percentiles(b, f)
	if v.throughput {
		v.workload(b, p, f)
	}
}

// summary adds the rows of the summary. The tool omits some rows if their value is 0; these are added by
// the function unless.
func (v evalscope) summary(b *block, p Pass, f Figures, g *grid) {
	row := func(label string, x Value, decimals int) {
		g.add(label, v.text(x, decimals))
		b.note(label, x)
	}
	unless := func(label string, x Value, decimals int) {
		if x.Bound != Absent && (x.Bound == CannotTell || x.V != 0) {
			row(label, x, decimals)
		}
	}
	mean := func(x Value) Value { // mean over served requests; the tool writes -1 if there are none
		if f.Completed == exact(0) {
			return exact(-1)
		}
		return x
	}
	g.add("── General ──", "")
	row("Test Duration (s)", f.Duration, 2)
	concurrency, rate := "-1", Value{V: -1}
	if p.Head.Concurrency > 0 {
		concurrency = strconv.Itoa(p.Head.Concurrency)
	} else {
		rate = requestRate(p)
	}
	g.add("Concurrency", concurrency)
	row("Request Rate (req/s)", rate, 2)
	g.add("Total / Success / Failed", fmt.Sprintf("%s / %s / %s", total(f).Text(0), f.Completed.Text(0), f.Failed.Text(0)))
	b.note("Total / Success / Failed", f.Completed)
	requests := f.Requests
	if requests.Why == noTime {
		requests = exact(-1)
	}
	row("Req Throughput (req/s)", requests, 2)
	g.add("── Latency ──", "")
	row("Avg Latency (s)", mean(secs(f.E2E.Mean)), 3)
	for _, l := range []struct {
		name string
		of   Latency
	}{{"TTFT (ms)", f.TTFT}, {"TPOT (ms)", f.TPOT}, {"ITL (ms)", f.ITL}} {
		x := ms(l.of.Mean)
		switch {
		case l.name == "ITL (ms)" && x.Why == noValue:
			x = exact(0)
		case x.Why == noValue:
			x = exact(-1000)
		}
		unless(v.average+l.name, x, 2)
	}
	g.add("── Tokens ──", "")
	row("Avg Input Tokens", mean(each(f.InputTokens, f)), 1)
	unless("Avg Output Tokens", mean(each(f.OutputTokens, f)), 1)
	for _, t := range []struct {
		name string
		of   Value
	}{{"Output Throughput (tok/s)", f.Output}, {"Total Throughput (tok/s)", f.Total}} {
		if t.of.Why == noTime {
			t.of = exact(-1)
		}
		unless(t.name, t.of, 2)
	}
	if f.Extra == nil {
		return
	}
	if hits := f.extra("KV Cache Hit Rate (%)"); v.cached && hits.Bound != Absent {
		g.add("── Multi-turn ──", "")
		row("KV Cache Hit Rate (%)", hits, 1)
	}
	if per := f.extra("Avg Decoded Tok/Iter"); !per.known() && per.Why != noValue {
		b.note("whether there is a section about Speculative Decoding", per)
	} else if per.known() {
		g.add("── Speculative Decoding ──", "")
		row("Avg Decoded Tok/Iter", per, 2)
		accepted := round(max(0, min(1, 1-1/per.V)), 4)
		if v.shortest {
			accepted *= 100
		}
		row("Spec. Accept Rate", exact(accepted), 1)
	}
}

// percentiles writes the table of percentiles.
func (v evalscope) percentiles(b *block, f Figures) {
	percents := []float64{1, 5, 10, 25, 50, 75, 90, 95, 99}
	g := &grid{head: []string{"Metric"}}
	if v.extremes {
		percents = append(append([]float64{0}, percents...), 100)
	}
	for _, p := range percents {
		label := fmt.Sprintf("%v%%", p)
		if v.extremes && p == 0 {
			label = "min"
		} else if p == 100 {
			label = "max"
		}
		g.head = append(g.head, label)
	}
	extra := func(name string) Latency {
		if f.Extra == nil {
			return noLatency(f.Duration)
		}
		return f.Extra[name]
	}
	for _, row := range []struct {
		name     string
		of       Latency
		unit     float64
		decimals int
	}{
		{"Latency (s)", f.E2E, 1e-9, 3}, {"TTFT (ms)", f.TTFT, 1e-6, 2}, {"ITL (ms)", f.ITL, 1e-6, 2}, {"TPOT (ms)", f.TPOT, 1e-6, 2},
		{"Input tokens", extra("Input tokens"), 1, 0}, {"Output tokens", extra("Output tokens"), 1, 0},
		{"Output (tok/s)", extra("Output (tok/s)"), 1, 2}, {"Total (tok/s)", extra("Total (tok/s)"), 1, 2}, {"Decode (tok/s)", extra("Decode (tok/s)"), 1, 2},
	} {
		cells := []string{row.name}
		for _, p := range percents {
			x := row.of.At(p).times(row.unit)
			switch {
			case x.Why == noValue || x.Bound == Absent:
				cells = append(cells, v.number(math.NaN(), 0))
			case x.known():
				cells = append(cells, v.number(round(x.V, 2), row.decimals))
			default:
				cells = append(cells, "?")
			}
		}
		if why := row.of.At(50); why.Why != noValue {
			b.note("percentiles of "+row.name, why)
		}
		g.add(cells...)
	}
	b.WriteString("\nPercentile results:\n" + g.String())
}

// workload writes the table of the throughput in parts of the run, unless no request was served.
func (v evalscope) workload(b *block, p Pass, f Figures) {
	w, why := newWorkload(p)
	if !why.known() || len(w.points) == 0 {
		b.note("Workload throughput", why)
		return
	}
	g := &grid{head: []string{"Metric (tok/s)", "Overall", "Last 30s", "Steady (drop 20%)"}}
	for i, name := range []string{"Total Prompt tok/s", "New Prompt tok/s", "Cached Prompt tok/s", "Completion tok/s"} {
		g.add(name, v.number(w.overall()[i], 2), v.number(w.last()[i], 2), v.number(w.steady()[i], 2))
	}
	fmt.Fprintf(b, "\nWorkload throughput (%d samples):\n%s", len(w.points), g)
}
