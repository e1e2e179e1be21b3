package rowname

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/columns"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compare"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Benchmark is the name of a benchmark without the prefix "Benchmark", and its package.
type Benchmark struct{ Package, Name string }

// Names names benchmarks by what tells them apart.
type Names struct {
	shared                [][]byte
	packages, bases, ends map[string]bool // a base is a package and the first word of a name
}

// Of returns the names of the given benchmarks.
func Of(all []Benchmark) *Names {
	n := &Names{packages: map[string]bool{}, bases: map[string]bool{}, ends: map[string]bool{}}
	for i, b := range all {
		base, parts := benchfmt.Name(b.Name).Parts()
		n.packages[b.Package], n.bases[b.Package+"."+string(base)] = true, true
		end := ""
		parts = slices.DeleteFunc(parts, func(p []byte) bool {
			if p[0] == '-' {
				end = string(p)
			}
			return p[0] == '-'
		})
		n.ends[end] = true
		if i == 0 {
			n.shared = parts
		}
		n.shared = slices.DeleteFunc(n.shared, func(p []byte) bool { return !has(parts, p) })
	}
	return n
}

func has(parts [][]byte, part []byte) bool {
	return slices.ContainsFunc(parts, func(p []byte) bool { return bytes.Equal(p, part) })
}

// Shared returns the parts that all names have in common, apart from GOMAXPROCS: "/backend=vllm/model=yi-6b".
func (n *Names) Shared() string { return string(bytes.Join(n.shared, nil)) }

// Common returns what all names have in common as one name, which begins with the first word of names if there is only
// one: "Chat/backend=vllm/model=yi-6b".
func (n *Names) Common() string {
	if len(n.bases) != 1 {
		return n.Shared()
	}
	return strings.TrimPrefix(slices.Collect(maps.Keys(n.bases))[0], n.Package()+".") + n.Shared()
}

// Package returns the package of all benchmarks, or "" if there are several packages.
func (n *Names) Package() string {
	if len(n.packages) != 1 {
		return ""
	}
	return slices.Collect(maps.Keys(n.packages))[0]
}

// Rest returns the name of a benchmark without the parts that Shared has, and with its package if there are several:
// "Chat/concurrency=8-2".
func (n *Names) Rest(b Benchmark) string {
	base, parts := benchfmt.Name(b.Name).Parts()
	s := n.qualified(b.Package, string(base))
	for _, p := range parts {
		if !has(n.shared, p) {
			s += string(p)
		}
	}
	return s
}

func (n *Names) qualified(pkg, base string) string {
	if len(n.packages) > 1 && pkg != "" {
		return pkg + "." + base
	}
	return base
}

// split returns in words what tells a benchmark from the others: its load, and the rest.
func (n *Names) split(b Benchmark) (rest []string, load string) {
	base, parts := benchfmt.Name(b.Name).Parts()
	staged := slices.ContainsFunc(parts, func(p []byte) bool { return bytes.HasPrefix(p, []byte("/stages=")) })
	if len(n.bases) > 1 {
		rest = append(rest, n.qualified(b.Package, string(base)))
	}
	for _, p := range parts {
		switch part := string(p[1:]); {
		case p[0] == '-':
			if len(n.ends) > 1 {
				rest = append(rest, string(p))
			}
		case has(n.shared, p):
		case inWords(part) == "":
			rest = append(rest, part)
		case staged && strings.HasPrefix(part, "concurrency="):
			load = "up to " + inWords(part)
		case staged && strings.HasPrefix(part, "rate="):
			load = "a mean of " + inWords(part)
		case load != "":
			load += ", " + inWords(part)
		default:
			load = inWords(part)
		}
	}
	return rest, load
}

// Row names a unit of a benchmark: "output tokens per second at 8 users". A unit that package sample does not have stays
// as it is, behind the name of the benchmark: "Chat/concurrency=8-2 ns/op".
func (n *Names) Row(b Benchmark, unit string) string {
	if words := Unit(unit); words != unit {
		return n.Of(words, b)
	}
	return n.Rest(b) + " " + unit
}

// Of names something of a benchmark: "vllm: p99_ttft_ms at 8 users". If nothing tells the benchmark from the others, the
// name has the benchmark's first word: "output tokens per second, Chat".
func (n *Names) Of(what string, b Benchmark) string {
	rest, load := n.split(b)
	if load == "" && len(rest) == 0 {
		base, _ := benchfmt.Name(b.Name).Parts()
		rest = []string{string(base)}
	}
	s := strings.Join(append([]string{what}, rest...), ", ")
	if load == "" {
		return s
	}
	if strings.Contains(s, ",") {
		s += ","
	}
	return s + " at " + load
}

// Benchmark names a benchmark: "Chat, 8 users". It returns "" if nothing tells it from the others.
func (n *Names) Benchmark(b Benchmark) string {
	rest, load := n.split(b)
	if load != "" {
		rest = append(rest, load)
	}
	return strings.Join(rest, ", ")
}

// inWords spells a part of a name that is a load: "8 users" for concurrency=8. It returns "" for other parts.
func inWords(part string) string {
	key, value, _ := strings.Cut(part, "=")
	load, v := compare.LoadOf(func(k string) string {
		if k == key {
			return value
		}
		return ""
	})
	if load == "" {
		return ""
	}
	return compare.Load(load, v)
}

// Unit spells a unit: "time to first token, p50". A unit that neither package sample nor columns.Titles has stays as it is,
// and so does tok/s, which may be any tokens of another program.
func Unit(unit string) string {
	if _, known := sample.Find(sample.Units, unit); !known && (columns.Titles[unit] == "" || unit == sample.TokenRate) {
		return unit
	}
	return columns.Words(unit)
}
