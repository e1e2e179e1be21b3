package benchfile

import (
	"strings"

	"golang.org/x/perf/benchfmt"
)

// A Setting is a key with its value: of a benchmark's name, or of a configuration line.
type Setting struct{ Key, Value string }

// Lookup returns the value of the first setting with that key, or "".
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
	Full  string    // without "Benchmark"
	Base  string    // the parts that are not key=value: "Chat"
	Keys  []Setting // backend=mock, concurrency=8
	Procs string    // GOMAXPROCS, as the testing package appends it unless it is 1: "2"
}

// ParseRunning takes apart the name of a running benchmark, as testing.B.Name returns it
// and records have it. In contrast to the name of a result it never ends with GOMAXPROCS, so that
// "-7" at its end is a part of a value.
func ParseRunning(text string) Name {
	n := ParseName(text + "-1")
	n.Full, n.Procs = n.WithoutProcs(), ""
	return n
}

// ParseName takes the name of a result apart. It may begin with "Benchmark".
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
