package gate

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// The samples of benchgate ab give the same estimate and p-value as files.
func TestFilesOfRounds(t *testing.T) {
	const rounds = 10
	random := rand.New(rand.NewPCG(1, 2))
	newFirst := make([]bool, rounds)
	var sides, marked [2]string
	for i := range rounds {
		newFirst[i] = random.IntN(2) == 1
		for side := range 2 {
			drift := 1 + 0.02*float64(i)
			sample := run(fmt.Sprintf("BenchmarkA-2 1 %.4f ns/op", []float64{100, 190}[side]*drift*(1+0.01*random.NormFloat64())))
			sides[side] += sample
			marked[side] += RoundLine(i+1, newFirst[i] == (side == 1)) + sample
		}
	}
	change := func(r *Report) string { return r.Rows[0].ChangeText() + " " + decimals(r.Rows[0].PAdjusted) }
	pairs := judge(t, gateOp, sides[0], sides[1], Options{NewFirst: newFirst})
	files := judge(t, gateOp, marked[0], marked[1], Options{})
	assert.Equal(t, change(files), change(pairs))
	assert.Assert(t, files.Paired)
	windows := judge(t, gateOp, strings.ReplaceAll(marked[0], "\n", "\r\n"), marked[1], Options{})
	assert.Equal(t, change(windows), change(pairs))

	_, later, _ := strings.Cut(marked[1], "# benchgate: round 2")
	for _, c := range []struct{ name, old, new string }{
		{"without lines", sides[0], sides[1]},
		{"lines of one side", marked[0], sides[1]},
		{"the same side twice", marked[0], marked[0]},
		{"another number of rounds", marked[0], "# benchgate: round 2" + later},
		{"results of no round", marked[0] + run("BenchmarkA-2 1 100 ns/op"), marked[1]},
	} {
		assert.Assert(t, !judge(t, gateOp, c.old, c.new, Options{}).Paired, c.name)
	}
}
