package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// A Verdict is the decision about one row or about a whole report.
type Verdict string

const (
	Pass        Verdict = "pass"         // not shown to be worse by more than the margin
	NoWorse     Verdict = "no worse"     // for rows only: shown to be better, or worse by at most the margin
	Regression  Verdict = "regression"   // worse by more than the margin
	CannotJudge Verdict = "cannot judge" // a problem prevents a comparison, or the noise is too large
	NotGated    Verdict = "not gated"    // for rows only: the unit has no margin
	Added       Verdict = "added"        // for rows only: a gated row that only the new file has
	Removed     Verdict = "removed"      // for rows only: a gated row that only the old file has
)

// A Report is the result of a comparison. A nil pointer means that a value is not known. No value is NaN or
// infinite.
type Report struct {
	// Verdict is CannotJudge if there is any problem. Otherwise it is Regression if any row is a
	// regression. Otherwise it is CannotJudge if any row is, or if Options.RequireNoWorse is set and a row
	// is not NoWorse. Otherwise it is Pass.
	Verdict Verdict `json:"verdict"`
	// Settled reports that the comparison has ended: no more samples will come, or none are needed for a
	// reason under "Looks" in the package documentation.
	Settled bool    `json:"settled"`
	Planned int     `json:"planned,omitempty"` // Options.Planned
	Max     int     `json:"max,omitempty"`     // the largest number of samples per side that is possible, if Planned is set
	Looks   []Look  `json:"looks,omitempty"`   // numbers of samples after which a regression may be found, if Planned is set
	Paired  bool    `json:"paired"`            // whether the samples are pairs, as Options.NewFirst says
	NoWorse bool    `json:"require_no_worse"`  // Options.RequireNoWorse
	Samples int     `json:"samples"`           // number of samples per side, the maximum over the gated rows
	Alpha   float64 `json:"alpha"`             // Options.Alpha, or the part of it that this comparison may spend
	Power   float64 `json:"power"`             // the probability that Row.Detectable refers to
	Cells   int     `json:"cells"`             // number of rows with a margin or a budget; Alpha covers the comparisons of these rows, and of rows with Withheld
	Old     string  `json:"old"`               // name of the file
	New     string  `json:"new"`               // name of the file
	// OldVersion and NewVersion say what was measured: File.Version, or a value of the key passed to
	// CompareColumns.
	OldVersion string `json:"old_version,omitempty"`
	NewVersion string `json:"new_version,omitempty"`
	// Sides names what was compared in the last line, such as commits, a command and the versions of servers. The caller
	// of Compare sets it.
	Sides string `json:"sides,omitempty"`
	// LeftOut is the number of results that CompareColumns leaves out, because their
	// value of the key is neither of the two.
	LeftOut  int       `json:"left_out,omitempty"`
	Config   []Setting `json:"config"`   // the configuration that all rows of both files have in common
	Rows     []Row     `json:"rows"`     // in the order of the files: by benchmark, then by unit
	Problems []Problem `json:"problems"` // the reasons for CannotJudge
	// Added and Removed are the benchmarks that only the new or only the old file has. They also contain
	// the gated units that only one file has, of benchmarks in both files.
	Added    []Subject `json:"added,omitempty"`
	Removed  []Subject `json:"removed,omitempty"`
	Partial  bool      `json:"partial,omitempty"`   // a run did not end in PASS, and Options.Partial accepted that
	OneStart bool      `json:"one_start,omitempty"` // several samples come from one process, and Options.OneStart accepted that
	Folded   bool      `json:"folded,omitempty"`    // several results of one process count as one sample, their mean
	Defaults []string  `json:"defaults,omitempty"`  // units that have a default margin, because no Unit line has a margin
	Equal    bool      `json:"equal,omitempty"`     // both files have the same contents, so the results are compared with themselves
	Notes    []string  `json:"notes,omitempty"`     // remarks on the files; set by the caller of Compare
}

// A Source says where a value was, in the file of another tool, before it was converted to the benchmark
// format.
type Source struct {
	Tool   string  `json:"tool"`
	Key    string  `json:"key"`
	Unit   string  `json:"unit"`   // unit of the value in the tool's file
	Factor float64 `json:"factor"` // a value in Row.Unit / the same value in Unit
}

// A Subject is a benchmark, or one unit of it.
type Subject struct {
	Pkg  string `json:"pkg,omitempty"`
	Name string `json:"name"`           // as Row.Name
	Unit string `json:"unit,omitempty"` // as Row.Unit; "" is all units
}

