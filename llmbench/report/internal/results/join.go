package results

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// join gives each run to the row of its benchmark in a benchmark file. If there is no such row, it
// makes a row for the run. A run that did not end well has no line in a benchmark file. It gets a
// row in Broken.
func (d *Data) join() {
	texts := len(d.Rows)
	named := map[string][]*Row{}
	for _, r := range d.Rows {
		name := benchfile.ParseName(r.Name).WithoutProcs()
		named[name] = append(named[name], r)
	}
	made := map[string]*Row{}
	for _, run := range d.Runs {
		if run.Len() == 0 {
			continue
		}
		name := strings.TrimPrefix(run.Head.Benchmark, "Benchmark")
		failed := run.Failed()
		if failed == "" {
			if row := rowOf(run, named[name]); row != nil {
				row.Runs = append(row.Runs, run)
				d.tell(run.Name, "; its figures are taken from "+row.File)
				continue
			}
		}
		row := newRow(benchfile.ParseRunning(name))
		row.Base, row.File, row.Failed = cmp.Or(row.Base, "benchmark"), filepath.Dir(run.Name), failed
		for _, k := range slices.Sorted(maps.Keys(run.Head.Config)) {
			row.Config = append(row.Config, benchfile.Setting{Key: k, Value: run.Head.Config[k]})
		}
		id := fmt.Sprintf("%q%q%q%v", row.File, name, Identity(row.Config), failed != "")
		if made[id] == nil {
			made[id] = row
			if failed == "" {
				d.Rows = append(d.Rows, row)
			} else {
				d.Broken = append(d.Broken, row)
			}
		}
		row = made[id]
		row.Runs = append(row.Runs, run)
		if failed != "" {
			continue
		}
		row.count++
		figures, hidden := run.Figures().Metrics, hidden(run)
		for _, unit := range slices.Sorted(maps.Keys(figures)) {
			if !hidden[unit] {
				row.add(unit, figures[unit])
			}
		}
	}
	for _, row := range d.Rows {
		row.doubts()
	}
	slices.SortStableFunc(d.Rows[texts:], Compare) // folders list "16" before "2"
}

// hidden returns the units that a run withheld, and further units that measure the same: the benchmark did not show them,
// so that it did not judge them either, and has no bounds for them.
func hidden(run *records.Run) map[string]bool {
	units := map[string]bool{}
	for _, name := range run.Withheld() {
		units[name] = true
	}
	for _, u := range sample.Alike(sample.Units, run.Withheld()) {
		if _, judged := run.End.Bounds[u.Name]; !judged {
			units[u.Name] = true
		}
	}
	return units
}

// tell adds a text to the description of a source.
func (d *Data) tell(path, text string) {
	for i := range d.Sources {
		if d.Sources[i].Path == path {
			d.Sources[i].Kind += text
		}
	}
}

// rowOf returns the row that a run belongs to, among the rows with the name of its benchmark. If several
// rows have the run's configuration, it returns the first one with a sample that has the same values as the
// run, or else the first one. If no row has the configuration, it returns nil.
func rowOf(run *records.Run, named []*Row) *Row {
	var all []*Row
	for _, r := range named {
		if r.announces(run) {
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return nil
	}
	if len(all) > 1 {
		for _, r := range all {
			if r.sampleWith(run) != nil {
				return r
			}
		}
	}
	return all[0]
}

// announces reports whether the row's configuration contains the configuration of a run's target.
func (r *Row) announces(run *records.Run) bool {
	for k, v := range run.Head.Config {
		kept := len(Identity([]benchfile.Setting{{Key: k, Value: v}})) > 0
		if kept && benchfile.Lookup(r.Config, k) != strings.Join(strings.Fields(v), " ") {
			return false
		}
	}
	return true
}
