package report

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
)

// A group has the rows of one picture: those with the same values of the keys that separate
// pictures.
type group struct {
	title   string
	rows    []*Row
	systems []*system
}

// A system is a line of a picture: rows that differ only in their load.
type system struct {
	name string
	load string // the key of the load
	rows []*Row // by load
	look chart.Look
}

// DefaultParts are the keys of names that separate pictures.
var DefaultParts = []string{"workload", "model"}

// groups divides rows into groups, by their base names and by keys.
func groups(rows []*Row, parts []string) []*group {
	var all []*group
	by := map[string]*group{}
	for _, r := range rows {
		title := r.Base
		for _, key := range parts {
			if v := r.key(key); v != "" {
				title += " " + v
			}
		}
		g := by[title]
		if g == nil {
			g = &group{title: title}
			by[title] = g
			all = append(all, g)
		}
		g.rows = append(g.rows, r)
	}
	for _, g := range all {
		g.part(parts)
	}
	return all
}

// part divides the group into systems, and names each by what distinguishes it.
func (g *group) part(parts []string) {
	by := map[string]*system{}
	for _, r := range g.rows {
		load, _, _ := r.load()
		id := fmt.Sprintf("%q %q %q %q", r.File, load, r.settings(), without(r.Keys, load))
		s := by[id]
		if s == nil {
			s = &system{load: load, look: chart.LookOf(len(g.systems))}
			by[id] = s
			g.systems = append(g.systems, s)
		}
		s.rows = append(s.rows, r)
	}
	var facts [][]benchfile.Setting // of each system, the most distinctive first
	for _, s := range g.systems {
		slices.SortStableFunc(s.rows, func(a, b *Row) int {
			_, x, _ := a.load()
			_, y, _ := b.load()
			return cmp.Compare(x, y)
		})
		r := s.rows[0]
		f := without(r.Keys, append([]string{s.load}, parts...)...)
		f = append(f, r.settings()...)
		f = append(f, benchfile.Setting{Key: "file", Value: r.File}, benchfile.Setting{Key: "load", Value: s.load})
		facts = append(facts, f)
	}
	name := func(i, depth int) string {
		var words []string
		for _, f := range facts[i] {
			if len(words) >= depth {
				break
			}
			for j := range facts {
				if j != i && benchfile.Lookup(facts[j], f.Key) != f.Value {
					words = append(words, spoken(f))
					break
				}
			}
		}
		return strings.Join(words, " ")
	}
	for i, s := range g.systems {
		for depth := range len(facts[i]) {
			s.name = name(i, depth+1)
			if !slices.ContainsFunc(g.systems[:i], func(o *system) bool { return o.name == s.name }) && unlike(facts, i, depth+1, name) {
				break
			}
		}
		if s.name == "" {
			s.name = "all"
			if b := benchfile.Lookup(facts[i], "backend"); b != "" {
				s.name = b
			}
		}
	}
}

// unlike reports whether the name of system i at a depth is unique.
func unlike(facts [][]benchfile.Setting, i, depth int, name func(i, depth int) string) bool {
	for j := range facts {
		if j != i && name(j, depth) == name(i, depth) {
			return false
		}
	}
	return true
}

// spoken returns a fact as part of a name.
func spoken(f benchfile.Setting) string {
	switch f.Key {
	case "backend", "quant", "hardware", "model", "workload":
		if f.Value != "" {
			return f.Value
		}
	case "file":
		return filepath.Base(f.Value)
	}
	return f.Key + "=" + f.Value
}

// settings returns the configuration that distinguishes systems.
func (r *Row) settings() []benchfile.Setting { return identity(r.Config) }

func without(all []benchfile.Setting, keys ...string) []benchfile.Setting {
	return slices.DeleteFunc(slices.Clone(all), func(s benchfile.Setting) bool { return slices.Contains(keys, s.Key) })
}

// maxLines is the largest number of lines in a legible picture. If there are more systems,
// those with a single load are only in the table of figures.
const maxLines = 12

// swept returns the systems to draw over a load that has two or more values in one of them,
// and the number of systems that are left out.
func (g *group) swept() (load string, all []*system, left int) {
	for _, load := range loads {
		most := 0
		all = nil
		for _, s := range g.systems {
			if s.load == load {
				all = append(all, s)
				most = max(most, len(s.rows))
			}
		}
		if most < 2 {
			continue
		}
		n := len(all)
		if n > maxLines {
			all = slices.DeleteFunc(all, func(s *system) bool { return len(s.rows) < 2 })
		}
		for i, s := range all {
			s.look = chart.LookOf(i)
		}
		return load, all, n - len(all)
	}
	return "", nil, 0
}

// line returns a system's values over its load: of the first of units that each row has.
func (s *system) line(of func(r *Row) (spread, bool)) *chart.Series {
	l := &chart.Series{Name: s.name, Look: s.look}
	for _, r := range s.rows {
		if v, has := of(r); has {
			_, x, _ := r.load()
			l.Points = append(l.Points, v.point(x))
		}
	}
	return l
}
