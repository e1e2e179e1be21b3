package resultfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
)

// A Side holds the files of one side of a comparison, old or new. Each file is one sample, or several
// samples of different loads.
type Side struct {
	Path   string // as it was given: a file, a pattern or a folder
	Files  []*File
	Others []string // paths of files that were left out because they are no results
	Notes  []string // about files that were left out
}

// ReadSide reads a file, the files that match a pattern of [filepath.Match], or all files in a folder and
// its subfolders. If there may be several files, those that are not results are omitted with a note.
// ReadSide returns the errors of all files that cannot be used as samples.
func ReadSide(path string, o Options) (*Side, error) {
	paths, several, err := expand(path)
	if err != nil {
		return nil, err
	}
	if !several {
		f, err := Read(path, o)
		if err != nil {
			return nil, err
		}
		return &Side{Path: path, Files: []*File{f}}, nil
	}
	s, err := ReadFiles(path, paths, o)
	if err != nil {
		return nil, err
	}
	if len(s.Others) > 0 {
		s.Notes = slices.Insert(s.Notes, 0, fmt.Sprintf("%s: left out, because they are no results: %s", path, some(s.Others)))
	}
	if len(s.Files) == 0 {
		return nil, &Error{Path: path, Text: "no result file: want Go benchmark format, or a file of " + knownTools()}
	}
	return s, nil
}

// ReadSides reads the sides of a comparison as [ReadSide] does, and returns their texts in Go benchmark format
// too. It is an error if two sides have no load in common.
func ReadSides(paths []string, o Options) (sides []*Side, texts []*Text, err error) {
	var files []*File
	for _, path := range paths {
		s, err := ReadSide(path, o)
		if err != nil {
			return nil, nil, err
		}
		sides, files = append(sides, s), append(files, s.Files...)
	}
	Distinguish(sides...)
	if len(sides) == 2 {
		if err := Unequal(sides[0], sides[1]); err != nil {
			return nil, nil, err
		}
	}
	units := UnitLines(files)
	for _, s := range sides {
		texts = append(texts, s.Text(units))
	}
	return sides, texts, nil
}

// ReadTogether reads several paths as [ReadSide] does, and returns all their results as one text in Go
// benchmark format, with the notes about the files. It is an error if a file is not [File.Whole].
func ReadTogether(paths []string, o Options) (text []byte, notes []string, err error) {
	all := &Side{}
	for _, path := range paths {
		s, err := ReadSide(path, o)
		if err != nil {
			return nil, nil, err
		}
		for _, f := range s.Files {
			if err := f.Whole(); err != nil {
				return nil, nil, err
			}
		}
		all.Files, all.Notes = append(all.Files, s.Files...), append(all.Notes, s.Notes...)
	}
	Distinguish(all)
	return all.Text(UnitLines(all.Files)).Bytes, all.AllNotes(), nil
}

// ReadFiles reads the files of a folder or a pattern. Files that are no results are in Others. It returns the
// errors of all files that are no samples.
func ReadFiles(path string, paths []string, o Options) (*Side, error) {
	s := &Side{Path: path}
	var wrong []error
	for _, p := range paths {
		f, err := Read(p, o)
		switch {
		case err != nil && isBeside(err), err == nil && f.Tool == "" && len(f.text) == 0:
			s.Others = append(s.Others, p)
		case err != nil:
			wrong = append(wrong, err)
		default:
			s.Files = append(s.Files, f)
		}
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong[:min(len(wrong), 8)]...)
	}
	s.dropCopies()
	s.dropSources()
	return s, nil
}

// some lists the names of at most five files.
func some(paths []string) string {
	var names []string
	for _, p := range paths[:min(len(paths), 5)] {
		names = append(names, filepath.Base(p))
	}
	text := strings.Join(names, ", ")
	if n := len(paths) - 5; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// expand returns the files that a path stands for, and whether it may stand for several.
func expand(path string) (paths []string, several bool, err error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.IsDir():
		return []string{path}, false, nil
	case err == nil:
		paths, err = walk(path)
		return paths, true, err
	case !strings.ContainsAny(path, "*?["):
		return nil, false, err
	}
	found, err := filepath.Glob(path)
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", path, err)
	}
	for _, p := range found {
		if info, err := os.Stat(p); err == nil && info.IsDir() {
			inside, err := walk(p)
			if err != nil {
				return nil, false, err
			}
			paths = append(paths, inside...)
			continue
		}
		paths = append(paths, p)
	}
	if len(paths) == 0 {
		return nil, false, &Error{Path: path, Text: "no file matches"}
	}
	return paths, true, nil
}

// walk returns the files in a folder and its subfolders, except hidden ones.
func walk(folder string) (paths []string, err error) {
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		hidden := path != folder && strings.HasPrefix(d.Name(), ".")
		switch {
		case err != nil:
			return err
		case hidden && d.IsDir():
			return fs.SkipDir
		case !hidden && d.Type().IsRegular():
			paths = append(paths, path)
		}
		return nil
	})
	return paths, err
}

