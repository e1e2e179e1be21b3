package answer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compare"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
)

// maxValues is the largest number of values of a fact that are named.
const maxValues = 4

// measured returns what was measured, as far as the results and records tell.
func measured(d *results.Data, groups []*systems.Group, slo func(*systems.Group) systems.SLO) (all []Fact) {
	rows := slices.Concat(d.Rows, d.Broken)
	add := func(key string, values []string) {
		if len(values) == 0 {
			return
		}
		text := strings.Join(values[:min(len(values), maxValues)], ", ")
		if n := len(values) - maxValues; n > 0 {
			text += fmt.Sprintf(" and %d more", n)
		}
		all = append(all, Fact{key, text})
	}
	of := func(keys ...string) []string { return results.Stated(rows, "", keys...) }
	var names []string
	for _, g := range groups {
		for _, s := range g.Systems {
			if s.Name != "" && !s.Found && !slices.Contains(names, s.Name) {
				names = append(names, s.Name)
			}
		}
	}
	if backends := of("backend"); len(names) == 0 || len(names) > maxValues && len(backends) > 0 {
		names = backends
	}
	add("Systems", names)
	add("Simulated", simulated(rows))
	add("Version", of("version", "server-version", "backend-version", "image"))
	add("Model", of("model"))
	add("Quantization", of("quant", "quantization"))
	add("Hardware", of("hardware", "hw", "gpu", "gpus"))
	add("CPU of the client", of("cpu"))
	add("Workload", of("workload"))
	add("Load", loads(rows))
	var limits []string
	for _, g := range groups {
		known := slices.ContainsFunc(g.Rows, func(r *results.Row) bool { _, known := slo(g).Kept(r); return known })
		if text := slo(g).Text(); known && !slices.Contains(limits, text) {
			limits = append(limits, text)
		}
	}
	add("SLO", limits)
	add("Date", dates(d, of("date")))
	add("Commit", of("commit"))
	return all
}

// simulated names the simulations that rows are results of. A simulation may run faster than the
// server that it imitates.
func simulated(rows []*results.Row) (all []string) {
	real := false
	for _, r := range rows {
		backend := cmp.Or(r.Key("backend"), r.Setting("backend"))
		if backend != "mock" && backend != "fleet" && (backend != "" || r.Truth == "" && !slices.Contains(OfHarness, r.Base)) {
			real = true
			continue
		}
		text := cmp.Or(r.Setting("mock-profile"), "a mock server")
		if r.SpedUp() {
			text += " (" + r.Setting("mock-speed") + " times as fast)"
		}
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	if real && len(all) > 0 {
		all[len(all)-1] += "; the others are real"
	}
	return all
}

// loads returns the range of each kind of load, and the number of runs.
func loads(rows []*results.Row) (all []string) {
	for _, key := range compare.LoadKeys {
		least, most, text := math.Inf(1), math.Inf(-1), ""
		for _, r := range rows {
			load, v := r.Load()
			if load != key {
				continue
			}
			least = min(least, v)
			if v > most {
				most, text = v, r.LoadText()
			}
		}
		switch {
		case least < most:
			all = append(all, chart.Brief(least)+" to "+text)
		case text != "":
			all = append(all, text)
		}
	}
	var runs []int
	for _, r := range rows {
		if r.Failed == "" {
			runs = append(runs, r.Samples())
		}
	}
	if len(runs) == 0 {
		return all
	}
	least, most := slices.Min(runs), slices.Max(runs)
	switch {
	case most == 0:
	case most == least && len(rows) == 1:
		all = append(all, numbers.Count(most, "run"))
	case least == most:
		all = append(all, numbers.Count(most, "run")+" each")
	default:
		all = append(all, fmt.Sprintf("%d to %d runs each", least, most))
	}
	return all
}

// dates returns the days of the records. If there are none, it returns the days that the files
// state.
func dates(d *results.Data, stated []string) []string {
	var first, last time.Time
	for _, run := range d.Runs {
		t := run.Head.Start
		if first.IsZero() || t.Before(first) {
			first = t
		}
		if t.After(last) {
			last = t
		}
	}
	const day, minute = "2006-01-02", "2006-01-02 15:04"
	switch {
	case first.IsZero():
		return stated
	case first.UTC().Format(minute) == last.UTC().Format(minute):
		return []string{first.UTC().Format(minute) + " UTC"}
	case first.UTC().Format(day) == last.UTC().Format(day):
		return []string{fmt.Sprintf("%s to %s UTC", first.UTC().Format(minute), last.UTC().Format("15:04"))}
	}
	return []string{fmt.Sprintf("%s to %s", first.UTC().Format(day), last.UTC().Format(day))}
}
