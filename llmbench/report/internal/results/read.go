package results

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

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
)

// Data is the input of a report.
type Data struct {
	// Rows are the rows of benchmark files in the order of the files, and then rows of runs
	// whose benchmark is in no benchmark file.
	Rows []*Row
	// Broken are the benchmarks that have no result: their rows have a reason, and no values.
	Broken  []*Row
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
	if len(d.Rows) == 0 && len(d.Runs) == 0 && len(d.Broken) > 0 {
		return nil, fmt.Errorf("no benchmark has a result; %s: %s: %s", d.Broken[0].File, d.Broken[0].Name, d.Broken[0].Failed)
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
	d.join()
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

// without says how many benchmarks of a file have no result.
func without(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", and %d without a result", n)
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
	rows, failed, err := Parse(data, path)
	if err != nil {
		return err
	}
	d.Rows, d.Broken = append(d.Rows, rows...), append(d.Broken, failed...)
	d.Sources = append(d.Sources, Source{path, fmt.Sprintf("results of %d benchmarks", len(rows)) + without(len(failed))})
	return nil
}
