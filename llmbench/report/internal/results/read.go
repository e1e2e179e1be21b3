package results

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/benchline"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/resultfile"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
)

// Data is the input of a report.
type Data struct {
	// Rows holds the rows of benchmark files, in the order of the files. Behind them are the rows
	// of runs whose benchmark is in no benchmark file.
	Rows []*Row
	// Broken holds the benchmarks that have no result. Their rows have a reason, and no values.
	Broken  []*Row
	Runs    []*records.Run
	Failed  []string // benchmark files with a line that says that a benchmark failed, such as FAIL
	Sources []Source
}

// A Source is an input file. It says what was read from the file, or why nothing was read.
type Source struct{ Path, Kind string }

// Read reads benchmark files, result files of other tools and files of records. A path is a file, a
// pattern of [filepath.Match] or a folder; what a file is shows in its contents. In folders only files with an
// extension of such files are read; the others, and files of other kinds, are listed in Sources. The files of another tool in one folder, or of one
// pattern, are samples. So are the benchmark files of a pattern and, if there are several paths, of a folder: their rows
// have the path as their File. It is an error if a file cannot be read completely, or if there is nothing to report.
func Read(paths ...string) (*Data, error) {
	d := &Data{}
	for _, path := range paths {
		if err := d.read(path, len(paths) > 1); err != nil {
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

// read reads what a path names. If samples is true, the benchmark files of a folder are samples. The benchmark files of a
// pattern always are.
func (d *Data) read(path string, samples bool) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return d.folder(path, samples)
	case err == nil:
		return d.file(path)
	}
	found, globErr := filepath.Glob(path)
	switch {
	case globErr != nil:
		return fmt.Errorf("%s: %w", path, globErr)
	case len(found) == 0:
		return err
	}
	return d.files(path, found, nil, true)
}

// extensions are the extensions of the files that are read in folders.
var extensions = []string{".jsonl", ".txt", ".bench", ".json", ".csv", ".yaml", ".yml"}

// folder reads the files of a folder.
func (d *Data) folder(path string, samples bool) error {
	paths, left, err := resultfile.Folder(path)
	if err != nil {
		return err
	}
	var found []string
	for _, p := range paths {
		if slices.Contains(extensions, filepath.Ext(p)) {
			found = append(found, p)
		} else {
			d.notRead(p, "none of "+strings.Join(extensions, " "))
		}
	}
	if err := d.files(path, found, left, samples); err != nil {
		return err
	}
	for _, l := range left {
		d.notRead(l.Path, l.Why)
	}
	return nil
}

// notRead begins the kind of a source that was not read.
const notRead = "not read: "

// notRead says of a file why it was not read.
func (d *Data) notRead(path, why string) {
	d.Sources = append(d.Sources, Source{path, notRead + why})
}

// tools controls how files of other tools are read: failed requests are shown, not refused.
var tools = resultfile.Options{MaxFail: 1, Ignore: gate.Ignored()}

// files reads the files of a folder or a pattern. What was left out besides them becomes notes. If asSamples is true,
// benchmark files are samples.
func (d *Data) files(path string, paths []string, left []resultfile.Left, asSamples bool) error {
	side, err := resultfile.ReadFiles(path, paths, tools)
	if err != nil {
		return err
	}
	samples := *side
	samples.Files = nil
	benchmarks := map[string]*resultfile.File{} // in Go benchmark format, by path
	for _, f := range side.Files {
		if f.Tool != "" && !d.has(f.Path) {
			samples.Files = append(samples.Files, f)
		} else if f.Tool == "" {
			benchmarks[f.Path] = f
		}
	}
	if asSamples && len(benchmarks) > 1 {
		var all []*resultfile.File
		for _, p := range paths {
			if f := benchmarks[p]; f != nil {
				all = append(all, f)
			}
		}
		clear(benchmarks)
		if err := d.benchmarks(path, all...); err != nil {
			return err
		}
	}
	for _, p := range paths {
		other, err := slices.Contains(side.Others, p), error(nil)
		switch f := benchmarks[p]; {
		case f != nil:
			err = d.benchmarks(p, f)
		case other && filepath.Ext(p) == ".jsonl":
			if err = d.file(p); errors.Is(err, records.ErrForeign) {
				d.notRead(p, "neither a result file that is known nor records of llmbench")
				continue
			}
		case other:
			d.notRead(p, "no result file that is known")
		}
		if err != nil {
			return err
		}
	}
	if others := d.left(path); len(others) > 0 {
		samples.Notes = append(samples.Notes, resultfile.LeftOut(path, others))
	}
	for _, l := range left {
		samples.Notes = append(samples.Notes, l.String())
	}
	return d.samples(&samples)
}

// left returns the files in a folder that were not read.
func (d *Data) left(folder string) (paths []string) {
	for _, s := range d.Sources {
		inside, err := filepath.Rel(folder, s.Path)
		if strings.HasPrefix(s.Kind, notRead) && err == nil && filepath.IsLocal(inside) {
			paths = append(paths, s.Path)
		}
	}
	return paths
}

// samples adds the results of files of other tools, each of which is a sample.
func (d *Data) samples(side *resultfile.Side) error {
	if len(side.Files) == 0 {
		return nil
	}
	resultfile.Distinguish(tools, side)
	rows, _, err := Parse(side.Text(nil).Bytes, side.Path)
	if err != nil {
		return err
	}
	for _, row := range rows {
		for _, note := range side.AllNotes() {
			row.doubt(Doubt{Text: note, Note: true})
		}
	}
	d.Rows = append(d.Rows, rows...)
	for _, f := range side.Files {
		d.Sources = append(d.Sources, Source{f.Path, fmt.Sprintf("%s: %s", f.Tool, numbers.Count(len(f.Results), "result"))})
	}
	return nil
}

// without says that n benchmarks of a file have no result.
func without(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", and %d without a result", n)
}

