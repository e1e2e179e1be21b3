package resultfile

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Distinguish renames benchmarks that have the same name although they are not samples of the same thing, on all sides
// alike. It adds to a name, in this order:
//   - the series of the file, if results come from different series. A series is a set of files whose names end with the
//     time of the run, and are equal before it. Users name files after properties that the contents do not have;
//   - the settings in which results of a side differ, unless o.Ignore has them: /n_cpu_moe=20. Settings in which only
//     the sides differ stay out of the names, because they are configuration, which whoever compares the sides checks;
//   - the mean length of prompts or answers, if these lengths differ in a side so much that they were meant to differ:
//     /in-tok=512. Many tools do not write down which lengths were asked for.
//
// Lengths that differ less within a benchmark of a side, but by more than 2 %, become a note of the side.
func Distinguish(o Options, sides ...*Side) {
	distinguishSeries(sides)
	distinguishSettings(o.Ignore, sides)
	for _, unit := range lengths {
		distinguishLengths(unit, sides)
	}
	for _, s := range sides {
		s.noteLengths()
	}
}

// lengths are the units of mean lengths.
var lengths = []string{sample.PromptLength, sample.OutputLength}

// dated matches the end of a file name that consists of the time of the run.
var dated = regexp.MustCompile(`[-_]?\d{8}[-_]\d{6}$`)

// series returns the name of a file without the time of the run, or "" if the name does not contain the
// time.
func (f *File) series() string {
	stem := strings.TrimSuffix(filepath.Base(f.Path), filepath.Ext(f.Path))
	if s := dated.ReplaceAllString(stem, ""); s != stem {
		return s
	}
	return ""
}

// distinguishSeries adds the series of the file to the names of benchmarks that come from different series.
func distinguishSeries(sides []*Side) {
	of := map[string]string{} // series, by name of the benchmark
	mixed := map[string]bool{}
	visit := func(do func(r *Result, series string)) {
		for _, s := range sides {
			for f, r := range s.results() {
				if series := f.series(); series != "" {
					do(r, series)
				}
			}
		}
	}
	visit(func(r *Result, series string) {
		if first, ok := of[r.Name]; ok && first != series {
			mixed[r.Name] = true
		}
		of[r.Name] = series
	})
	visit(func(r *Result, series string) {
		if mixed[r.Name] {
			base, load, _ := strings.Cut(r.Name, "/")
			r.Name = strings.TrimSuffix(base+"/file="+word(series)+"/"+load, "/")
		}
	})
}

// rows returns the results of each benchmark, by side, in the order in which the benchmarks first appear.
func rows(sides []*Side) (all [][][]*Result) {
	at := map[string]int{}
	for i, s := range sides {
		for _, r := range s.results() {
			if _, ok := at[r.Name]; !ok {
				at[r.Name] = len(all)
				all = append(all, make([][]*Result, len(sides)))
			}
			row := all[at[r.Name]]
			row[i] = append(row[i], r)
		}
	}
	return all
}

// maxApart is the maximum number of settings in a name.
const maxApart = 16

// distinguishSettings adds settings to the names of benchmarks whose results differ in them within a side. Of several
// settings that tell the same results apart, it adds the first.
func distinguishSettings(ignore []string, sides []*Side) {
	for _, row := range rows(sides) {
		var keys []string
		for _, results := range row {
			for _, key := range varying(results) {
				if !slices.Contains(keys, key) && !slices.Contains(ignore, key) {
					keys = append(keys, key)
				}
			}
		}
		if len(keys) == 0 {
			continue
		}
		facts := map[*Result]map[string]string{}
		for _, r := range slices.Concat(row...) {
			facts[r] = r.facts()
		}
		var chosen []string
		count, all := 1, combinations(facts, keys)
		for _, key := range keys {
			if count == all || len(chosen) == maxApart {
				break
			}
			with := append(slices.Clone(chosen), key)
			if n := combinations(facts, with); n > count {
				chosen, count = with, n
			}
		}
		noteSettings(row, facts, sides, chosen, keys)
		for r, of := range facts {
			for _, key := range chosen {
				value := cmp.Or(of[key], "not set")
				r.Name += "/" + word(key) + "=" + word(value)
				r.apart = append(r.apart, benchfile.Setting{Key: key, Value: value})
			}
		}
	}
}

