package dashboard

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/benchline"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Figure holds the values of one unit of one benchmark, one per sample.
type Figure struct {
	Benchmark string // the name, followed by the settings in which benchmarks with this name differ
	Unit      string
	Better    string // "higher", "lower", or "" for units without a direction
	Values    []float64
}

// Results holds the results of a text in Go benchmark format.
type Results struct {
	All     []benchfile.Result
	Figures []Figure // in order of appearance
}

// Read reads a text in Go benchmark format. Errors refer to the text as file. The text's Unit lines say which
// direction is better; units without such a line have the direction that llmbench or the testing package
// defines for them.
func Read(text []byte, file string) (*Results, error) {
	all, err := benchfile.Read(bytes.NewReader(text), file)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no results", file)
	}
	directions := directionsIn(text)
	names := distinct(all)
	res := &Results{All: all}
	at := map[[2]string]int{}
	for i, r := range all {
		for _, v := range r.Values {
			key := [2]string{names[i], v.Unit}
			if _, ok := at[key]; !ok {
				at[key] = len(res.Figures)
				better, known := directions[v.Unit]
				if !known {
					better = direction(v.Unit)
				}
				res.Figures = append(res.Figures, Figure{Benchmark: names[i], Unit: v.Unit, Better: better})
			}
			f := &res.Figures[at[key]]
			f.Values = append(f.Values, v.Value)
		}
	}
	return res, nil
}

// directionsIn returns the value of "better" in the text's Unit lines, keyed by unit.
func directionsIn(text []byte) map[string]string {
	all := map[string]string{}
	for u := range benchline.Records[*benchfmt.UnitMetadata](text) {
		if u.Key == "better" {
			all[cmp.Or(u.OrigUnit, u.Unit)] = u.Value
		}
	}
	return all
}

// direction returns the direction, "higher", "lower" or "", of a unit that has no Unit line.
func direction(unit string) string {
	switch unit {
	case "ns/op", "B/op", "allocs/op":
		return "lower"
	case "MB/s":
		return "higher"
	}
	return sample.Better(unit)
}

// distinct returns a name for each result. If results with the same name have different configurations, the
// names get the differing settings as suffixes, because dashboards tell results apart only by name.
func distinct(all []benchfile.Result) []string {
	values := map[string]map[string][]string{} // the distinct values, keyed by name and configuration key
	of := map[string][]int{}
	for i, r := range all {
		of[r.Name.Full] = append(of[r.Name.Full], i)
	}
	for name, indexes := range of {
		values[name] = map[string][]string{}
		for _, i := range indexes {
			for _, s := range all[i].Config {
				values[name][s.Key] = nil
			}
		}
		for key := range values[name] {
			for _, i := range indexes {
				if v := benchfile.Lookup(all[i].Config, key); !slices.Contains(values[name][key], v) {
					values[name][key] = append(values[name][key], v)
				}
			}
		}
	}
	names := make([]string, len(all))
	for i, r := range all {
		names[i] = r.Name.Full
		var differ []string
		for key, v := range values[r.Name.Full] {
			if len(v) > 1 && !slices.Contains(gate.Ignored(), key) {
				differ = append(differ, "/"+key+"="+strings.Join(strings.Fields(benchfile.Lookup(r.Config, key)), "_"))
			}
		}
		slices.Sort(differ)
		names[i] += strings.Join(differ, "")
	}
	return names
}

// A spread holds the median, the minimum and the maximum of some values.
type spread struct{ mid, low, high float64 }

func spreadOf(values []float64) spread {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	return spread{(v[(n-1)/2] + v[n/2]) / 2, v[0], v[n-1]}
}
