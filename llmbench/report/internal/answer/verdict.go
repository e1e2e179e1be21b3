package answer

import (
	"fmt"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
)

// maxNamed is the number of rows of a verdict that are named.
const maxNamed = 5

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
	gated := fmt.Sprintf("of %s with a margin", plural(r.Cells, "figure"))
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
	seen := map[string]bool{}
	for _, p := range r.Problems {
		if !seen[p.Message] && len(seen) < maxNamed {
			all = append(all, capital(p.Message)+".")
		}
		seen[p.Message] = true
	}
	labels := VerdictLabels(r)
	named, left := 0, 0
	for i, row := range r.Rows {
		if row.Verdict != gate.Regression && (row.Verdict != gate.CannotJudge || row.Margin == nil || r.Verdict != gate.CannotJudge) {
			continue
		}
		if named++; named > maxNamed {
			left++
			continue
		}
		said := fmt.Sprintf("%s: %s", labels[i], row.Verdict)
		if row.Change != nil {
			said += fmt.Sprintf(", changed by %+.2f %%", 100**row.Change)
		}
		if row.Margin != nil {
			said += fmt.Sprintf(", %.3g %% worse is allowed", 100**row.Margin)
		}
		if row.PAdjusted != nil {
			said += ", " + chance(*row.PAdjusted)
		}
		all = append(all, said+".")
	}
	if left > 0 {
		all = append(all, fmt.Sprintf("The table has %s more.", plural(left, "figure")))
	}
	return all
}

// VerdictLabels returns a label for each row of a verdict: the unit, and the keys in which the
// benchmarks of the rows differ.
func VerdictLabels(r *gate.Report) []string {
	var rows []*results.Row
	for _, row := range r.Rows {
		rows = append(rows, results.Named(row.Name))
	}
	labels := systems.Labels(rows)
	for i, row := range r.Rows {
		if labels[i] != "" {
			labels[i] += " "
		}
		labels[i] += row.Unit
	}
	return labels
}
