package gate

import "fmt"

// limitText describes the budget of a row, such as "at most 2.000ms".
func (row *Row) limitText() string {
	if row.Better == "higher" {
		return "at least " + amount(*row.Limit, row.Unit)
	}
	return "at most " + amount(*row.Limit, row.Unit)
}

// limitReason says how the new values of a row stand to its budget.
func (row *Row) limitReason() string {
	text := fmt.Sprintf("%s, budget %s", row.New.text(row.Unit), row.limitText())
	switch row.Verdict {
	case Regression:
		if row.Better == "higher" {
			return text + ": missed"
		}
		return text + ": exceeded"
	case CannotJudge:
		return text + ": the budget is within the interval of the median: want more samples or a quieter machine"
	}
	return text
}

// limitOr returns limitReason if the row is about a budget that decides its verdict, otherwise text.
func (row *Row) limitOr(text string) string {
	if row.Limit == nil || row.Lacks {
		return text
	}
	return row.limitReason()
}
