package gate

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
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

// title names the two sides.
func (r *Report) title() string {
	side := func(version, file string) string {
		if version == "" {
			return redact.Line(file)
		}
		return redact.Line(fmt.Sprintf("%s (%s)", version, file))
	}
	if r.Old == "" && r.OldVersion == "" {
		return side(r.NewVersion, r.New) + " against its budgets"
	}
	return side(r.NewVersion, r.New) + " against " + side(r.OldVersion, r.Old)
}

// settings returns Config, the package, and the parts of the benchmark name that all rows have in common, each as a part
// of a line.
func (r *Report) settings() []Setting {
	all := slices.Clone(r.Config)
	names := r.names()
	if pkg := names.Package(); pkg != "" {
		all = append(all, Setting{"pkg", pkg})
	}
	if common := names.Common(); common != "" {
		all = append(all, Setting{"all", common})
	}
	for i, s := range all {
		all[i] = Setting{redact.Line(s.Key), redact.Line(s.Value)}
	}
	return all
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

// text writes the table with aligned columns: names and verdicts to the left, numbers to the right.
func (t *table) text(b *strings.Builder) {
	b.WriteString("\n")
	if t.title != "" {
		fmt.Fprintln(b, t.title)
	}
	lines := append([][]string{t.head}, t.rows...)
	width := make([]int, len(t.head))
	for _, line := range lines {
		for i, s := range line {
			width[i] = max(width[i], utf8.RuneCountInString(s))
		}
	}
	for _, line := range lines {
		var l strings.Builder
		for i, s := range line {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(s))
			switch {
			case i == 0:
				l.WriteString(s + pad)
			case t.head[i] == "verdict":
				l.WriteString("  " + s)
			default:
				l.WriteString("  " + pad + s)
			}
		}
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
}
