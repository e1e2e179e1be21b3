package systems

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compare"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
)

// A Group holds the rows that are shown in the same pictures. They have the same base name, and the
// same values of the keys that separate pictures.
type Group struct {
	Title   string
	Rows    []*results.Row // sorted by system, and then by load
	Systems []*System
}

// A System is a line of a picture. Its rows differ only in their load.
type System struct {
	Name string // "" if it is the only system of the group
	Load string // the key of the load, or ""
	Rows []*results.Row
	// Found is true if a search over loads, such as the search for a knee, found the rows. Then
	// they are not a system to compare, but an answer about the others.
	Found bool
}

// DefaultParts holds the keys of names that separate pictures, unless others are chosen.
var DefaultParts = []string{"workload", "model"}

// endpoints holds the keys of names that tell the endpoints of a server apart, by the base name of the benchmarks. Endpoints
// are parts of one system. They do different work, so one is not faster than the other, and each has pictures of its own.
var endpoints = map[string][]string{"Locust": {"type", "name"}}

// Groups divides rows into groups, by the base names, by the values of the keys in parts, and by endpoints.
func Groups(rows []*results.Row, parts []string) []*Group {
	var all []*Group
	by := map[string]*Group{}
	for _, r := range rows {
		title := r.Base
		for _, key := range slices.Concat(parts, endpoints[r.Base]) {
			if v := r.Key(key); v != "" {
				title += " " + v
			}
		}
		g := by[title]
		if g == nil {
			g = &Group{Title: title}
			by[title] = g
			all = append(all, g)
		}
		g.Rows = append(g.Rows, r)
	}
	for _, g := range all {
		g.divide()
	}
	return all
}

// divide divides the group into systems, and names each by what distinguishes it.
func (g *Group) divide() {
	by := map[string]*System{}
	for _, r := range g.Rows {
		load, _ := r.Load()
		id := fmt.Sprintf("%q %q %q %q", r.File, load, results.Identity(r.Config), without(r.Keys, load))
		s := by[id]
		if s == nil {
			s = &System{Load: load, Found: r.Key("upto") != ""}
			by[id] = s
			g.Systems = append(g.Systems, s)
		}
		s.Rows = append(s.Rows, r)
	}
	g.Rows = nil
	for _, s := range g.Systems {
		slices.SortStableFunc(s.Rows, func(a, b *results.Row) int {
			_, x := a.Load()
			_, y := b.Load()
			return cmp.Or(cmp.Compare(x, y), results.Compare(a, b))
		})
		g.Rows = append(g.Rows, s.Rows...)
	}
	isFound := func(s *System) bool { return s.Found }
	isMeasured := func(s *System) bool { return !s.Found }
	name(slices.DeleteFunc(slices.Clone(g.Systems), isFound))
	name(slices.DeleteFunc(slices.Clone(g.Systems), isMeasured))
}

// name names systems by what distinguishes them.
func name(all []*System) {
	var first []*results.Row
	var loads []string
	for _, s := range all {
		first, loads = append(first, s.Rows[0]), append(loads, s.Load)
	}
	names := Labels(first, loads...)
	for i, s := range all {
		s.Name = names[i]
		for j, o := range all { // these systems differ only in the kind of their load
			if names[j] == names[i] && o.Load != s.Load {
				s.Name = strings.TrimSpace(names[i] + " over " + cmp.Or(s.Load, "no load"))
			}
		}
	}
}

func without(all []benchfile.Setting, keys ...string) []benchfile.Setting {
	return slices.DeleteFunc(slices.Clone(all), func(s benchfile.Setting) bool { return slices.Contains(keys, s.Key) })
}

// maxLines is the largest number of lines with which a picture is legible. If there are more
// systems, those with a single load are only in the table of values.
const maxLines = 12

// Place returns the place of a system among the systems that are drawn over the load, or, if it is not drawn, among all:
// the number of its look.
func (g *Group) Place(s *System) int {
	_, swept, _ := g.Swept()
	if i := slices.Index(swept, s); i >= 0 {
		return i
	}
	return slices.Index(g.Systems, s)
}

// Swept finds a load that has at least two values in one of the systems. It returns the load, the
// systems to draw over it, and the number of systems that are left out. If there is no such load,
// load is "".
func (g *Group) Swept() (load string, all []*System, left int) {
	for _, load := range compare.LoadKeys {
		most := 0
		all = nil
		for _, s := range g.Systems {
			if s.Load == load {
				all = append(all, s)
				most = max(most, len(s.Rows))
			}
		}
		if most < 2 {
			continue
		}
		n := len(all)
		if n > maxLines {
			all = slices.DeleteFunc(all, func(s *System) bool { return len(s.Rows) < 2 })
		}
		return load, all, n - len(all)
	}
	return "", nil, 0
}
