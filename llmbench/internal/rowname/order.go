package rowname

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// Compare compares benchmarks by their packages, and their names part by part. Values that are numbers are in the order
// of their size, so that concurrency=8 is before concurrency=16.
func Compare(a, b Benchmark) int {
	base, parts := benchfmt.Name(a.Name).Parts()
	otherBase, others := benchfmt.Name(b.Name).Parts()
	return cmp.Or(strings.Compare(a.Package, b.Package), strings.Compare(string(base), string(otherBase)), slices.CompareFunc(parts, others, comparePart))
}

func comparePart(a, b []byte) int {
	key, value, _ := strings.Cut(string(a), "=")
	otherKey, otherValue, _ := strings.Cut(string(b), "=")
	if key != otherKey {
		return strings.Compare(key, otherKey)
	}
	v, err := strconv.ParseFloat(value, 64)
	w, otherErr := strconv.ParseFloat(otherValue, 64)
	switch {
	case err == nil && otherErr == nil:
		return cmp.Compare(v, w)
	case err == nil:
		return -1
	case otherErr == nil:
		return +1
	}
	return strings.Compare(value, otherValue)
}
