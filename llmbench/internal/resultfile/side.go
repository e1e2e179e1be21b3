package resultfile

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
)

// A Side holds the files of one side of a comparison, old or new. Each file is one sample, or several
// samples of different loads.
type Side struct {
	Path   string // as it was given: a file, a pattern or a folder
	Files  []*File
	Others []string // paths of files that were left out because they are no results
	Notes  []string // about files that were left out
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

// some lists at most five texts.
func some(texts []string) string {
	list := strings.Join(texts[:min(len(texts), 5)], ", ")
	if n := len(texts) - 5; n > 0 {
		list += fmt.Sprintf(" and %d more", n)
	}
	return list
}
