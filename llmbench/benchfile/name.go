package benchfile

import (
	"strings"

	"golang.org/x/perf/benchfmt"
)

// A Setting is a key with its value, from a benchmark's name or from a configuration line.
type Setting struct{ Key, Value string }

// Lookup returns the value of the first setting with the given key, or "".
func Lookup(all []Setting, key string) string {
	for _, s := range all {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// A Name is the name of a benchmark, such as "Chat/backend=mock/concurrency=8-2".
type Name struct {
	Full  string    // without the prefix "Benchmark"
	Base  string    // the name without its key=value parts: "Chat"
	Keys  []Setting // backend=mock, concurrency=8
	Procs string    // GOMAXPROCS, which the testing package appends unless it is 1: "2"
}

// ParseRunning parses the name of a running benchmark, as returned by testing.B.Name and stored in records.
// Unlike the name of a result, such a name never ends with GOMAXPROCS, so a "-7" at its end is part of a
// value.
func ParseRunning(text string) Name {
	n := ParseName(text + "-1")
	n.Full, n.Procs = n.WithoutProcs(), ""
	return n
}

// ParseName parses the name of a result, with or without the prefix "Benchmark".
func ParseName(text string) Name {
	n := Name{Full: strings.TrimPrefix(text, "Benchmark")}
	base, parts := benchfmt.Name(n.Full).Parts()
	n.Base = string(base)
	for _, p := range parts {
		part := string(p)
		if procs, ok := strings.CutPrefix(part, "-"); ok {
			n.Procs = procs
		} else if key, value, ok := strings.Cut(strings.TrimPrefix(part, "/"), "="); ok {
			n.Keys = append(n.Keys, Setting{key, value})
		} else {
			n.Base += part
		}
	}
	return n
}

// Key returns the value of a key, or "".
func (n Name) Key(key string) string { return Lookup(n.Keys, key) }

// WithoutProcs returns the full name without GOMAXPROCS.
func (n Name) WithoutProcs() string {
	if n.Procs == "" {
		return n.Full
	}
	return strings.TrimSuffix(n.Full, "-"+n.Procs)
}
