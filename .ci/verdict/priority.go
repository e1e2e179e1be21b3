package main

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/robust"
)

// The limits of the promises of the check "priority".
const (
	perEmpty      = 60   // runs for each run that may have no figures
	leastRate     = 0.99 // share of the throughput without priority
	fewestOfPairs = 6    // pairs, for an interval of 95 %
)

// noFigures is what a benchmark prints if it has to withhold all its rates and latencies.
const noFigures = "neither a rate nor a latency is left"

var priorityLine = regexp.MustCompile(`(?m)^priority: (\w+)$`)

// obtained returns the client's place in the queue for a CPU according to its output. It is none without a line about it.
func obtained(output string) string {
	if found := priorityLine.FindStringSubmatch(output); found != nil {
		return found[1]
	}
	return "none"
}

// empty reports whether the client had to withhold all rates and latencies.
func (r *result) empty() bool { return strings.Contains(r.Output, noFigures) }

// cost describes a run of the check "priority".
func (r *result) cost() string {
	text := fmt.Sprintf("priority %s, obtained %s: client-err-%% %s, p99 read lag %v, %.5g tok/s", r.Priority, r.Obtained, r.said(), time.Duration(r.ReadLag).Round(time.Microsecond), r.Rate)
	if r.Loops > 0 {
		text += fmt.Sprintf(", loops had %.4g CPUs", r.Left)
	}
	switch {
	case r.empty():
		text += "; NO FIGURES"
	case len(r.Withheld) > 0:
		text += fmt.Sprintf("; %d figures withheld", len(r.Withheld))
	}
	for _, f := range r.wrong() {
		text += fmt.Sprintf("; SHOWN %s IS %.2g %% WRONG", f.Unit, f.Error)
	}
	return text
}

// A pair is two runs with the same load that followed each other, in random order: with and without priority.
type pair struct{ auto, none result }

// pairs returns the pairs among results.
func pairs(all []result) (pairs []pair) {
	for i := 0; i+1 < len(all); i += 2 {
		p := pair{all[i], all[i+1]}
		if p.auto.Priority == "none" {
			p.auto, p.none = p.none, p.auto
		}
		pairs = append(pairs, p)
	}
	return pairs
}

// A ratio compares a quantity with priority and without it.
type ratio struct {
	what           string
	median, lo, hi float64 // of all pairs; the interval has a confidence of at least 95 %
	pairs          int
}

// ratioOf returns the ratio of the quantity of.
func ratioOf(what string, all []pair, of func(result) float64) ratio {
	var ratios []float64
	for _, p := range all {
		if a, b := of(p.auto), of(p.none); a > 0 && b > 0 {
			ratios = append(ratios, a/b)
		}
	}
	r := ratio{what: what, median: robust.Median(ratios), lo: math.Inf(-1), hi: math.Inf(1), pairs: len(ratios)}
	if n := len(ratios); n >= fewestOfPairs {
		slices.Sort(ratios)
		out := outside(n)
		r.lo, r.hi = ratios[out], ratios[n-1-out]
	}
	return r
}

// outside returns how many of n sorted values may be left out at each end, so that the rest includes the median of their
// distribution with a probability of at least 95 % (the interval of the sign test). The argument is at least fewestOfPairs.
func outside(n int) (out int) {
	term := math.Pow(0.5, float64(n)) // the probability that exactly out values are below the median
	for below := term; ; out++ {
		term *= float64(n-out) / float64(out+1)
		if below += term; below > 0.025 {
			return out
		}
	}
}

func (r ratio) String() string {
	if r.pairs < fewestOfPairs {
		return fmt.Sprintf("%s with priority / without: %.4f, the median of %d pairs; %d pairs give an interval", r.what, r.median, r.pairs, fewestOfPairs)
	}
	return fmt.Sprintf("%s with priority / without: %.4f (95 %%: %.4f to %.4f), the median of %d pairs", r.what, r.median, r.lo, r.hi, r.pairs)
}

// ratios returns the ratios of a check "priority", for all loads together.
func ratios(all []result) []ratio {
	p := pairs(all)
	rates := []ratio{ratioOf("throughput", p, func(r result) float64 { return r.Rate })}
	if slices.ContainsFunc(all, func(r result) bool { return r.Loops > 0 }) {
		rates = append(rates, ratioOf("CPU time of the loops", p, func(r result) float64 { return r.Left }))
	}
	return rates
}

// priorityPromises evaluates the promises of the check "priority".
func priorityPromises(all []result) (promises []promise) {
	auto := only(all, func(r result) bool { return r.Priority == "auto" })
	nothing := len(only(auto, func(r result) bool { return r.empty() }))
	promises = []promise{
		{nothing*perEmpty <= len(auto), fmt.Sprintf("%d of %d runs with priority have no figures: want at most 1 of %d", nothing, len(auto), perEmpty)},
	}
	if s := sum(auto); s.figures > 0 { // the truth is known
		promises = append(promises, promise{s.wrong == 0, fmt.Sprintf("%d of %d figures shown with priority are more than %d %% wrong: want none", s.wrong, s.shown, maxShown)})
	}
	for _, r := range ratios(all) {
		text := fmt.Sprintf("%v: want at least %v", r, leastRate)
		if r.lo < leastRate && r.hi >= leastRate {
			text += ", and cannot judge: make more runs"
		}
		promises = append(promises, promise{r.lo >= leastRate, text})
	}
	return promises
}

// priorityTable returns a Markdown table with a row for each number of streams and each priority.
func priorityTable(all []result) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 1, ' ', 0)
	fmt.Fprintf(w, "| streams\t| priority\t| runs\t| no figures\t| withheld\t| shown and more than %d %% wrong\t| client-err-%%, median and largest\t| p99 read lag, median and largest\t| median tok/s\t|\n", maxShown)
	fmt.Fprintln(w, strings.Repeat("| ---\t", 9)+"|")
	rows := map[[2]any][]result{}
	for _, r := range all {
		rows[[2]any{r.Streams, r.Priority}] = append(rows[[2]any{r.Streams, r.Priority}], r)
	}
	keys := make([][2]any, 0, len(rows))
	for k := range rows {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b [2]any) int {
		return cmp.Or(a[0].(int)-b[0].(int), cmp.Compare(b[1].(string), a[1].(string)))
	})
	for _, k := range keys {
		var errs, lags, rates []float64
		empty, withheld := 0, 0
		for _, r := range rows[k] {
			if r.ClientError != nil {
				errs = append(errs, *r.ClientError)
			}
			lags, rates = append(lags, r.ReadLag), append(rates, r.Rate)
			withheld += len(r.Withheld)
			if r.empty() {
				empty++
			}
		}
		ms := func(ns float64) string { return fmt.Sprintf("%.3g ms", ns/1e6) }
		told := "unknown"
		if len(errs) > 0 {
			told = fmt.Sprintf("%.2g, %.2g", robust.Median(errs), slices.Max(errs))
		}
		fmt.Fprintf(w, "| %v\t| %v (%s)\t| %d\t| %d\t| %d\t| %d\t| %s\t| %s, %s\t| %.5g\t|\n", k[0], k[1], rows[k][0].Obtained, len(rows[k]), empty, withheld, sum(rows[k]).wrong, told,
			ms(robust.Median(lags)), ms(slices.Max(lags)), robust.Median(rates))
	}
	w.Flush()
	return text.String()
}
