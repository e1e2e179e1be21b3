package gate

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// FuzzCompare compares arbitrary files. It checks that nothing panics, that no result depends on
// the order of maps, and that every report can be rendered. If a simple reader finds an error in a
// file, the verdict must be CannotJudge. A benchmark that only the new file has must be shown and
// not judged, because a change that adds a benchmark has no old samples to compare with.
func FuzzCompare(f *testing.F) {
	good := runs(6, "BenchmarkA-2 1 100 ns/op 3 B/op")
	worse := runs(6, "BenchmarkA-2 1 200 ns/op 0 B/op")
	noisy := run("BenchmarkA-2 1 100 ns/op") + run("BenchmarkA-2 2 101 ns/op") + run("BenchmarkA-2 1 99 ns/op") +
		run("BenchmarkA-2 1 100 ns/op") + run("BenchmarkA-2 1 0 ns/op") + run("BenchmarkA-2 1 98.5 ns/op")
	for _, files := range [][2]string{
		{good, good}, {good, worse}, {good, noisy}, {noisy, good[:len(good)-9]}, {"", ""}, {good, "Unit ns/op gate=7% better=higher\n" + good},
		{good, runs(6, "BenchmarkA-4 1 100 ns/op")}, {good, runs(6, "BenchmarkA-2 1 NaN ns/op")}, {good, "gpu: x\n" + good + "--- FAIL: BenchmarkA\n"},
		{"Unit x better=higher gate=1%\n" + runs(7, "BenchmarkA 1 1e-9 x 1 y"), runs(7, "BenchmarkA 1 1e300 x -1 y")},
		{"Unit bursts-% withheld=server says=buffers:burst\nUnit ns/op max=150ns\n" + good, runs(6, "BenchmarkA-2 1 100 bursts-% 3 B/op")}, {"Unit B/op max=2\n" + good, worse},
		{good, strings.ReplaceAll(good, "1 100", "1\t+Inf")}, {good, strings.ReplaceAll(good, "PASS\n", "")},
	} {
		f.Add([]byte(files[0]), []byte(files[1]))
	}
	f.Fuzz(func(t *testing.T, old, new []byte) {
		var printed [2]string
		var r *Report
		for i := range printed {
			var err error
			r, err = Compare(File{Name: "units", Data: strings.NewReader(gateOp)}, File{Name: "old", Data: bytes.NewReader(old)}, File{Name: "new", Data: bytes.NewReader(new)}, Options{})
			if err != nil {
				t.Fatalf("Compare() = %v, want no error", err)
			}
			var b strings.Builder
			for _, print := range []error{r.Brief(&b), r.Text(&b), r.Markdown(&b), r.JSON(&b)} {
				if print != nil {
					t.Errorf("cannot render %+v: %v", r, print)
				}
			}
			printed[i] = b.String()
		}
		if printed[0] != printed[1] {
			t.Errorf("Compare() twice returns different reports:\n%s\n%s", printed[0], printed[1])
		}
		if r.Verdict == CannotJudge {
			if len(r.Problems) == 0 && r.count(CannotJudge) == 0 {
				t.Error("CannotJudge without a reason")
			}
			return
		}
		oldNames, oldFault := readSimply(string(old))
		newNames, newFault := readSimply(string(new))
		if oldFault != "" || newFault != "" {
			t.Errorf("verdict %s; want CannotJudge, because of old: %q, new: %q", r.Verdict, oldFault, newFault)
		}
		for name := range oldNames {
			if !newNames[name] {
				t.Errorf("verdict %s without %s in the new file, which has %v", r.Verdict, name, newNames)
			}
		}
		if !slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Margin != nil || row.Limit != nil || row.Withheld != nil }) {
			t.Errorf("verdict %s without a gated row", r.Verdict)
		}
		for _, row := range r.Rows {
			switch added := row.Old.N == 0 && row.Verdict == Added; {
			case row.Margin == nil || added && row.PAdjusted == nil && slices.ContainsFunc(r.Added, row.isOf):
			case row.Verdict == Removed && r.Verdict == Regression && row.New.N == 0: // a unit that is missing beside a regression
			case row.PAdjusted == nil || min(row.Old.N, row.New.N) < 6:
				t.Errorf("verdict %s of too few samples: %+v", r.Verdict, row)
			}
		}
	})
}

// isOf reports whether a subject is the row, or the benchmark of the row.
func (row Row) isOf(s Subject) bool {
	return s.Pkg == row.Pkg && s.Name == row.Name && (s.Unit == "" || s.Unit == row.Unit)
}

// readSimply reads a file without x/perf. It returns the names of the benchmarks, and the first
// error in the file. If there is no error, the error is "".
func readSimply(file string) (names map[string]bool, fault string) {
	names = map[string]bool{}
	if !strings.HasSuffix(file, "\n") {
		return names, "cut"
	}
	open := false
	for line := range strings.Lines(file) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		fields := strings.Fields(line)
		switch {
		case line == "PASS", strings.HasPrefix(line, "ok  \t"):
			open = false
		case line == "FAIL", strings.HasPrefix(line, "FAIL\t"), strings.HasPrefix(strings.TrimSpace(line), "--- FAIL"):
			return names, "failed"
		case strings.HasPrefix(line, "goos:"):
			if open {
				return names, "a run did not end"
			}
			open = true
		case strings.HasPrefix(line, "Benchmark") && fields[0] != line:
			open = true
			names[fields[0]] = true
			if len(fields) < 4 || len(fields)%2 != 0 {
				return names, "odd: " + line
			}
			if _, err := strconv.Atoi(fields[1]); err != nil {
				return names, "iterations: " + line
			}
			for i := 2; i < len(fields); i += 2 {
				if v, err := strconv.ParseFloat(fields[i], 64); err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
					return names, "value: " + line
				}
			}
		}
	}
	if open || len(names) == 0 {
		return names, "a run did not end, or there is no result"
	}
	return names, ""
}
