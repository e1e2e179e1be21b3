package systems

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compare"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
)

// Labels returns a label for each row. A label contains the keys of the names in which the rows
// differ, and no others. Keys that are named in except are left out. If two rows would then have
// the same label, keys of the configuration are added to them, and then the file. Rows that differ only in
// excepted keys have equal labels. If the rows do not differ, the labels are "".
func Labels(rows []*results.Row, except ...string) []string {
	facts := make([]map[string]string, len(rows))
	var names, configs []string // the keys in the order of their first occurrence
	add := func(keys *[]string, i int, key, value string) {
		if slices.Contains(except, key) || facts[i][key] != "" {
			return
		}
		facts[i][key] = value
		if !slices.Contains(*keys, key) {
			*keys = append(*keys, key)
		}
	}
	files := differing(rows)
	for i, r := range rows {
		facts[i] = map[string]string{}
		add(&names, i, base, r.Base)
		for _, s := range r.Keys {
			add(&names, i, s.Key, s.Value)
		}
		for _, s := range results.Identity(r.Config) {
			add(&configs, i, s.Key, s.Value)
		}
		add(&configs, i, file, files[i])
	}
	configs = slices.DeleteFunc(configs, func(k string) bool { return k == file || slices.Contains(names, k) })
	configs = append(configs, procs, file)

	var chosen []string
	for _, key := range names {
		if key != procs && len(distinct(facts, []string{key})) > 1 {
			chosen = append(chosen, key)
		}
	}
	alike := map[string]int{} // rows whose names do not tell them apart
	for i := range rows {
		alike[identity(facts[i], chosen)]++
	}
	named := slices.Clone(chosen)
	for _, key := range configs {
		if with := append(slices.Clone(chosen), key); len(distinct(facts, with)) > len(distinct(facts, chosen)) {
			chosen = with
		}
	}
	slices.SortStableFunc(chosen, func(a, b string) int { return order(a) - order(b) })
	labels := make([]string, len(rows))
	for i := range rows {
		var words []string
		for _, key := range chosen {
			needed := slices.Contains(named, key) || alike[identity(facts[i], named)] > 1
			if v := facts[i][key]; v != "" && v != Unstated && needed {
				words = append(words, spoken(key, v))
			}
		}
		if len(words) == 0 && len(chosen) > 0 {
			words = []string{"without " + chosen[0]}
		}
		labels[i] = strings.Join(words, " ")
	}
	return labels
}

// Unstated is the value of a key that a study does not state.
const Unstated = "unstated"

// These are keys of facts that are neither in the names nor in the configurations.
const (
	base  = "."
	file  = "/"
	procs = "gomaxprocs"
)

// order puts the keys of loads behind all other keys of a label.
func order(key string) int { return slices.Index(compare.LoadKeys, key) }

// distinct returns the set of the combinations of values that the keys have.
func distinct(facts []map[string]string, keys []string) map[string]bool {
	all := map[string]bool{}
	for _, f := range facts {
		all[identity(f, keys)] = true
	}
	return all
}

// identity returns the combination of the values of keys.
func identity(fact map[string]string, keys []string) (id string) {
	for _, key := range keys {
		id += fmt.Sprintf("%q", fact[key])
	}
	return id
}

// spoken returns a fact as a part of a label.
func spoken(key, value string) string {
	if key == base || key == file {
		return value
	}
	return compare.Label(key, value)
}

// differing returns the parts of the rows' file paths that are not the same for all rows. A part is
// the name of the file, or of a folder above it.
func differing(rows []*results.Row) []string {
	parts := make([][]string, len(rows))
	for i, r := range rows {
		parts[i] = strings.Split(filepath.ToSlash(filepath.Clean(r.File)), "/")
	}
	if len(rows) == 0 {
		return nil
	}
	same := func(at func(p []string) string) bool {
		return !slices.ContainsFunc(parts, func(p []string) bool { return len(p) < 2 || at(p) != at(parts[0]) })
	}
	for same(func(p []string) string { return p[0] }) {
		for i := range parts {
			parts[i] = parts[i][1:]
		}
	}
	for same(func(p []string) string { return p[len(p)-1] }) {
		for i := range parts {
			parts[i] = parts[i][:len(parts[i])-1]
		}
	}
	names := make([]string, len(rows))
	for i, p := range parts {
		names[i] = strings.Join(p, "/")
	}
	return names
}
