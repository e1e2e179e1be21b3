package resultfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
)

// ReadSide reads a file, the files that match a pattern of [filepath.Match], or all files in a folder and
// its subfolders. If there may be several files, those that are not results are omitted with a note.
// ReadSide returns the errors of all files that cannot be used as samples.
func ReadSide(path string, o Options) (*Side, error) {
	paths, left, several, err := expand(path)
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
	var notes []string
	if len(s.Others) > 0 {
		notes = append(notes, LeftOut(path, s.Others))
	}
	for _, l := range left {
		notes = append(notes, l.String())
	}
	s.Notes = append(notes, s.Notes...)
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
	Distinguish(o, sides...)
	if len(sides) == 2 {
		if err := Unequal(sides[0], sides[1]); err != nil {
			return nil, nil, err
		}
	}
	if !slices.ContainsFunc(files, func(f *File) bool { return f.Tool == "" }) { // whose settings may be configuration of these
		dropEqual(sides)
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
	all := &Side{Path: strings.Join(paths, " ")}
	seen := found{}
	for _, path := range paths {
		s, err := ReadSide(path, o)
		if err != nil {
			return nil, nil, err
		}
		for _, f := range s.Files {
			if err := f.Whole(); err != nil {
				return nil, nil, err
			}
			if note := seen.again(f.Path); note != "" {
				all.Notes = append(all.Notes, note)
				continue
			}
			all.Files = append(all.Files, f)
		}
		all.Notes = append(all.Notes, s.Notes...)
	}
	Distinguish(o, all)
	return all.Text(UnitLines(all.Files)).Bytes, all.AllNotes(), nil
}

// dropEqual removes the settings that all results of all sides share, so that reports show only those that may matter.
func dropEqual(sides []*Side) {
	var all []*Result
	for _, s := range sides {
		for _, r := range s.results() {
			all = append(all, r)
		}
	}
	differ := map[string]bool{}
	for _, key := range varying(all) {
		differ[key] = true
	}
	for _, r := range all {
		r.Settings = slices.DeleteFunc(r.Settings, func(s benchfile.Setting) bool { return !differ[s.Key] })
	}
}

// ReadFiles reads the files of a folder or a pattern. Files that are no results are in Others. It returns the
// errors of all files that are no samples.
func ReadFiles(path string, paths []string, o Options) (*Side, error) {
	s := &Side{Path: path}
	var wrong []error
	seen := found{}
	for _, p := range paths {
		if note := seen.again(p); note != "" { // a pattern may match a link and its file
			s.Notes = append(s.Notes, note)
			continue
		}
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

// LeftOut returns a note that names the first of the files that were left out of a folder or a pattern because they are no
// results.
func LeftOut(folder string, paths []string) string {
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = filepath.Base(p)
	}
	return fmt.Sprintf("%s: left out, because they are no results: %s", folder, some(names))
}

// expand returns the files that a path stands for, what is left out, and whether it may stand for several.
func expand(path string) (paths []string, left []Left, several bool, err error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.IsDir():
		return []string{path}, nil, false, nil
	case err == nil:
		paths, left, err = Folder(path)
		return paths, left, true, err
	case !strings.ContainsAny(path, "*?["):
		return nil, nil, false, err
	}
	found, err := filepath.Glob(path)
	if err != nil {
		return nil, nil, false, fmt.Errorf("%s: %w", path, err)
	}
	for _, p := range found {
		if info, err := os.Stat(p); err == nil && info.IsDir() {
			inside, without, err := Folder(p)
			if err != nil {
				return nil, nil, false, err
			}
			paths, left = append(paths, inside...), append(left, without...)
			continue
		}
		paths = append(paths, p)
	}
	if len(paths) == 0 {
		return nil, nil, false, &Error{Path: path, Text: "no file matches"}
	}
	return paths, left, true, nil
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