// dropCopies removes files that contain the same as another file: a tool's CSV next to its JSON,
// percentiles that were read together with their summary, and inference-perf's sum of stages next to the
// stages.
func (s *Side) dropCopies() {
	byStem := map[string]*File{}
	var kept []*File
	for _, f := range s.Files {
		key := f.Tool + "\x00" + strings.TrimSuffix(f.Path, filepath.Ext(f.Path))
		if f.Tool == "" {
			key += filepath.Ext(f.Path)
		}
		if earlier := byStem[key]; earlier != nil {
			if filepath.Ext(f.Path) == ".json" {
				*earlier, *f = *f, *earlier
			}
			s.Notes = append(s.Notes, fmt.Sprintf("%s: left out, because %s has the same run", f.Path, filepath.Base(earlier.Path)))
			continue
		}
		byStem[key] = f
		kept = append(kept, f)
	}
	s.Files = kept
}

// dropSources removes files from which another file in the same folder was computed.
func (s *Side) dropSources() {
	of := map[string]string{}
	for _, f := range s.Files {
		for _, source := range f.sources {
			of[filepath.Join(filepath.Dir(f.Path), filepath.Base(source))] = f.Path
		}
	}
	s.Files = slices.DeleteFunc(s.Files, func(f *File) bool {
		aggregate, ok := of[filepath.Clean(f.Path)]
		if ok {
			s.Notes = append(s.Notes, fmt.Sprintf("%s: left out, because %s has the median of it and other runs on one server", f.Path, filepath.Base(aggregate)))
		}
		return ok
	})
}

// dated matches the end of a file name that consists of the time of the run.
var dated = regexp.MustCompile(`[-_]?\d{8}[-_]\d{6}$`)

// series returns the name of a file without the time of the run, or "" if the name does not contain the
// time.
func (f *File) series() string {
	stem := strings.TrimSuffix(filepath.Base(f.Path), filepath.Ext(f.Path))
	if s := dated.ReplaceAllString(stem, ""); s != stem {
		return s
	}
	return ""
}

// Distinguish renames benchmarks that have the same name but come from different series of files. A series
// is a set of files whose names end with the time of the run, and are equal before it. Users name files
// after properties that the contents do not have.
func Distinguish(sides ...*Side) {
	of := map[string]string{} // series, by name of the benchmark
	mixed := map[string]bool{}
	visit := func(do func(r *Result, series string)) {
		for _, s := range sides {
			for f, r := range s.results() {
				if series := f.series(); series != "" {
					do(r, series)
				}
			}
		}
	}
	visit(func(r *Result, series string) {
		if first, ok := of[r.Name]; ok && first != series {
			mixed[r.Name] = true
		}
		of[r.Name] = series
	})
	visit(func(r *Result, series string) {
		if mixed[r.Name] {
			base, load, _ := strings.Cut(r.Name, "/")
			r.Name = strings.TrimSuffix(base+"/file="+word(series)+"/"+load, "/")
		}
	})
}

// Unequal returns an error if both sides have results of the same tool, but no load in common. The error
// names the first key in which the loads differ.
func Unequal(old, new *Side) error {
	was, is := old.loads(), new.loads()
	for name := range is {
		if _, common := was[name]; common {
			return nil
		}
	}
	for f, r := range new.results() {
		for o, q := range old.results() {
			if o.Tool != f.Tool {
				continue
			}
			if key, a, b := differ(q.Load, r.Load); key != "" {
				return &Error{Path: f.Path, Key: f.Tool + ": " + key, Text: fmt.Sprintf("is %s, but %s in %s: want equal loads on both sides", b, a, o.Path)}
			}
		}
	}
	return nil
}

// loads returns the results of a side by benchmark name.
func (s *Side) loads() map[string]*Result {
	all := map[string]*Result{}
	for _, r := range s.results() {
		all[r.Name] = r
	}
	return all
}

// results returns the results of all files.
func (s *Side) results() iter.Seq2[*File, *Result] {
	return func(yield func(*File, *Result) bool) {
		for _, f := range s.Files {
			for i := range f.Results {
				if !yield(f, &f.Results[i]) {
					return
				}
			}
		}
	}
}

// differ returns the first key in which two loads differ, or "".
func differ(old, new []benchfile.Setting) (key, was, is string) {
	value := func(all []benchfile.Setting, key string) string { return cmp.Or(benchfile.Lookup(all, key), "not set") }
	for _, s := range slices.Concat(old, new) {
		if was, is := value(old, s.Key), value(new, s.Key); was != is {
			return s.Key, was, is
		}
	}
	return "", "", ""
}

// AllNotes returns the notes of a side and of its files. A note that several files share is returned once.
func (s *Side) AllNotes() []string {
	lines := slices.Clone(s.Notes)
	of := map[string][]string{}
	var order []string
	for _, f := range s.Files {
		for _, note := range f.Notes {
			if of[note] == nil {
				order = append(order, note)
			}
			of[note] = append(of[note], f.Path)
		}
	}
	for _, note := range order {
		where := of[note][0]
		if n := len(of[note]) - 1; n > 0 {
			where += fmt.Sprintf(" and %d more", n)
		}
		lines = append(lines, where+": "+note)
	}
	return lines
}

// Stale returns a note about the first file of new that is older than every file of old whose time is
// known: it may be left over from an earlier run.
func Stale(old, new *Side) []string {
	start := time.Time{}
	for _, r := range old.results() {
		if !r.Time.IsZero() && (start.IsZero() || r.Time.Before(start)) {
			start = r.Time
		}
	}
	for f, r := range new.results() {
		if !r.Time.IsZero() && r.Time.Before(start) {
			return []string{fmt.Sprintf("%s: is of %s, before the first run of %s at %s: is it left over from an earlier run?",
				f.Path, r.Time.Format(time.DateTime), old.Path, start.Format(time.DateTime))}
		}
	}
	return nil
}
