package resultfile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
)

// maxCompared is the number of benchmarks of the old side among which Unequal looks for the two that differ least.
const maxCompared = 200

// Unequal returns an error if both sides have results of the same tool, but no benchmark in common, or if the new side
// has results with a setting that [Distinguish] added to the names, and the old side has none. The error names a key in which
// the two benchmarks that differ least differ.
func Unequal(old, new *Side) error {
	was, is := old.benchmarks(), new.benchmarks()
	names := map[string]bool{}
	for _, o := range was {
		names[o.result.Name] = true
	}
	has := func(b benchmark) bool { return names[b.result.Name] }
	common := slices.ContainsFunc(is, has)
	var nearest *Error
	least := 0
	for _, n := range is {
		if common && (len(n.result.apart) == 0 || has(n)) {
			continue
		}
		for _, o := range was[:min(len(was), maxCompared)] {
			if o.file.Tool != n.file.Tool {
				continue
			}
			loads, settings := differ(o.result.Load, n.result.Load), differ(o.result.apart, n.result.apart)
			count := len(loads) + len(settings)
			if count == 0 || common && len(loads) > 0 || nearest != nil && count >= least {
				continue
			}
			d, want := slices.Concat(loads, settings)[0], "equal loads on both sides"
			if name := d.key[strings.LastIndexByte(d.key, '.')+1:]; slices.Contains(llamabenchNamed, name) {
				want = fmt.Sprintf("equal settings on both sides (benchgate -ignore=%s allows others)", name)
			} else if len(loads) == 0 {
				want = fmt.Sprintf("equal settings on both sides (benchgate -ignore=%s allows others)", strings.Join(o.result.unlike(n.result), ","))
			}
			least = count
			nearest = &Error{Path: n.file.Path, Key: n.file.Tool + ": " + d.key, Text: fmt.Sprintf("is %s, but %s in %s: want %s", d.is, d.was, o.file.Path, want)}
		}
	}
	if nearest == nil {
		return nil
	}
	return nearest
}

// unlike returns the keys of the configuration and the settings in which two results differ.
func (r *Result) unlike(other *Result) (keys []string) {
	for _, d := range differ(slices.Concat(r.Config, r.Settings), slices.Concat(other.Config, other.Settings)) {
		keys = append(keys, d.key)
	}
	return keys
}

// A benchmark is the first result of a benchmark in a side.
type benchmark struct {
	file   *File
	result *Result
}

// benchmarks returns the benchmarks of a side, in the order in which they first appear.
func (s *Side) benchmarks() (all []benchmark) {
	seen := map[string]bool{}
	for f, r := range s.results() {
		if !seen[r.Name] {
			seen[r.Name] = true
			all = append(all, benchmark{f, r})
		}
	}
	return all
}

// A difference is a key with two values.
type difference struct{ key, was, is string }

// differ returns the keys in which two lists of settings differ.
func differ(old, new []benchfile.Setting) (all []difference) {
	for i, s := range slices.Concat(old, new) {
		was, is := cmp.Or(benchfile.Lookup(old, s.Key), "not set"), cmp.Or(benchfile.Lookup(new, s.Key), "not set")
		if was != is && (i < len(old) || was == "not set") {
			all = append(all, difference{s.Key, was, is})
		}
	}
	return all
}
