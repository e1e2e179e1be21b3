package gate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// reasons explains why the verdict is not Pass. It returns a line for each regression except the given ones, which a table
// shows, for each row that cannot be judged because of its noise, and for each problem. Problems with the same message
// share a line.
func (r *Report) reasons(except ...*Row) []string {
	var lines []string
	begin, names := r.worder(), r.names()
	for i := range r.Rows {
		switch row := &r.Rows[i]; {
		case row.Withheld != nil:
			if row.Withheld.New+row.Withheld.Old > 0 {
				name := redact.Line(cmp.Or(names.Benchmark(row.benchmark()), row.Name))
				lines = append(lines, fmt.Sprintf("%s: %s", name, r.withheldText(row)))
			}
		case row.Verdict == Regression && slices.Contains(except, row): // the table says all
		case row.Limit != nil && !row.Lacks && (row.Verdict == Regression || row.Verdict == CannotJudge && row.PAdjusted != nil):
			lines = append(lines, fmt.Sprintf("%s %s", begin(row), row.limitReason()))
		case row.Verdict == Regression:
			lines = append(lines, fmt.Sprintf("%s %s, may be %s worse", begin(row), row.ChangeText(), row.Size(*row.Margin, 4)))
		}
	}
	for i := range r.Rows {
		if row := &r.Rows[i]; row.Lacks {
			lines = append(lines, fmt.Sprintf("%s %s", begin(row), row.lackReason()))
		} else if row.Verdict == CannotJudge && row.Margin != nil && row.PAdjusted != nil && !r.troubled(row) {
			lines = append(lines, fmt.Sprintf("%s %s", begin(row), row.noiseText()))
		} else if r.NoWorse && row.Verdict == Pass && row.Margin != nil && r.Settled {
			lines = append(lines, fmt.Sprintf("%s may be %s, worse than the margin of %s allows: want %s",
				begin(row), row.percent(row.Bound, 2), row.Size(*row.Margin, 4), row.wants()))
		}
	}
	for _, g := range r.grouped() {
		lines = append(lines, g.line())
	}
	return lines
}

// power returns a line that says what a pass would have found, unless the headline says it.
func (r *Report) power() []string {
	if found := r.found(); r.Verdict == Pass && found != "" && r.countWithin() == r.Cells {
		return []string{found}
	}
	return nil
}

// noiseText explains why a row cannot be judged.
func (row *Row) noiseText() string {
	switch {
	case row.Noise == nil:
		return "the noise is not known: want a quieter machine or more samples"
	case row.Few:
		return fmt.Sprintf("cannot judge: %s is worse than the margin of %s by more than the noise, %s, but too few samples show it (p worse %s): want about %d samples a side",
			row.ChangeText(), row.Size(*row.Margin, 4), row.Size(*row.Noise, 2), decimals(row.PAdjusted), row.Wanted)
	case row.Detectable == nil && *row.Noise <= *row.Margin:
		return fmt.Sprintf("cannot judge: with noise of %s, no regression would be found, however large: want a quieter machine or more samples", row.Size(*row.Noise, 2))
	case row.Points:
		return fmt.Sprintf("cannot judge: the counts allow errors of %s, more than the margin of %s: want about %d samples a side, more observations in each, or a wider margin",
			row.Size(*row.Noise, 2), row.Size(*row.Margin, 4), row.Wanted)
	case row.Wanted == 0:
		return fmt.Sprintf("cannot judge: the noise, %s, is more than the margin of %s: want a quieter machine, more samples or a wider margin",
			row.Size(*row.Noise, 2), row.Size(*row.Margin, 4))
	}
	return fmt.Sprintf("cannot judge: the noise, %s, is more than the margin of %s: want a quieter machine, about %d samples a side or a wider margin",
		row.Size(*row.Noise, 2), row.Size(*row.Margin, 4), row.Wanted)
}

// wants says what a row needs to be shown to be no worse.
func (row *Row) wants() string {
	if row.Points {
		return "more observations"
	}
	return "a quieter machine or more samples"
}
