package report

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
)

// Data is the input of a report.
type Data struct {
	Rows    []*Row
	Runs    []*records.Run
	Sources []Source
}

// A Source is an input file, with what was read from it or why nothing was.
type Source struct{ Path, Kind string }

// Read reads benchmark files and files of records. In folders, .jsonl files are records, and
// .txt and .bench files are benchmark files; other files in folders are listed in Sources
// as not read. A path that is a file and does not end in .jsonl is a benchmark file. It is
// an error if a file cannot be read completely, or if there is nothing to report.
func Read(paths ...string) (*Data, error) {
	d := &Data{}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			if err := d.file(path); err != nil {
				return nil, err
			}
			continue
		}
		if err := d.folder(path); err != nil {
			return nil, err
		}
	}
	if len(d.Rows) == 0 && len(d.Runs) == 0 {
		return nil, errors.New("neither results nor records: want benchmark files, or folders with some or with records of LLMBENCH_OUT")
	}
	requests := 0
	for _, run := range d.Runs {
		requests += run.Len()
	}
	if len(d.Rows) == 0 && requests == 0 {
		return nil, fmt.Errorf("%s: an empty run: no request was recorded", d.Runs[0].Name)
	}
	d.fromRecords()
	return d, nil
}

func (d *Data) folder(path string) error {
	return filepath.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		switch filepath.Ext(p) {
		case ".jsonl", ".txt", ".bench":
			return d.file(p)
		}
		d.Sources = append(d.Sources, Source{p, "not read: neither .jsonl nor .txt nor .bench"})
		return nil
	})
}

func (d *Data) file(path string) error {
	if slices.ContainsFunc(d.Sources, func(s Source) bool { return filepath.Clean(s.Path) == filepath.Clean(path) }) {
		return nil // read already
	}
	if filepath.Ext(path) == ".jsonl" {
		run, err := records.Open(path)
		if err != nil {
			return err
		}
		d.Runs = append(d.Runs, run)
		kind := fmt.Sprintf("records of %d requests", run.Len())
		if why := run.Failed(); why != "" {
			kind += "; no result: " + firstLine(why)
		}
		if units := run.Withheld(); len(units) > 0 {
			kind += "; withheld: " + strings.Join(units, ", ")
		}
		d.Sources = append(d.Sources, Source{path, kind})
		runtime.GC() // parsing leaves much more garbage than data
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if n := len(data); n > 0 && data[n-1] != '\n' {
		return fmt.Errorf("%s:%d: the last line has no line end: was the file cut?", path, 1+bytes.Count(data, []byte("\n")))
	}
	rows, err := readResults(bytes.NewReader(data), path)
	if err != nil {
		return err
	}
	d.Rows = append(d.Rows, rows...)
	d.Sources = append(d.Sources, Source{path, fmt.Sprintf("results of %d benchmarks", len(rows))})
	return nil
}

// fromRecords adds rows for runs whose benchmark is in no benchmark file. It leaves out runs
// that did not end well, which have no line in a benchmark file either.
func (d *Data) fromRecords() {
	named := map[string][]*Row{}
	for _, r := range d.Rows {
		name := benchfile.ParseName(r.Name).WithoutProcs()
		named[name] = append(named[name], r)
	}
	rows := map[string]*Row{}
	for _, run := range d.Runs {
		name := strings.TrimPrefix(run.Head.Benchmark, "Benchmark")
		if run.Len() == 0 || run.Failed() != "" {
			continue
		}
		if i := slices.IndexFunc(named[name], func(r *Row) bool { return r.announces(run) }); i >= 0 {
			for j := range d.Sources {
				if d.Sources[j].Path == run.Name {
					d.Sources[j].Kind += "; figures as in " + named[name][i].File
				}
			}
			continue
		}
		row := newRow(benchfile.ParseRunning(name))
		row.File = filepath.Dir(run.Name)
		for _, k := range sortedKeys(run.Head.Config) {
			row.Config = append(row.Config, benchfile.Setting{Key: k, Value: run.Head.Config[k]})
		}
		id := fmt.Sprintf("%q%q%q", row.File, name, identity(row.Config))
		if rows[id] == nil {
			rows[id] = row
			d.Rows = append(d.Rows, row)
		}
		row = rows[id]
		figures := run.Figures().Metrics
		for _, unit := range sortedKeys(figures) {
			if !slices.Contains(run.Withheld(), unit) {
				row.add(unit, figures[unit])
			}
		}
	}
}

// announces reports whether the row's configuration contains that of a run's target.
func (r *Row) announces(run *records.Run) bool {
	for k, v := range run.Head.Config {
		kept := len(identity([]benchfile.Setting{{Key: k, Value: v}})) > 0
		if kept && benchfile.Lookup(r.Config, k) != strings.Join(strings.Fields(v), " ") {
			return false
		}
	}
	return true
}

// firstLine returns the first line of a reason.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
