package answer

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compare"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/rowname"
)

// maxNamed is the largest number of rows of a verdict that are named.
const maxNamed = 5

// verdictShort returns the verdict of package gate in a few words, and the figure that decided it.
func verdictShort(r *gate.Report) (short string, tiles []Tile) {
	regressed := 0
	for _, row := range r.Rows {
		if row.Verdict == gate.Regression {
			regressed++
		}
	}
	figures := numbers.Count(r.Cells, "figure")
	old, new := sides(r)
	switch r.Verdict {
	case gate.Regression:
		short = fmt.Sprintf("Regression in %d of %s: %s is worse than %s", regressed, figures, new, old)
	case gate.Pass:
		short = fmt.Sprintf("Pass: %s is not shown to be worse than %s in any of %s", new, old, figures)
	default:
		short = fmt.Sprintf("Cannot judge %s against %s", new, old)
		if len(r.Problems) > 0 {
			if with := short + ": " + r.Problems[0].Message; len(strings.Fields(with)) <= compare.MaxWords {
				short = with
			} else {
				tiles = append(tiles, tile("Why not", numbers.Count(len(messages(r)), "problem"), r.Problems[0].Message))
			}
		}
	}
	labels := VerdictLabels(r)
	for _, i := range VerdictOrder(r) {
		row := r.Rows[i]
		if row.Change == nil || row.Margin == nil {
			continue
		}
		detail := fmt.Sprintf("%s; %s worse is allowed", labels[i], row.Gate)
		tiles = append(tiles, tile("Largest change", row.ChangeText(), detail))
		if row.PAdjusted != nil {
			tiles = append(tiles, tile("How sure", chance(*row.PAdjusted), fmt.Sprintf("%d and %d runs", row.Old.N, row.New.N)))
		}
		break
	}
	return short, tiles
}

// sides returns the names of the files that a verdict compares, or of their folders if the files have one name.
func sides(r *gate.Report) (old, new string) {
	if old, new = filepath.Base(r.Old), filepath.Base(r.New); old == new {
		return filepath.Base(filepath.Dir(r.Old)), filepath.Base(filepath.Dir(r.New))
	}
	return old, new
}

// judged returns the verdict of package gate in words.
func judged(r *gate.Report) (all []string) {
	count := map[gate.Verdict]int{}
	improved := 0
	for _, row := range r.Rows {
		count[row.Verdict]++
		if row.Improved && row.Margin != nil {
			improved++
		}
	}
	gated := fmt.Sprintf("of %s with a margin", numbers.Count(r.Cells, "figure"))
	switch r.Verdict {
	case gate.Regression:
		all = append(all, fmt.Sprintf("Regression: in %d %s, %s is worse than %s by more than is allowed.", count[gate.Regression], gated, r.New, r.Old))
	case gate.Pass:
		said := fmt.Sprintf("Pass: in none %s is %s shown to be worse than %s by more than is allowed; in %d it is shown not to be", gated, r.New, r.Old, count[gate.NoWorse])
		if improved > 0 {
			said += fmt.Sprintf(", and in %d it is better", improved)
		}
		all = append(all, said+".")
	default:
		all = append(all, fmt.Sprintf("Cannot judge whether %s is worse than %s.", r.New, r.Old))
	}
	why := messages(r)
	for _, message := range why[:min(len(why), maxNamed)] {
		all = append(all, "Reason: "+message+".")
	}
	labels := VerdictLabels(r)
	named, left, within := 0, 0, 0
	for _, i := range VerdictOrder(r) {
		row := r.Rows[i]
		said := r.Said(&row)
		if row.Verdict != gate.Regression && (row.Verdict != gate.CannotJudge || row.Margin == nil && said == "" || r.Verdict != gate.CannotJudge) {
			continue
		}
		if row.Verdict == gate.CannotJudge && row.Change != nil && worse(row) <= 1 {
			within++
			continue
		}
		if named++; named > maxNamed {
			left++
			continue
		}
		if said != "" {
			all = append(all, fmt.Sprintf("%s: %s: %s.", labels[i], row.Verdict, said))
			continue
		}
		said = fmt.Sprintf("%s: %s", labels[i], row.Verdict)
		if row.Change != nil {
			said += ", changed by " + row.ChangeText()
		}
		if row.Margin != nil {
			said += fmt.Sprintf(", %s worse is allowed", row.Gate)
		}
		if row.PAdjusted != nil {
			said += ", " + chance(*row.PAdjusted)
		}
		all = append(all, said+".")
	}
	if left > 0 {
		all = append(all, fmt.Sprintf("The table has %s more.", numbers.Count(left, "figure")))
	}
	if within > 0 {
		all = append(all, fmt.Sprintf("In %s the median is not worse by more than is allowed.", numbers.Count(within, "such figure")))
	}
	return all
}

// messages returns the different messages of the problems of a verdict.
func messages(r *gate.Report) (all []string) {
	for _, p := range r.Problems {
		if !slices.Contains(all, p.Message) {
			all = append(all, p.Message)
		}
	}
	return all
}

// worse returns by how much a row is worse, as a multiple of the change that is allowed. It is
// negative if the row is better, and -Inf if the change is not known.
func worse(r gate.Row) float64 {
	if r.Change == nil || r.Margin == nil {
		return math.Inf(-1)
	}
	by := *r.Change
	if r.Better == "higher" {
		by = -by
	}
	return by / max(*r.Margin, 1e-9)
}

// VerdictOrder returns the indexes of the rows of a verdict. Regressions come first. Within each
// part, the rows that are worse by a larger multiple of the allowed change come first.
func VerdictOrder(r *gate.Report) []int {
	order := make([]int, len(r.Rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := r.Rows[a], r.Rows[b]
		if regressed := x.Verdict == gate.Regression; regressed != (y.Verdict == gate.Regression) {
			if regressed {
				return -1
			}
			return 1
		}
		return cmp.Compare(worse(y), worse(x))
	})
	return order
}

// VerdictLabels returns the name of each row of a verdict, such as "time per output token, mean, at 8 users", as the reports
// of package gate name rows.
func VerdictLabels(r *gate.Report) []string {
	all := make([]rowname.Benchmark, len(r.Rows))
	for i, row := range r.Rows {
		all[i] = rowname.Benchmark{Package: row.Pkg, Name: row.Name}
	}
	names := rowname.Of(all)
	labels := make([]string, len(all))
	for i, row := range r.Rows {
		labels[i] = names.Row(all[i], row.Unit)
	}
	return labels
}
