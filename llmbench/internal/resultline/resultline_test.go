package resultline

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// reversed is an Editor that sorts the metrics by their units in reverse order, and lists the units in a
// line before.
func reversed(l *Line) string {
	slices.SortFunc(l.Figures, func(a, b Figure) int { return cmp.Compare(b.Unit, a.Unit) })
	text := "# " + l.Name
	for _, f := range l.Figures {
		text += fmt.Sprintf(" %g %s", f.Value, f.Unit)
	}
	return text + "\n"
}

// TestWriter checks the output of some sequences of Write calls.
func TestWriter(t *testing.T) {
	redact.Add("planted-key", "87654321")
	for _, tt := range []struct {
		name   string
		writes []string
		want   string
	}{
		{"a result", []string{"BenchmarkA/x=1-2   \t", "       1\t  2.5 a\t     3 b\n"}, "# BenchmarkA/x=1-2 3 b 2.5 a\nBenchmarkA/x=1-2   \t       1\t     3 b\t  2.5 a\n"},
		{"two results", []string{"BenchmarkA \t", "1\t2 a\n", "BenchmarkA \t", "1\t3 a\n"}, "# BenchmarkA 2 a\nBenchmarkA \t1\t2 a\n# BenchmarkA 3 a\nBenchmarkA \t1\t3 a\n"},
		{"with memory", []string{"BenchmarkA\t", "1\t2 a\t      16 B/op\t       1 allocs/op\n"}, "# BenchmarkA 1 allocs/op 2 a 16 B/op\nBenchmarkA\t1\t       1 allocs/op\t2 a\t      16 B/op\n"},
		{"a failure in a later sample", []string{"BenchmarkA \t", "--- FAIL: BenchmarkA\n    a_test.go:1: no\n"}, "BenchmarkA \t--- FAIL: BenchmarkA\n    a_test.go:1: no\n"},
		{"a log", []string{"--- BENCH: BenchmarkA\n", "    1\t2 a\n"}, "--- BENCH: BenchmarkA\n    1\t2 a\n"},
		{"a line in parts", []string{"BenchmarkA \t", "1\t", "2 a\n"}, "BenchmarkA \t1\t2 a\n"},
		{"two names", []string{"BenchmarkA\t", "BenchmarkB\t", "1\t2 a\n"}, "BenchmarkA\tBenchmarkB\t1\t2 a\n"},
		{"no unit", []string{"BenchmarkA\t", "1\t2\n"}, "BenchmarkA\t1\t2\n"},
		{"no number", []string{"BenchmarkA\t", "1\tx a\n"}, "BenchmarkA\t1\tx a\n"},
		{"secrets", []string{"planted-key, 87654321\n", "BenchmarkA/planted-key\t", "1\t87654321 a\n", "BenchmarkB\t", "no planted-key\n"},
			"[redacted], [redacted]\n# BenchmarkA/[redacted] 8.7654321e+07 a\nBenchmarkA/[redacted]\t1\t87654321 a\nBenchmarkB\tno [redacted]\n"},
		{"no figures", []string{"BenchmarkA\t", "1\n"}, "# BenchmarkA\nBenchmarkA\t1\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			failures := ""
			w := &writer{to: &out, edit: reversed, failed: func(name, log string) { failures += name + ": " + log }}
			for _, p := range tt.writes {
				n, err := io.WriteString(w, p)
				assert.NilError(t, err)
				assert.Equal(t, n, len(p))
			}
			assert.Equal(t, out.String(), tt.want)
			want := ""
			if strings.Contains(tt.want, "--- FAIL") {
				want = "BenchmarkA:     a_test.go:1: no\n"
			}
			assert.Equal(t, failures, want)
		})
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken") }

func TestWriteError(t *testing.T) {
	var lost error
	w := &writer{to: broken{}, edit: reversed, lost: func(err error) { lost = err }}
	_, err := io.WriteString(w, "PASS\n")
	assert.Error(t, err, "broken")
	assert.Error(t, lost, "broken")
}

// FuzzWriter checks that only results are changed, and that results keep their metrics.
func FuzzWriter(f *testing.F) {
	f.Add("BenchmarkA-2 \t", "       1\t  2.5 a\t     3 b\n", "PASS\n")
	f.Add("BenchmarkA-2 \t", "--- FAIL: BenchmarkA-2\n", "BenchmarkA\t")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		var out bytes.Buffer
		edited := false
		w := &writer{to: &out, edit: func(l *Line) string { edited = true; slices.Reverse(l.Figures); return "" }, failed: func(string, string) {}}
		for _, p := range []string{a, b, c} {
			io.WriteString(w, p)
		}
		all := out.String() + string(w.name)
		if !edited {
			assert.Equal(t, all, a+b+c)
			return
		}
		sorted := func(s string) string { b := []byte(s); slices.Sort(b); return string(b) }
		assert.Equal(t, sorted(all), sorted(a+b+c))
	})
}

// helper is the environment variable with which BenchmarkHelper runs.
const helper = "TEST_HELPER_BENCHMARK"

// BenchmarkHelper is run by TestAttach.
func BenchmarkHelper(b *testing.B) {
	if os.Getenv(helper) == "" {
		b.Skip("TestAttach runs it, in a process of its own")
	}
	for _, name := range []string{"outer=1", "outer=2"} {
		b.Run(name, func(b *testing.B) {
			assert.Assert(b, Attach(b, reversed, func(string, string) {}, nil))
			assert.Assert(b, Attach(b, func(*Line) string { panic("the first Editor stays") }, nil, nil))
			for b.Loop() {
			}
			b.Log("logged")
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(1, "a")
			b.ReportMetric(2, "b")
		})
	}
}

// TestAttach checks the output of the testing package of this version of Go.
func TestAttach(t *testing.T) {
	for _, args := range [][]string{{}, {"-test.v"}, {"-test.v=test2json"}, {"-test.count=2"}, {"-test.cpu=1,2"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{"-test.run=^$", "-test.bench=Helper", "-test.benchtime=1x"}, args...)...)
			cmd.Env = append(os.Environ(), helper+"=1")
			out, err := cmd.CombinedOutput()
			assert.NilError(t, err, "%s", out)
			results := 0
			for line := range strings.Lines(string(out)) {
				if fields := strings.Fields(line); len(fields) > 1 && strings.HasPrefix(line, "Benchmark") {
					assert.DeepEqual(t, fields[1:], []string{"1", "2.000", "b", "1.000", "a"})
					results++
				}
			}
			want := 2
			if len(args) == 1 && strings.HasSuffix(args[0], "2") {
				want = 4
			}
			assert.Equal(t, results, want, "%s", out)
			assert.Equal(t, strings.Count(string(out), "# BenchmarkHelper/outer="), want, "%s", out)
			assert.Assert(t, strings.Contains(string(out), "logged"), "%s", out)
		})
	}
}

// TestAttachNothing checks a benchmark whose results are not written anywhere.
func TestAttachNothing(t *testing.T) {
	assert.Assert(t, !Attach(new(testing.B), reversed, nil, nil))
}
