package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// headline returns the verdict as a sentence, with the worst row and every restriction of the verdict.
func (r *Report) headline() string {
	s := string(r.Verdict) + r.after() + ": " + r.sentence()
	for _, part := range []string{r.onlyIn(r.Added, "new"), r.onlyIn(r.Removed, "removed")} {
		if part != "" {
			s += "; " + part
		}
	}
	if len(r.Defaults) > 0 {
		s += fmt.Sprintf("; no Unit line has a margin, so %s may be %.4g%% worse by default", strings.Join(r.Defaults, ", "), 100*defaultMargin)
	}
	if r.LeftOut > 0 {
		s += "; left out: " + numbers.Count(r.LeftOut, "result") + " with neither value"
	}
	if r.Partial {
		s += "; -partial: results may be missing, or come from one process"
	}
	if r.OneStart {
		s += "; -one-start: results of one process count as samples, so their noise may be too small"
	}
	if r.Folded {
		s += "; several results of one process count as one sample, their mean"
	}
	if r.Equal {
		s += "; both files have the same contents, so the results are compared with themselves"
	}
	if r.Sides != "" {
		s += "; " + redact.Line(r.Sides)
	}
	return s
}

// after says after how many rounds the comparison ended, if the samples are pairs.
func (r *Report) after() string {
	switch {
	case !r.Paired || r.Samples == 0:
		return ""
	case r.Samples < r.Max:
		return fmt.Sprintf(" after %d of %d rounds", r.Samples, r.Max)
	}
	return fmt.Sprintf(" after %s", numbers.Count(r.Samples, "round"))
}

// sentence returns the reason for the verdict, without the word for the verdict itself.
func (r *Report) sentence() string {
	switch noisy := r.count(CannotJudge); {
	case r.Verdict == Regression && len(r.withheldRows(Regression)) > 0:
		rows := r.withheldRows(Regression)
		s := r.withheldText(rows[0])
		if n := r.count(Regression) - 1; n > 0 {
			s += fmt.Sprintf("; and %d more", n)
		}
		return s
	case r.Verdict == Regression:
		s := r.worst(Regression, "", func(row *Row) (float64, string) {
			text := row.ChangeText()
			if row.Limit != nil || row.Change == nil { // a budget, or the old median is 0
				return math.Inf(+1), text
			}
			return row.excess(), text
		})
		if noisy > 0 {
			s += fmt.Sprintf("; %d cannot be judged", noisy)
		}
		return s
	case r.Verdict == Pass:
		return r.passed()
	case len(r.Problems) > 0:
		s := r.why()
		if n := r.count(Regression); n > 0 {
			s += fmt.Sprintf("; %d of %s regressed", n, numbers.Count(r.Cells, "row"))
		}
		return s
	case len(r.withheldRows(CannotJudge)) > 0:
		return r.withheldText(r.withheldRows(CannotJudge)[0])
	case noisy > 0:
		return r.worst(CannotJudge, "", func(row *Row) (float64, string) {
			switch {
			case row.Limit != nil && !row.Lacks:
				return math.Inf(+1), ""
			case row.Lacks:
				return math.Inf(+1), row.ChangeText() + ", " + row.lackText()
			case row.Noise == nil:
				return math.Inf(+1), row.ChangeText() + ", noise unknown"
			case row.Few && row.Change == nil: // the old median is 0
				return math.Inf(+1), row.ChangeText() + ", too few samples"
			case row.Few:
				return row.excess(), row.ChangeText() + ", too few samples"
			}
			return row.above(*row.Noise), row.ChangeText() + ", noise " + row.Size(*row.Noise, 2)
		})
	}
	return r.worst(Pass, " not shown to be within the margin", func(row *Row) (float64, string) {
		if row.Bound == nil {
			return math.Inf(+1), row.ChangeText()
		}
		return row.above(math.Abs(*row.Bound)), row.ChangeText() + ", at worst " + row.percent(row.Bound, 2)
	})
}

// passed says how much a pass shows. A row counts as within its margin if it is shown to be no worse, or if
// both its change and its noise are within the margin.
func (r *Report) passed() (text string) {
	within, budgets := r.countWithin(), 0
	for i := range r.Rows {
		if r.Rows[i].Limit != nil {
			budgets++
		}
	}
	if better := r.betterWithheld(); better != "" {
		if r.Cells == 0 {
			return better
		}
		defer func() { text += "; " + better }()
	}
	switch {
	case r.Cells == 0:
		return "nothing was judged, because no gated row is in both files"
	case within == r.Cells && budgets == r.Cells:
		return fmt.Sprintf("%s within budget", numbers.Count(within, "row"))
	case within == 1 && r.Cells == 1:
		return "1 row within its margin"
	case within == r.Cells && budgets > 0:
		return fmt.Sprintf("%d rows within their margins and budgets", within)
	case within == r.Cells:
		return fmt.Sprintf("%d rows within their margins", within)
	}
	s := "no regression found in " + numbers.Count(r.Cells, "row")
	if within > 0 {
		s += fmt.Sprintf(", %d of them within their margins", within)
	}
	if found := r.found(); found != "" {
		s += "; " + found
	}
	return s
}