// A Look is a number of samples per side after which a regression may be found, and the part of
// Options.Alpha that the test there may spend.
type Look struct {
	Samples int     `json:"samples"`
	Alpha   float64 `json:"alpha"`
}

// A Setting is a configuration line of a benchmark file.
type Setting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// A Row compares one unit of one benchmark.
type Row struct {
	Pkg  string `json:"pkg,omitempty"`
	Name string `json:"name"` // without "Benchmark"
	// Unit is the name of the unit as the files write it, for example "ns/op". All values of the row are in
	// this unit. If the files write a unit in several ways, such as "ns/op" and "sec/op", Unit is the first
	// of them.
	Unit   string   `json:"unit"`
	Better string   `json:"better,omitempty"` // "higher", "lower", or "" if not known
	Margin *float64 `json:"margin"`           // the share of the old value by which new may be worse; nil if the row is not gated
	// Gate is the margin as the Unit line states it, such as "5%" or "5% or 500.0µs".
	Gate string `json:"gate,omitempty"`
	// Amounts says that the margin is an amount, or that the row is not gated and has negative values. Margin, Change, Bound, Detectable and Noise are then differences of
	// values, in Unit.
	Amounts bool `json:"amounts,omitempty"`
	// Points says that values are percentages of observations, and that counts of observations are
	// compared. Margin, Change, Bound, Detectable and Noise are then differences of percentages: 0.02 is
	// two percentage points. Change is computed from the percentages over all observations.
	Points bool    `json:"points,omitempty"`
	Old    Summary `json:"old"`
	New    Summary `json:"new"`
	// Pairs is the number of rounds in which both sides have a value, if the samples are pairs and some
	// results lack the value. Only these rounds are compared.
	Pairs int `json:"pairs,omitempty"`
	// Change is new median / old median - 1, or new median - old median if the margin is an amount. If the samples are
	// pairs, it is instead the mean change from old to new within a pair. A steady drift of the machine is subtracted, and
	// the changes of disturbed pairs are limited. It is nil if it would be a share of values that may be negative.
	Change *float64 `json:"change"`
	// P is the p-value that benchstat prints: the two-sided probability that samples from one distribution
	// differ at least this much.
	P *float64 `json:"p"`
	// PWorse is the probability that the samples look this bad if the new
	// version is worse by exactly the margin. PAdjusted is PWorse adjusted for
	// the other gated rows. The row is a regression if PAdjusted <= Report.Alpha.
	PWorse    *float64 `json:"p_worse"`
	PAdjusted *float64 `json:"p_adjusted"`
	// Bound is the confidence bound for how much worse new can be: with a confidence of 1-Report.Alpha, the
	// change is not worse than Bound. It is a share of the old value, with its sign. The row is NoWorse if
	// the bound is within the margin; if Planned is set, only at a look.
	Bound *float64 `json:"bound"`
	// Detectable is the smallest regression that would be found with probability Report.Power by the same
	// number of samples with the same noise. It is a share of the old value, with its sign.
	Detectable *float64 `json:"detectable"`
	// Noise is how far chance alone moves Change away from 0: if two versions are equal, the absolute value
	// of Change exceeds Noise in one of 20 comparisons. Noise is half the width of the 95 % confidence
	// interval of the change, as a share of the old value. It is set for units with a direction.
	Noise *float64 `json:"noise"`
	// Wanted is the approximate number of samples per side at which Noise would be at most the margin. It
	// is set if the row cannot be judged because of its noise, unless the margin is 0.
	Wanted int `json:"wanted,omitempty"`
	// Few says that the row cannot be judged because new looks worse than the margin allows by more than the noise, and
	// the samples are too few to show that. Wanted is then about the number of samples that show it.
	Few   bool `json:"few,omitempty"`
	Lacks bool `json:"lacks,omitempty"` // the row cannot be judged because too many results of a side lack its value
	// Limit is set if the row is about the budget of the unit, max= or min=, in Unit. The unit may have another row with a
	// margin. Old values do not matter for the verdict: Regression if the median of the new values is shown to exceed the
	// budget, NoWorse if it is shown to keep it, otherwise CannotJudge.
	Limit *float64 `json:"limit,omitempty"`
	// Withheld is set if results with a value of the unit say that figures were withheld. Verdict is then Regression or
	// CannotJudge if new has more such results than chance explains, NoWorse if old has, and otherwise NotGated.
	Withheld *Withheld `json:"withheld,omitempty"`
	Improved bool      `json:"improved"` // new is better than old: with old and new exchanged and a margin of 0, the row would be a regression
	Verdict  Verdict   `json:"verdict"`
	// Source is the origin of the value in the file of another tool, or nil. The caller of Compare sets it;
	// reports then name the tool's key and use its values.
	Source *Source `json:"source,omitempty"`
}

