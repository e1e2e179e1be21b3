package gate

import (
	"cmp"
	"fmt"
)

// withheldText describes a row about figures that were withheld, with the units that are missing for that reason.
func (r *Report) withheldText(row *Row) string {
	w := row.Withheld
	text := w.count(r.newLabel(), row.Unit)
	if row.Verdict == Regression || row.Verdict == CannotJudge {
		text = w.Text(r.newLabel(), row.Unit)
	}
	if len(w.Units) > 0 {
		text += fmt.Sprintf("; %s withheld", list(w.Units, 3))
	}
	return text
}

// Said describes a row about a budget or about withheld figures in words. It returns "" for other rows.
func (r *Report) Said(row *Row) string {
	switch {
	case row.Withheld != nil:
		return r.withheldText(row)
	case row.Limit != nil && !row.Lacks:
		return row.limitReason()
	}
	return ""
}

// betterWithheld describes the first row about figures that were withheld more often in old results, or returns "".
func (r *Report) betterWithheld() string {
	for i := range r.Rows {
		if row := &r.Rows[i]; row.Withheld != nil && row.Improved {
			return "better: " + row.Withheld.count(r.newLabel(), row.Unit)
		}
	}
	return ""
}

// newLabel names the new side in a sentence.
func (r *Report) newLabel() string {
	return shortLabel(cmp.Or(r.NewVersion, r.New))
}

// withheldRows returns the rows about withheld figures that have the verdict v.
func (r *Report) withheldRows(v Verdict) (rows []*Row) {
	for i := range r.Rows {
		if row := &r.Rows[i]; row.Withheld != nil && row.Verdict == v {
			rows = append(rows, row)
		}
	}
	return rows
}
