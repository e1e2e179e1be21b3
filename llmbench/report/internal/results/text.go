package results

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// largest is the largest value that can be drawn. Sums and multiples of such values are still
// finite.
const largest = 1e100

// Parse reads a file in Go benchmark format. All results of one benchmark with one configuration
// form one row. A line that a benchmark logged becomes a doubt of its row. If a benchmark has no
// result, it has a row without values in failed, which gets its log lines.
func Parse(data []byte, name string) (rows, failed []*Row, err error) {
	results, err := benchfile.Read(bytes.NewReader(data), name)
	if err != nil {
		return nil, nil, err
	}
	byID := map[string]*Row{}
	at := map[string][]result{} // the results of each name
	truths := truthsOf(data)
	for _, res := range results {
		id := fmt.Sprintf("%q%q", res.Name.Full, Identity(res.Config))
		row := byID[id]
		if row == nil {
			row = newRow(res.Name)
			row.File, row.Line, row.Config = name, res.Line, res.Config
			byID[id] = row
			for _, l := range truths {
				if l.line < res.Line {
					row.Truth = l.text
				}
			}
			rows = append(rows, row)
		}
		at[row.Name] = append(at[row.Name], result{res.Line, row, row.count})
		row.count++
		for _, v := range res.Values {
			if math.Abs(v.Value) > largest {
				return nil, nil, fmt.Errorf("%s:%d: %s is %v: want at most %v to draw it", name, res.Line, v.Unit, v.Value, largest)
			}
			row.add(v.Unit, v.Value)
		}
	}
	missing := map[string]*Row{}
	for _, l := range logsOf(data) {
		row, samples := before(at[l.benchmark], l)
		empty := FirstLine(l.text) == ""
		if empty && (row != nil || missing[l.benchmark] != nil) {
			continue // an empty text says nothing
		}
		if row == nil {
			if row = missing[l.benchmark]; row == nil {
				row = newRow(benchfile.ParseName(l.benchmark))
				row.File, row.Line, row.Failed = name, l.line, cmp.Or(FirstLine(l.text), "the log does not say why")
				missing[l.benchmark] = row
				failed = append(failed, row)
			}
		}
		if empty {
			continue
		}
		known := slices.Clone(row.Units)
		for _, u := range sample.Units {
			known = append(known, u.Name)
		}
		doubt := logged(l.text, known)
		doubt.Samples = samples
		row.doubt(doubt)
	}
	for _, row := range rows {
		row.doubts()
	}
	if len(rows) == 0 && len(failed) == 0 {
		return nil, nil, fmt.Errorf("%s: no results: want a file in Go benchmark format", name)
	}
	return rows, failed, nil
}

// truthsOf returns the comments that say how fast a simulated server is. Each is about the results
// below it, up to the next one.
func truthsOf(data []byte) (all []logLine) {
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if text, found := bytes.CutPrefix(line, []byte("# the server is simulated: ")); found {
			all = append(all, logLine{line: n, text: strings.TrimSpace(string(text))})
		}
	}
	return all
}

// A result is a line of the file with a result. It is a sample of a row.
type result struct {
	line   int
	row    *Row
	sample int
}

// before returns the row of the last result before a text, and the samples that the text is about. If there is no
// result before the text, it returns the row of the first result, and nil, which means all samples. If there are no
// results, the row is nil. A sample that failed or was skipped has no result, so its text is about none of the samples.
func before(all []result, l logLine) (row *Row, samples []int) {
	for _, r := range all {
		switch {
		case r.line < l.line:
			row, samples = r.row, []int{r.sample}
		case row == nil:
			row = r.row
		}
	}
	if row != nil && l.failed {
		samples = []int{}
	}
	return row, samples
}

// A logLine is a text that a benchmark logged. It may have several lines.
type logLine struct {
	benchmark string // the name without "Benchmark"
	line      int    // the number of the line in the file, from 1
	failed    bool   // the benchmark failed or was skipped
	text      string
}

// logsOf returns what benchmarks logged. Package testing prints a line "--- BENCH: name" (or FAIL
// or SKIP), and then the texts. Each text is indented by four spaces, and begins with the file and
// the line that logged it. The further lines of a text are indented by eight spaces.
func logsOf(data []byte) (all []logLine) {
	benchmark, n, without := "", 0, false
	for line := range strings.Lines(string(data)) {
		n++
		line = strings.TrimRight(line, "\r\n")
		text, indented := strings.CutPrefix(line, "    ")
		more, deeper := strings.CutPrefix(text, "    ")
		switch status, rest, _ := strings.Cut(strings.TrimPrefix(line, "--- "), ": "); {
		case strings.HasPrefix(line, "--- ") && slices.Contains([]string{"BENCH", "FAIL", "SKIP"}, status):
			rest, _, _ = strings.Cut(rest, " ")
			benchmark, without = strings.TrimPrefix(rest, "Benchmark"), status != "BENCH"
		case benchmark == "" || !indented:
			benchmark = ""
		case deeper && len(all) > 0 && all[len(all)-1].benchmark == benchmark:
			all[len(all)-1].text += "\n" + strings.TrimSpace(more)
		default:
			file, said, found := strings.Cut(text, ": ")
			if strings.HasPrefix(strings.TrimSpace(text), "---") {
				continue // the line begins the log of a sub-benchmark
			}
			if !found || !strings.Contains(file, ".go:") {
				said = text
			}
			all = append(all, logLine{benchmark, n, without, strings.TrimSpace(said)})
		}
	}
	return all
}