// countWithin counts the rows within their margins.
func (r *Report) countWithin() (n int) {
	for i := range r.Rows {
		if row := &r.Rows[i]; row.Withheld == nil && row.within() {
			n++
		}
	}
	return n
}

// found says which regression would have been found in every row, since a pass shows no more than that. It returns ""
// if that is not known.
func (r *Report) found() string {
	var least *Row
	for i := range r.Rows {
		if row := &r.Rows[i]; row.PAdjusted != nil && row.Detectable != nil && (least == nil || row.above(math.Abs(*row.Detectable)) > least.above(math.Abs(*least.Detectable))) {
			least = row
		}
	}
	if least == nil {
		return ""
	}
	size := least.Size(math.Abs(*least.Detectable), 2)
	if !least.Points && !least.Amounts && math.Abs(*least.Detectable) >= 1 {
		size = fmt.Sprintf("%.0f%%", 100*math.Abs(*least.Detectable))
	}
	return fmt.Sprintf("a regression of %s would have been found in %.0f%% of such comparisons", size, 100*r.Power)
}

// within reports whether the row counts as within its margin; see passed.
func (row *Row) within() bool {
	if row.Verdict != Pass || row.Change == nil || row.Noise == nil || row.Margin == nil {
		return row.Verdict == NoWorse
	}
	const rounding = 1e-9
	return row.worse() <= *row.Margin+rounding && *row.Noise <= *row.Margin+rounding
}

// worst counts the rows with verdict v, and names the row for which measure returns the largest size, of equal ones the
// row that is worst.
func (r *Report) worst(v Verdict, what string, measure func(*Row) (size float64, text string)) string {
	begin := r.worder()
	var first *Row
	name, largest := "", math.Inf(-1)
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Verdict != v {
			continue
		}
		if size, text := measure(row); first == nil || cmp.Or(cmp.Compare(size, largest), cmp.Compare(row.excess(), first.excess())) > 0 {
			if name = fmt.Sprintf("%s %s", begin(row), row.limitOr(text)); row.Limit == nil {
				name += fmt.Sprintf(" (margin %s)", row.Size(*row.Margin, 4))
			}
			first, largest = row, size
		}
	}
	most := ", above all "
	switch {
	case r.Cells == 1 && what == "":
		return name
	case r.count(v) == 1:
		most = ": "
	}
	return fmt.Sprintf("%d of %s%s%s%s", r.count(v), numbers.Count(r.Cells, "row"), what, most, name)
}

// onlyIn names the subjects, each of which is in one file only. It omits those that a problem names
// already. It returns "" if none is left.
func (r *Report) onlyIn(subjects []Subject, how string) string {
	label := r.labeler()
	var names []string
	for _, s := range subjects {
		if slices.ContainsFunc(r.Problems, func(p Problem) bool {
			return strings.HasPrefix(p.Message, missing) && p.Pkg == s.Pkg && p.Name == s.Name && p.Unit == s.Unit
		}) {
			continue // the problem's line names it
		}
		if slices.ContainsFunc(r.Rows, func(row Row) bool { return row.shows(s) }) {
			continue // the row's line names it
		}
		name := label(&Row{Pkg: s.Pkg, Name: s.Name})
		if s.Unit != "" {
			name += " " + redact.Line(s.Unit)
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return ""
	}
	return how + ": " + list(names, 3)
}

// hint asks whether the arguments were swapped, if rows are better by more than their margins; otherwise it
// returns "". It returns "" for samples that benchgate took itself, because they cannot be swapped.
func (r *Report) hint() string {
	n := 0
	for i := range r.Rows {
		if row := &r.Rows[i]; row.Improved && row.Margin != nil && row.Change != nil && -row.worse() > *row.Margin {
			n++
		}
	}
	switch {
	case r.Paired || r.Verdict != Pass || n == 0:
		return ""
	case n == 1:
		return "1 row is better by more than its margin: is OLD really first?"
	}
	return fmt.Sprintf("%d rows are better by more than their margins: is OLD really first?", n)
}
