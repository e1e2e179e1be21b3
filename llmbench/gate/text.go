package gate

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
)

// Text writes the report for a terminal: what [Report.Brief] writes, and then tables of all rows. Tables of units that are
// not gated come last. Text returns the error of w.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	r.brief(&b)
	gated, others, silent := r.tables()
	for _, t := range gated {
		t.text(&b)
	}
	if r.Cells > 0 || len(gated)+len(others) > 0 {
		fmt.Fprintf(&b, "\n%s\n", r.legend())
	}
	for _, t := range others {
		t.text(&b)
	}
	if text := leftOut(silent); text != "" {
		fmt.Fprintf(&b, "\n%s\n", text)
	}
	fmt.Fprintf(&b, "\n%s\n", r.headline())
	_, err := io.WriteString(w, b.String())
	return err
}

// legend explains the columns of the tables.
func (r *Report) legend() string {
	if r.Cells == 0 {
		return "p: two-sided p-value of no change, as in benchstat"
	}
	within := "within the margin"
	if len(r.Looks) > 1 {
		within += " at a look"
	}
	legend := fmt.Sprintf("p: two-sided p-value of no change, as in benchstat\n"+
		"at worst: with a confidence of %.4g%%, the change is no worse than this; %s, the verdict is \"no worse\"\n"+
		"detectable: the smallest regression that is found in %.0f%% of comparisons with the same number of samples and the same noise\n"+
		"p worse: one-sided p-value of a change by the margin, adjusted for %s; at most %.3g is a regression",
		100*(1-r.Alpha), within, 100*r.Power, numbers.Count(r.Cells, "gated row"), r.Alpha)
	if slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Limit != nil }) {
		legend += "\nbudget: the median of the new values is compared with it; it is a regression if it exceeds the budget with the confidence that p worse states"
	}
	if len(r.Looks) < 2 {
		return legend
	}
	total, looks := 0.0, make([]string, len(r.Looks))
	for i, l := range r.Looks {
		total += l.Alpha
		looks[i] = fmt.Sprintf("%d (%.3g)", l.Samples, l.Alpha)
	}
	return legend + fmt.Sprintf("\nlooks: alpha, %.3g, is divided among the numbers of samples a side after which a regression may be found: %s;\n"+
		"  together they raise a false alarm with a probability of at most alpha", total, strings.Join(looks, ", "))
}
