package dashboard

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// A File is a file to be written.
type File struct {
	Name string
	Data []byte
}

// GitHubActionBenchmark returns the results as files for github-action-benchmark. The tool needs the direction
// per file, so there is one file for customSmallerIsBetter and one for customBiggerIsBetter; an empty file is
// omitted. The notes name the units that neither file has because their direction is unknown. The value of an
// entry is the median of the samples
// (https://github.com/benchmark-action/github-action-benchmark/blob/master/src/extract.ts, BenchmarkResult).
func GitHubActionBenchmark(r *Results) (files []File, notes []string, err error) {
	type entry struct {
		Name  string  `json:"name"`
		Value float64 `json:"value"`
		Unit  string  `json:"unit"`
		Range string  `json:"range,omitempty"`
		Extra string  `json:"extra"`
	}
	entries := map[string][]entry{}
	var without []string
	for _, f := range r.Figures {
		if f.Better == "" && !slices.Contains(without, f.Unit) {
			without = append(without, f.Unit)
		}
		s := spreadOf(f.Values)
		e := entry{Name: f.Benchmark + " " + f.Unit, Value: s.mid, Unit: f.Unit, Extra: numbers.Count(len(f.Values), "sample")}
		if len(f.Values) > 1 {
			e.Range = "± " + strconv.FormatFloat((s.high-s.low)/2, 'g', 4, 64)
		}
		entries[f.Better] = append(entries[f.Better], e)
	}
	for _, side := range []struct{ better, name string }{{"lower", "customSmallerIsBetter.json"}, {"higher", "customBiggerIsBetter.json"}} {
		if len(entries[side.better]) == 0 {
			continue
		}
		data, err := json.MarshalIndent(entries[side.better], "", "  ")
		if err != nil {
			return nil, nil, err
		}
		files = append(files, File{side.name, append(data, '\n')})
	}
	if len(without) > 0 {
		notes = append(notes, "left out, because they have no direction: "+strings.Join(without, ", "))
	}
	if len(files) == 0 {
		return nil, nil, fmt.Errorf("no unit has a direction: want a line such as \"Unit %s better=lower\"", r.Figures[0].Unit)
	}
	return files, notes, nil
}

// Length limits of Bencher for names, in bytes
// (https://github.com/bencherdev/bencher/blob/main/lib/bencher_valid/src/benchmark_name.rs and
// resource_name.rs).
const (
	maxBencherName    = 1024
	maxBencherMeasure = 50
)

// Bencher returns the results in the Bencher Metric Format: the median of the samples and, if there are
// several, their minimum and maximum
// (https://github.com/bencherdev/bencher/blob/main/lib/bencher_adapter/src/adapters/json/v0.rs). The format has
// no directions. Instead, each threshold in Bencher has an upper or a lower boundary; the notes list which
// units need which.
func Bencher(r *Results) (data []byte, notes []string, err error) {
	type metric struct {
		Value float64  `json:"value"`
		Lower *float64 `json:"lower_value,omitempty"`
		Upper *float64 `json:"upper_value,omitempty"`
	}
	all := map[string]map[string]metric{}
	boundaries := map[string][]string{}
	for _, f := range r.Figures {
		switch {
		case len(f.Benchmark) > maxBencherName:
			return nil, nil, fmt.Errorf("benchmark %.40s…: the name has %d bytes: Bencher takes %d", f.Benchmark, len(f.Benchmark), maxBencherName)
		case len(f.Unit) > maxBencherMeasure:
			return nil, nil, fmt.Errorf("unit %s: the name has %d bytes: Bencher takes %d", f.Unit, len(f.Unit), maxBencherMeasure)
		case all[f.Benchmark] == nil:
			all[f.Benchmark] = map[string]metric{}
		}
		s := spreadOf(f.Values)
		m := metric{Value: s.mid}
		if len(f.Values) > 1 {
			m.Lower, m.Upper = &s.low, &s.high
		}
		all[f.Benchmark][f.Unit] = m
		if !slices.Contains(boundaries[f.Better], f.Unit) {
			boundaries[f.Better] = append(boundaries[f.Better], f.Unit)
		}
	}
	for _, b := range []struct{ better, flag string }{{"higher", "--threshold-lower-boundary"}, {"lower", "--threshold-upper-boundary"}} {
		if units := boundaries[b.better]; len(units) > 0 {
			notes = append(notes, fmt.Sprintf("%s is better: thresholds of bencher run want %s for %s", b.better, b.flag, strings.Join(units, ", ")))
		}
	}
	data, err = json.MarshalIndent(all, "", "  ")
	return append(data, '\n'), notes, err
}

// CSV returns the results as a table (RFC 4180) with a line for each value of each sample. Its columns are the
// benchmark, the number of the sample counted from 1, the unit, the value, the better direction, and one column
// for each key of names and configuration. A text that a spreadsheet would take for a formula is preceded by an
// apostrophe.
func CSV(r *Results) ([]byte, error) {
	better := map[string]string{}
	for _, f := range r.Figures {
		better[f.Unit] = f.Better
	}
	var keys []string
	settings := func(res *benchfile.Result) []benchfile.Setting { return slices.Concat(res.Name.Keys, res.Config) }
	for i := range r.All {
		for _, s := range settings(&r.All[i]) {
			if !slices.Contains(keys, s.Key) {
				keys = append(keys, s.Key)
			}
		}
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(redact.Cells(append([]string{"benchmark", "sample", "unit", "value", "better"}, keys...)...))
	names := distinct(r.All)
	samples := map[string]int{}
	for i := range r.All {
		res := &r.All[i]
		samples[names[i]]++
		var rest []string
		for _, key := range keys {
			rest = append(rest, benchfile.Lookup(settings(res), key))
		}
		for _, v := range res.Values {
			w.Write(redact.Cells(append([]string{names[i], strconv.Itoa(samples[names[i]]), v.Unit, strconv.FormatFloat(v.Value, 'f', -1, 64), better[v.Unit]}, rest...)...))
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}
