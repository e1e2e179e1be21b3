package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// circles returns the circles of files that use each other: the strongly connected components with
// more than one file. The files of each circle are in alphabetical order, and the largest circle is
// the first. It uses Tarjan's algorithm (https://doi.org/10.1137/0201010).
func (r *room) circles() [][]string {
	var (
		circles [][]string
		stack   []string
		index   = map[string]int{} // the order in which the files were first visited, from 1
		low     = map[string]int{} // the earliest file on the stack that can be reached from a file
	)
	var visit func(file string)
	visit = func(file string) {
		index[file] = len(index) + 1
		low[file] = index[file]
		stack = append(stack, file)
		for _, next := range slices.Sorted(maps.Keys(r.uses[file])) {
			if index[next] == 0 {
				visit(next)
				low[file] = min(low[file], low[next])
			} else if slices.Contains(stack, next) {
				low[file] = min(low[file], index[next])
			}
		}
		if low[file] < index[file] {
			return
		}
		first := slices.Index(stack, file)
		if circle := slices.Sorted(slices.Values(stack[first:])); len(circle) > 1 {
			circles = append(circles, circle)
		}
		stack = stack[:first]
	}
	for _, file := range slices.Sorted(maps.Keys(r.uses)) {
		if index[file] == 0 {
			visit(file)
		}
	}
	slices.SortStableFunc(circles, func(a, b []string) int { return len(b) - len(a) })
	return circles
}

// reasons returns a line for each pair of files of a circle where one file uses names of the other.
func (r *room) reasons(pkg string, circle []string) []string {
	var lines []string
	for _, from := range circle {
		for _, to := range circle {
			if names := slices.Sorted(maps.Keys(r.uses[from][to])); len(names) > 0 {
				lines = append(lines, fmt.Sprintf("%s: %s uses %s: %s", pkg, from, to, strings.Join(names, " ")))
			}
		}
	}
	return lines
}