// Withheld says in how many results of both sides figures were withheld for one reason.
type Withheld struct {
	By    string   `json:"by"`              // whose doing it is: server or client
	Says  string   `json:"says,omitempty"`  // words of the Unit line
	Units []string `json:"units,omitempty"` // gated units that are withheld for the reason
	Old   int      `json:"old"`             // results of the old side with the reason
	OfOld int      `json:"of_old"`          // all results of the old side
	New   int      `json:"new"`
	OfNew int      `json:"of_new"`
}

// A Summary describes the samples of one side.
type Summary struct {
	N      int      `json:"n"`            // number of values
	Of     int      `json:"of,omitempty"` // number of results, if some of them have no value; otherwise 0
	Median *float64 `json:"median"`
	// Low and High are the 95 % confidence interval of the median. They are nil if there are too few
	// samples.
	Low  *float64 `json:"low"`
	High *float64 `json:"high"`
}

// A Problem is a reason for the verdict CannotJudge. If Name is empty, it applies to all rows. Otherwise it
// applies to all rows of one benchmark or, if Unit is set, to one row of that benchmark.
type Problem struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"` // from 1; 0 means the whole file
	Pkg     string `json:"pkg,omitempty"`
	Name    string `json:"name,omitempty"` // as Row.Name
	Unit    string `json:"unit,omitempty"` // as Row.Unit
	Message string `json:"message"`
}

// missing is the beginning of the Message of a Problem about a row or unit that is missing in one of the
// files.
const missing = "missing in "

// whole reports whether the problem applies to all rows.
func (p Problem) whole() bool { return p.Name == "" }

// concerns reports whether the problem applies to r.
func (p Problem) concerns(r *Row) bool {
	return p.whole() || p.Pkg == r.Pkg && p.Name == r.Name && (p.Unit == "" || p.Unit == r.Unit)
}

// Position returns the position of the problem as "file:line", or "".
func (p Problem) Position() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// subject returns the name of the benchmark and the unit of the problem, or "".
func (p Problem) subject(r *Report) string {
	if p.whole() {
		return ""
	}
	s := r.qualify(p.Pkg, p.Name)
	if p.Unit != "" {
		s += " " + p.Unit
	}
	return s
}

// count returns the number of rows with verdict v.
func (r *Report) count(v Verdict) (n int) {
	for _, row := range r.Rows {
		if row.Verdict == v {
			n++
		}
	}
	return n
}

// qualify prefixes name with its package if the report has several packages.
func (r *Report) qualify(pkg, name string) string {
	if pkg != "" && slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Pkg != pkg }) {
		name = pkg + "." + name
	}
	return redact.Line(name)
}

// troubled reports whether a problem applies to the row.
func (r *Report) troubled(row *Row) bool {
	return slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.concerns(row) })
}

// Text says in how many results of both sides figures were withheld. new names the new side, and unit is the reason.
func (w *Withheld) Text(new, unit string) string {
	does, runs, two := strings.Cut(strings.ReplaceAll(w.Says, "-", " "), ":")
	count := fmt.Sprintf("%d of %s", w.New, numbers.Count(w.OfNew, "run"))
	if !two {
		return redact.Line(fmt.Sprintf("%s: %s have %s%s", new, count, unit, w.before()))
	}
	return redact.Line(fmt.Sprintf("%s %s: %s %s%s", new, does, count, runs, w.before()))
}

// before says in how many old results figures were withheld, or is "" if there are no old results.
func (w *Withheld) before() string {
	if w.OfOld == 0 {
		return ""
	}
	return fmt.Sprintf(", %d of %d before", w.Old, w.OfOld)
}

// count is like Text, but does not say that the new side does anything else than the old one.
func (w *Withheld) count(new, unit string) string {
	_, runs, two := strings.Cut(strings.ReplaceAll(w.Says, "-", " "), ":")
	if !two {
		runs = "have " + unit
	}
	return redact.Line(fmt.Sprintf("%d of %s of %s %s%s", w.New, numbers.Count(w.OfNew, "run"), new, runs, w.before()))
}

// shortLabel returns the name of a side without what follows a comma, as in "the working tree, equal to the base".
func shortLabel(label string) string {
	label, _, _ = strings.Cut(label, ",")
	return label
}

// gated reports whether the row has a verdict of its own in a table.
func (row *Row) gated() bool {
	return row.Withheld == nil && (row.Margin != nil || row.Limit != nil)
}
