package report

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
)

// A group is what belongs in one picture: rows that are alike in the keys that part
// pictures.
type group struct {
	title   string
	rows    []*Row
	systems []*system
}

// A system is a line of a picture: rows alike in all but their load.
type system struct {
	name string
	load string // the key that rows differ in
	rows []*Row // by load
	look look
}

// DefaultParts are the keys of names that have a picture each.
var DefaultParts = []string{"workload", "model"}

// groups parts rows into groups, by the first part of their names and by keys.
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

// part makes the group's systems, and names each by what it alone has.
func (g *group) part(parts []string) {
	by := map[string]*system{}
	for _, r := range g.rows {
		load, _, _ := r.load()
		id := fmt.Sprintf("%q %q %q %q", r.File, load, r.settings(), without(r.Keys, load))
		s := by[id]
		if s == nil {
			s = &system{load: load, look: lookOf(len(g.systems))}
			by[id] = s
			g.systems = append(g.systems, s)
		}
		s.rows = append(s.rows, r)
	}
	var facts [][]benchfile.Setting // of each system, the best to tell it by first
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

// unlike reports whether no other system has the name of i at a depth.
func unlike(facts [][]benchfile.Setting, i, depth int, name func(i, depth int) string) bool {
	for j := range facts {
		if j != i && name(j, depth) == name(i, depth) {
			return false
		}
	}
	return true
}

// spoken is a fact as a part of a name.
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

// settings is the configuration that tells systems apart.
func (r *Row) settings() []benchfile.Setting { return identity(r.Config) }

func without(all []benchfile.Setting, keys ...string) []benchfile.Setting {
	return slices.DeleteFunc(slices.Clone(all), func(s benchfile.Setting) bool { return slices.Contains(keys, s.Key) })
}

// maxLines is how many lines a picture can have and be read. Of more systems those
// with a single load are left to the table of figures.
const maxLines = 12

// swept are the systems of a load that has two values or more in one of them, and how
// many were left out.
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
			s.look = lookOf(i)
		}
		return load, all, n - len(all)
	}
	return "", nil, 0
}

// line is a unit of a system over its load, or the first of several that a row has.
func (s *system) line(of func(r *Row) (spread, bool)) line {
	l := line{name: s.name, look: s.look}
	for _, r := range s.rows {
		if v, has := of(r); has {
			_, x, _ := r.load()
			l.add(x, v)
		}
	}
	return l
}
