package gate

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/benchline"
)

// checkRuns checks that the file contains the whole output of each process that wrote into it.
//
// A test binary prints a line "goos: …" before its first benchmark, then results, and "PASS" if no test
// failed; go test then adds "ok …" (https://cs.opensource.google/go/go/+/master:src/testing/benchmark.go).
// A run therefore begins with a goos line, or with a result that follows the end of the previous run, and
// ends with PASS or ok. A file may contain any number of runs.
//
// If a run does not end before the next goos line or the end of the file, it was cut: its process was
// killed, or wrote to another file. If the last line has no line feed, the file was cut too. FAIL, or "---
// FAIL" at any indentation, means that samples are missing or cannot be trusted. The exit status of go test
// would not reveal this, because it is 0 if only the second sample of -count fails.
//
// If partial is set, runs need not end. For complete runs, checkRuns counts the results of each benchmark, and the runs
// that have none of it; see countAbsent.
func (f *results) checkRuns(partial bool) {
	begun, last := 0, bytes.Count(f.data, []byte("\n")) // last: number of the last line
	inRun := map[*samples][]int{}                       // results since begun, by their indexes
	read := map[*samples]int{}                          // results so far
	pkg, complete := "", []process{}
	unfinished := func(line int, format string, args ...any) {
		if f.partial = partial; !partial {
			f.problemf(line, format+" (benchgate -partial accepts that)", args...)
		}
		clear(inRun)
	}
	if len(f.data) > 0 && !bytes.HasSuffix(f.data, []byte("\n")) {
		last++
		f.problemf(last, "the last line has no line end: was the file cut off?")
	}
	n := 0
	for b := range bytes.Lines(f.data) {
		n++
		line := strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r")
		system, start := strings.CutPrefix(line, "goos:")
		start = start && strings.TrimSpace(system) != "" // without a value, the line ends the setting of a joined file
		switch {
		case benchline.IsFailure(line):
			f.problemf(n, "%q: want a run without failures", line)
			clear(inRun)
			begun = 0
		case line == "PASS", strings.HasPrefix(line, "ok  \t"):
			for s, results := range inRun {
				s.inRun, s.processes = max(s.inRun, len(results)), append(s.processes, results)
			}
			if begun > 0 {
				complete = append(complete, process{pkg, slices.Collect(maps.Keys(inRun))})
			}
			clear(inRun)
			begun = 0
		case start && begun > 0:
			unfinished(n, "another run starts here, but the run of line %d has not ended in PASS or ok: want the whole output of each", begun)
			begun = n
		case begun == 0 && (start || f.resultLines[n] != nil):
			begun = n
		}
		if s := f.resultLines[n]; s != nil {
			inRun[s] = append(inRun[s], read[s])
			read[s]++
		}
		if value, ok := strings.CutPrefix(line, "pkg:"); ok {
			pkg = strings.TrimSpace(value)
		}
	}
	if begun > 0 {
		unfinished(last, "the run of line %d has not ended in PASS or ok: want the whole output of go test", begun)
	}
	if !f.partial && len(f.problems) == 0 { // results that cannot be read are a problem already
		countAbsent(complete)
	}
}

// A process is what one process wrote, as far as it is known.
type process struct {
	pkg  string // "" if it does not say
	rows []*samples
}

// countAbsent counts, for each row, the runs that should have a result of it and have none. A run should have the row in
// two cases: it has a benchmark that another run measured together with the row, or it is a run of the row's package and
// has no result at all. A run of other benchmarks, such as of go test with another -bench, need not have the row.
func countAbsent(runs []process) {
	together := map[*samples]*samples{} // leads to the same row from all rows that are measured together
	root := func(s *samples) *samples {
		for together[s] != nil {
			s = together[s]
		}
		return s
	}
	of := map[*samples]int{} // runs that have the row
	for _, r := range runs {
		for _, s := range r.rows {
			of[s]++
			if a, b := root(s), root(r.rows[0]); a != b {
				together[a] = b
			}
		}
	}
	all, empty := map[*samples]int{}, map[string]int{} // runs, by root and by package
	for _, r := range runs {
		if len(r.rows) > 0 {
			all[root(r.rows[0])]++
		} else {
			empty[r.pkg]++
		}
	}
	for s, n := range of {
		s.runs = all[root(s)] + empty[s.pkg]
		s.absent = s.runs - n
	}
}

// unfoldable says why the results of each process cannot count as one, or returns "" if they can: all results are of complete
// runs, and have values of the same units.
func (s *samples) unfoldable() string {
	if len(slices.Concat(s.processes...)) < s.n {
		return "some are of a run that did not end in PASS or ok"
	}
	for _, unit := range s.units {
		if len(s.values[unit]) < s.n {
			return "some have no " + unit
		}
	}
	return ""
}

// fold replaces the results of each process by one result, with the means of their values. Results of one process share
// everything that differs between starts, so together they are one observation; the mean is better known than one result.
func (s *samples) fold() {
	for unit, values := range s.values {
		means, of := make([]float64, len(s.processes)), make([]int, len(s.processes))
		for i, results := range s.processes {
			of[i] = i
			first, more := values[results[0]], 0.0
			for _, result := range results {
				more += values[result] - first // 0 if all are equal, whose mean is then exact
			}
			means[i] = first + more/float64(len(results))
		}
		s.values[unit], s.of[unit] = means, of
	}
	s.n, s.inRun = len(s.processes), 1
}
