package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/pictures"
)

// provenance fills the tables of files, configurations and runs.
func (r *Report) provenance(d *Data) {
	add := func(t *pictures.Table, texts ...string) { t.Add(pictures.Texts(texts...)...) }
	r.Config.Head = []string{"file", "key", "value", "benchmarks"}
	type entry struct {
		file string
		benchfile.Setting
	}
	var order []entry
	count := map[entry]int{}
	total := map[string]int{}
	for _, row := range d.Rows {
		total[row.File]++
		for _, s := range row.Config {
			e := entry{row.File, s}
			if count[e] == 0 {
				order = append(order, e)
			}
			count[e]++
		}
	}
	for _, e := range order {
		add(&r.Config, e.file, e.Key, e.Value, fmt.Sprintf("%d of %d", count[e], total[e.file]))
	}
	r.Runs.Head = []string{"records", "benchmark", "start", "dialect", "model", "load", "warm-up", "SLO", "requests", "failed", "ended", "passes", "connections opened", "sent again", "host"}
	for _, run := range d.Runs {
		h := run.Head
		opened, again, failed := 0, 0, 0
		for q := range run.All() {
			if q.Connect > 0 {
				opened++
			}
			if q.Resent > 0 {
				again++
			}
			if q.Failed() {
				failed++
			}
		}
		load := fmt.Sprintf("closed loop, %d at once", h.Concurrency)
		if h.Users != "" {
			load = "closed loop, users " + h.Users
		} else if h.Duration > 0 {
			load += fmt.Sprintf(", for %v", h.Duration)
		}
		if len(h.Classes) > 0 {
			load = fmt.Sprintf("classes %s, for %v", h.Load(), h.Duration)
		} else if h.Concurrency == 0 {
			load = "open loop"
			if h.Arrivals != nil {
				load += ", " + h.Arrivals.String()
			}
		}
		if !h.Stream {
			load += ", not streamed"
		}
		warmup := fmt.Sprint(h.Warmup)
		if h.WarmupFor > 0 {
			warmup = fmt.Sprintf("%v, after %s requests", h.WarmupFor, warmup)
		}
		ended := "unknown"
		switch why := run.Failed(); {
		case why != "":
			ended = why
		case run.End != nil:
			ended = strings.Join(append([]string{"ok"}, run.Withheld()...), ", withheld ")
		}
		add(&r.Runs, run.Name, h.Benchmark, h.Start.UTC().Format("2006-01-02 15:04:05 UTC"), h.Dialect, h.Model, load, warmup, h.SLO,
			fmt.Sprint(run.Len()), fmt.Sprint(failed), ended, fmt.Sprint(run.Passes()), fmt.Sprint(opened), fmt.Sprint(again),
			fmt.Sprintf("%s/%s, %d CPUs, GOMAXPROCS %d, %s", h.Host.OS, h.Host.Arch, h.Host.CPUs, h.Host.GOMAXPROCS, h.Host.Go))
	}
	r.Common = constant(&r.Runs)
}

// constant removes the columns of a table that have the same value in all of many rows, and returns these
// values.
func constant(t *pictures.Table) (said []string) {
	if len(t.Rows) < 10 {
		return nil
	}
	for i := len(t.Head) - 1; i > 0; i-- {
		if slices.ContainsFunc(t.Rows, func(row []string) bool { return row[i] != t.Rows[0][i] }) {
			continue
		}
		if v := t.Rows[0][i]; v != "" {
			said = append(said, t.Head[i]+": "+v)
		}
		t.Head = slices.Delete(t.Head, i, i+1)
		for n := range t.Rows {
			t.Rows[n] = slices.Delete(t.Rows[n], i, i+1)
		}
	}
	t.Exact, t.Leads = nil, nil // all cells are texts
	slices.Reverse(said)
	return said
}

// unique collects all pictures and all tables of tools. It makes their IDs unique, and short enough
// for file names.
func (r *Report) unique() {
	seen := map[string]int{}
	fix := func(id *string) {
		if len(*id) > 120 {
			*id = strings.TrimRight((*id)[:120], "-")
		}
		if *id == "" {
			*id = "x"
		}
		if seen[*id]++; seen[*id] > 1 {
			*id = fmt.Sprintf("%s_%d", *id, seen[*id])
		}
	}
	if r.Headline != nil {
		r.Pictures = append(r.Pictures, r.Headline)
	}
	for _, s := range r.Sections {
		seen[s.ID]++
		r.Pictures = append(r.Pictures, s.Pictures...)
		for _, f := range s.Folds {
			r.Pictures = append(r.Pictures, f.Pictures...)
			r.Tools = append(r.Tools, f.Tools...)
		}
	}
	for _, p := range r.Pictures {
		fix(&p.ID)
	}
	for _, f := range r.Figures {
		fix(&f.ID)
	}
	for _, t := range r.Tools {
		fix(&t.ID)
	}
}