// noteSettings adds a note to the first side whose results of a benchmark differ in a chosen setting: the note says that
// these results become different benchmarks. keys are all settings in which results of a side differ.
func noteSettings(row [][]*Result, facts map[*Result]map[string]string, sides []*Side, chosen, keys []string) {
	for i, results := range row {
		var texts []string
		for _, key := range chosen {
			var values []string
			for _, r := range results {
				if v := cmp.Or(facts[r][key], "not set"); !slices.Contains(values, v) {
					values = append(values, v)
				}
			}
			if len(values) > 1 {
				texts = append(texts, key+" is "+some(values))
			}
		}
		if len(texts) > 0 {
			sides[i].Notes = append(sides[i].Notes, fmt.Sprintf("%s: %s: %s, so these are different benchmarks (benchgate -ignore=%s makes them samples of one)",
				sides[i].Path, results[0].Name, strings.Join(texts, "; "), strings.Join(keys, ",")))
			return
		}
	}
}

// facts returns the configuration and the settings of a result.
func (r *Result) facts() map[string]string {
	all := map[string]string{}
	for _, s := range slices.Concat(r.Config, r.Settings) {
		all[s.Key] = s.Value
	}
	return all
}

// varying returns the keys in which results differ, in the order in which they first appear.
func varying(results []*Result) (keys []string) {
	first, count := map[string]string{}, map[string]int{}
	differs := map[string]bool{}
	var order []string
	for _, r := range results {
		for _, s := range slices.Concat(r.Config, r.Settings) {
			if count[s.Key]++; count[s.Key] == 1 {
				first[s.Key] = s.Value
				order = append(order, s.Key)
			} else if s.Value != first[s.Key] {
				differs[s.Key] = true
			}
		}
	}
	return slices.DeleteFunc(order, func(key string) bool { return !differs[key] && count[key] == len(results) })
}

// combinations returns how many combinations of the values of keys there are.
func combinations(facts map[*Result]map[string]string, keys []string) int {
	seen := map[string]bool{}
	for _, f := range facts {
		id := ""
		for _, key := range keys {
			id += strconv.Quote(f[key])
		}
		seen[id] = true
	}
	return len(seen)
}

// lengthGap is a ratio. If the results of a benchmark are sorted by mean length, and a length is at least lengthGap times
// the length before it, then the two were not meant to be equal. Lengths that servers or data sets choose also vary, but
// then other runs lie in between.
const lengthGap = 1.1

// lengthTolerance is the share by which mean lengths of a benchmark may differ without a note. The sides may differ by as
// much; see alike.
const lengthTolerance = 0.02

// distinguishLengths adds the mean length in a unit to the names of benchmarks whose results have several lengths within
// a side.
func distinguishLengths(unit string, sides []*Side) {
	for _, row := range rows(sides) {
		several := func(results []*Result) bool { return len(groups(unit, results)) > 1 }
		if !slices.ContainsFunc(row, several) {
			continue
		}
		all := groups(unit, slices.Concat(row...))
		for _, group := range all {
			if len(all) == 1 {
				break
			}
			middle := group[len(group)/2].value(unit)
			key, text := strings.TrimSuffix(unit, "/req"), strconv.FormatFloat(middle, 'f', 0, 64)
			for _, r := range group {
				r.Name += "/" + key + "=" + text
				r.Load = append(r.Load, benchfile.Setting{Key: unit, Value: text})
			}
		}
	}
}

// groups sorts the results that have a unit by its value, and divides them where the value grows by lengthGap or more.
func groups(unit string, results []*Result) (all [][]*Result) {
	results = slices.DeleteFunc(slices.Clone(results), func(r *Result) bool { return !r.has(unit) })
	slices.SortStableFunc(results, func(a, b *Result) int { return cmp.Compare(a.value(unit), b.value(unit)) })
	for i, r := range results {
		if i == 0 || r.value(unit) >= lengthGap*results[i-1].value(unit) {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], r)
	}
	return all
}

// value returns the value in a unit, or 0.
func (r *Result) value(unit string) float64 {
	for _, v := range r.Values {
		if v.Unit == unit {
			return v.Value
		}
	}
	return 0
}

// noteLengths adds a note for each benchmark whose results differ by more than lengthTolerance in the mean length of prompts
// or answers.
func (s *Side) noteLengths() {
	for _, row := range rows([]*Side{s}) {
		for _, unit := range lengths {
			var all []float64
			for _, r := range row[0] {
				if r.has(unit) {
					all = append(all, r.value(unit))
				}
			}
			if len(all) == 0 {
				continue
			}
			if least, most := slices.Min(all), slices.Max(all); most-least > lengthTolerance*most {
				s.Notes = append(s.Notes, fmt.Sprintf("%s: %s: %s is from %.4g to %.4g, more than %g%% apart: want runs of equal lengths", s.Path, row[0][0].Name, unit, least, most, 100*lengthTolerance))
			}
		}
	}
}
