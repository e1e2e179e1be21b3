package gate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// turns returns the outputs of n processes on a machine that is up to twice as slow in some of them. In each, the rows
// of a benchmark took turns, and the gateway's ns/op was changed by a share. The function edit changes the lines of a
// process.
func turns(n int, change float64, edit func(process int, lines []string) []string) string {
	r := rand.New(rand.NewPCG(1, 2))
	var all strings.Builder
	for i := range n {
		lines := []string{"Unit arms-seed pairs=yes"}
		for _, c := range []int{1, 16} {
			machine, seed := 1000*(1+r.Float64()), 1<<31|r.Uint32()
			value := func(factor float64) float64 { return machine * factor * (1 + 0.002*r.NormFloat64()) }
			lines = append(lines,
				fmt.Sprintf("BenchmarkChat/via=direct/c=%d-2 1 %.4f ns/op %d arms-seed", c, value(1), seed),
				fmt.Sprintf("BenchmarkChat/via=gateway/c=%d-2 1 %.4f ns/op %d arms-seed", c, value(1+change), seed))
		}
		if edit != nil {
			lines = edit(i, lines)
		}
		all.WriteString(run(lines...))
	}
	return all.String()
}

// TestInTurns checks that the columns of a file are judged as pairs if their results are pairs. The machine's changes
// from process to process, up to a factor of 2, then hide nothing. Without the seeds they hide everything.
func TestInTurns(t *testing.T) {
	without := func(_ int, lines []string) []string {
		for i, line := range lines {
			if at := strings.Index(line, " ns/op"); at > 0 {
				lines[i] = line[:at+len(" ns/op")]
			}
		}
		return lines
	}
	other := func(i int, lines []string) []string {
		if i == 2 {
			lines[2] = lines[2][:strings.Index(lines[2], "op ")+3] + "2147483650 arms-seed"
		}
		return lines
	}
	for _, tt := range []struct {
		name, file, want string // the headline begins like that
	}{
		{"worse", turns(10, 0.08, nil), "regression after 10 rounds: 2 of 2 rows, above all Chat/c=16-2 ns/op: +7.94% (margin 5%)"},
		{"within the margin", turns(10, 0.03, nil), "pass after 10 rounds: 2 rows within their margins"},
		{"better", turns(10, -0.2, nil), "pass after 10 rounds: 2 rows within their margins"},
		{"six processes", turns(6, 0.08, nil), "regression after 6 rounds: 2 of 2 rows"},
		{"five processes", turns(5, 0.08, nil), "cannot judge after 5 rounds: Chat/c=1-2 ns/op and 1 more: 5 old and 5 new samples: want at least 6 of each"},
		{"worse, and no pairs", turns(10, 0.08, without), "pass: no regression found in 2 rows"},
		{"a value is withheld", turns(10, 0.08, func(i int, lines []string) []string {
			if i == 2 {
				lines[2] = strings.Replace(lines[2], "ns/op", "other/op", 1)
			}
			return lines
		}), "regression after 10 rounds: 2 of 2 rows"},
		{"other seeds", turns(10, 0, other), "cannot judge after 10 rounds: file:5: Chat/c=1-2: arms-seed of result 3 is 2147483650, but "},
		{"a result is missing", turns(10, 0, func(i int, lines []string) []string {
			if i == 9 {
				lines = slices.Delete(lines, 2, 3)
			}
			return lines
		}), "cannot judge after 10 rounds: file:5: Chat/c=1-2: arms-seed of old result 10 is "},
		{"a seed is missing", turns(10, 0, func(i int, lines []string) []string {
			if i == 3 {
				lines[1] = without(i, lines[1:2])[0]
			}
			return lines
		}), "cannot judge after 10 rounds: file:5: Chat/c=1-2: arms-seed in 9 of 10 old results and in 10 of 10 new results"},
		{"one process twice", turns(1, 0, nil) + turns(1, 0, nil) + turns(6, 0, nil), "cannot judge after 8 rounds: file:5: Chat/c=1-2: arms-seed is "},
		{"a row without pairs", turns(10, 0, func(_ int, lines []string) []string {
			return append(lines, "BenchmarkOld/via=direct-2 1 100 ns/op", "BenchmarkOld/via=gateway-2 1 100 ns/op")
		}), "cannot judge after 10 rounds: file:9: Old-2: no arms-seed, by which the results of other rows are pairs"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := CompareColumns(File{Data: strings.NewReader(gateOp)}, File{Name: "file", Data: strings.NewReader(tt.file)}, "/via", Options{})
			assert.NilError(t, err)
			assert.Assert(t, strings.HasPrefix(r.headline(), tt.want), "%s\n%q", r.headline(), r.reasons())
			for _, row := range r.Rows {
				assert.Assert(t, row.Unit != "arms-seed")
			}
		})
	}
	// Of one via, the two concurrencies did not take turns.
	r, err := CompareColumns(File{Data: strings.NewReader(gateOp)}, File{Name: "file", Data: strings.NewReader(turns(6, 0, nil))}, "/c", Options{})
	assert.NilError(t, err)
	assert.Assert(t, !r.Paired && len(r.Problems) == 0, "%q", r.reasons())

	_, err = CompareColumns(File{}, File{Name: "file", Data: strings.NewReader(turns(6, 0, nil))}, "/via", Options{NewFirst: order(6)})
	assert.Error(t, err, "new first: the results of one file say themselves whether they are pairs: want nil")

	// Two files are no pairs, whatever seeds they have.
	r = judge(t, gateOp, turns(6, 0, nil), turns(6, 0, nil), Options{})
	assert.Equal(t, r.Verdict, Pass)
	assert.Assert(t, !r.Paired)
}