// file reads a file of a tool, of benchmarks or of records.
func (d *Data) file(path string) error {
	if d.has(path) {
		return nil
	}
	f, err := resultfile.Read(path, tools)
	switch {
	case err != nil && filepath.Ext(path) == ".jsonl":
		return d.records(path, err)
	case err != nil:
		return err
	case f.Tool != "":
		return d.samples(&resultfile.Side{Path: path, Files: []*resultfile.File{f}})
	}
	return d.benchmarks(path, f)
}

// has reports whether the file was already read.
func (d *Data) has(path string) bool {
	return slices.ContainsFunc(d.Sources, func(s Source) bool { return filepath.Clean(s.Path) == filepath.Clean(path) })
}

// benchmarks adds the results of files in Go benchmark format, which are samples of the rows of path. Files that were
// already read are left out.
func (d *Data) benchmarks(path string, files ...*resultfile.File) error {
	files = slices.DeleteFunc(files, func(f *resultfile.File) bool { return d.has(f.Path) })
	if len(files) == 0 {
		return nil
	}
	var rows, failed []*Row
	for _, f := range files {
		if err := f.Whole(); err != nil {
			return err
		}
		data := (&resultfile.Side{Files: []*resultfile.File{f}}).Text(nil).Bytes
		var err error
		if rows, failed, err = Parse(data, f.Path); err != nil {
			return err
		}
		if benchline.Failed(data) {
			d.Failed = append(d.Failed, f.Path)
		}
		d.Sources = append(d.Sources, Source{f.Path, fmt.Sprintf("results of %d benchmarks", len(rows)) + without(len(failed))})
	}
	if path != files[0].Path {
		var err error
		if rows, failed, err = Parse((&resultfile.Side{Files: files}).Text(nil).Bytes, path); err != nil {
			return err
		}
	}
	d.Rows, d.Broken = append(d.Rows, rows...), append(d.Broken, failed...)
	return nil
}

// records reads a file of records, which no tool wrote, for the reason why.
func (d *Data) records(path string, why error) error {
	if wrong, known := errors.AsType[*resultfile.Error](why); known && wrong.Key != "" {
		return why // it is a tool's
	}
	run, err := records.Open(path)
	if err != nil {
		return err
	}
	d.Runs = append(d.Runs, run)
	kind := fmt.Sprintf("records of %d requests", run.Len())
	if why := run.Failed(); why != "" {
		kind += "; no result: " + FirstLine(why)
	}
	if units := run.Withheld(); len(units) > 0 {
		kind += "; withheld: " + strings.Join(units, ", ")
	}
	d.Sources = append(d.Sources, Source{path, kind})
	runtime.GC() // parsing leaves much more garbage than data
	return nil
}
