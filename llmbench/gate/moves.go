package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// A row that is not gated is mentioned beside the verdict if its median has changed by at least leastMove,
// and if the samples of two equal versions would differ as much with a probability of at most moveP. With
// four samples per side, the smallest possible probability is 0.0286.
const (
	leastMove = 0.1
	moveP     = 0.03
	maxMoves  = 8 // maximum number of rows that are mentioned
)

// moves returns a line for each large change of a row that is not gated, largest first. For example, tail
// latencies are not gated because they are noisy, but a tail that is four times as long should not go
// unnoticed. It omits units of benchmarks that the given rows, which a table shows, have.
func (r *Report) moves(except ...*Row) []string {
	type move struct {
		size float64 // absolute value of the logarithm of new median / old median
		line string
	}
	var all []move
	name := r.namer()
	for _, row := range r.Rows {
		if slices.ContainsFunc(except, func(x *Row) bool { return x.Pkg == row.Pkg && x.Name == row.Name && x.Unit == row.Unit }) {
			continue // the row has a budget
		}
		if row.Verdict != NotGated || row.P == nil || *row.P > moveP || row.Old.Median == nil || row.New.Median == nil {
			continue
		}
		old, new := *row.Old.Median, *row.New.Median
		size := math.Inf(1) // a change from 0, to 0 or to another sign
		if old*new > 0 {
			size = math.Abs(math.Log(new / old))
		}
		if size < math.Log(1+leastMove) {
			continue
		}
		how := "changed"
		if row.Better != "" {
			how = "worse"
			if (new > old) == (row.Better == "higher") {
				how = "better"
			}
		}
		if row.Change != nil || old == 0 {
			how = row.ChangeText() + ", " + how
		}
		all = append(all, move{size, fmt.Sprintf("%s: %s: %s to %s", name(&row), how, amount(old, row.Unit), amount(new, row.Unit))})
	}
	slices.SortStableFunc(all, func(a, b move) int { return cmp.Compare(b.size, a.size) })
	var lines []string
	for _, m := range all[:min(maxMoves, len(all))] {
		lines = append(lines, m.line)
	}
	if n := len(all) - maxMoves; n > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", n))
	}
	return lines
}

// movesTitle returns the heading above the lines of moves.
func movesTitle() string {
	return fmt.Sprintf("not gated, but changed by at least %.0f%% with p of at most %v:", 100*leastMove, moveP)
}
