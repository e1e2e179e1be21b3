package shard

import (
	"fmt"
	"strings"
)

// A Fact is something that must be the same in all processes, such as the value of a variable.
type Fact struct{ Name, Value string }

// differences describes the differences between the facts of two processes, or returns "".
func differences(a, b []Fact, nameA, nameB string) string {
	values := func(all []Fact) map[string]string {
		m := map[string]string{}
		for _, f := range all {
			m[f.Name] = f.Value
		}
		return m
	}
	inA, inB := values(a), values(b)
	var texts []string
	tell := func(name string) {
		va, vb := inA[name], inB[name]
		if va != vb {
			texts = append(texts, fmt.Sprintf("%s: %s in %s, %s in %s", name, shown(va), nameA, shown(vb), nameB))
		}
	}
	for _, f := range a {
		tell(f.Name)
	}
	for _, f := range b {
		if _, told := inA[f.Name]; !told {
			tell(f.Name)
		}
	}
	return strings.Join(texts, "; ")
}

// shown formats a value for display.
func shown(value string) string {
	const most = 100
	switch {
	case value == "":
		return "none"
	case len(value) > most:
		return value[:most] + "…"
	}
	return value
}
