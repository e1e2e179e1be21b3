package gate

import "fmt"

// A Verdict is the decision about one row or about a whole report.
type Verdict string

const (
	Pass        Verdict = "pass"         // not shown to be worse by more than the margin
	NoWorse     Verdict = "no worse"     // for rows only: shown to be worse by at most the margin, or better
	Regression  Verdict = "regression"   // worse by more than the margin
	CannotJudge Verdict = "cannot judge" // a problem keeps the samples from being compared, or too much noise
	NotGated    Verdict = "not gated"    // for rows only: the unit has no margin
	Added       Verdict = "added"        // for rows only: only the new file has a gated row
	Removed     Verdict = "removed"      // for rows only: only the old file has a gated row
)

// A Report is the result of a comparison. A nil pointer is a figure that is not known.
// No figure is NaN or infinite.
type Report struct {
	// Verdict is CannotJudge if there is any problem, otherwise Regression if
	// any row is a regression, otherwise CannotJudge if a row is, or if
	// Options.RequireNoWorse is set and a row is not NoWorse, otherwise Pass.
	Verdict Verdict `json:"verdict"`
	// Settled reports that the comparison has ended: no samples will come, or the
	// package documentation says under "Looks" why none are needed.
	Settled bool    `json:"settled"`
	Planned int     `json:"planned,omitempty"` // Options.Planned
	Max     int     `json:"max,omitempty"`     // the largest number of samples of each side that may come, if Planned is set
	Looks   []Look  `json:"looks,omitempty"`   // when a regression may be found, if Planned is set
	Paired  bool    `json:"paired"`            // the samples are pairs, Options.NewFirst
	NoWorse bool    `json:"require_no_worse"`  // Options.RequireNoWorse
	Samples int     `json:"samples"`           // number of samples of each side, the maximum over the gated rows
	Alpha   float64 `json:"alpha"`             // Options.Alpha, or the part of it that this comparison may spend
	Power   float64 `json:"power"`             // the probability that Row.Detectable refers to
	Cells   int     `json:"cells"`             // number of gated rows, the comparisons that Alpha covers
	Old     string  `json:"old"`               // name of the file
	New     string  `json:"new"`               // name of the file
	// OldVersion and NewVersion are what was measured: File.Version, or a value of the
	// key of CompareColumns.
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
	// Added and Removed are the benchmarks that only the new or only the old file
	// has, and the gated units that only one file has of a benchmark in both.
	Added    []Subject `json:"added,omitempty"`
	Removed  []Subject `json:"removed,omitempty"`
	Partial  bool      `json:"partial,omitempty"`   // a run did not end in PASS, and Options.Partial accepts that
	OneStart bool      `json:"one_start,omitempty"` // samples come from one process, and Options.OneStart accepts that
	Equal    bool      `json:"equal,omitempty"`     // both files have the same contents, so that a file is compared with itself
	Notes    []string  `json:"notes,omitempty"`     // remarks on the files; set by the caller of Compare
}

// A Source says where a tool's file has a figure that was converted to the benchmark format.
type Source struct {
	Tool   string  `json:"tool"`
	Key    string  `json:"key"`
	Unit   string  `json:"unit"`   // in which the tool has the figure
	Factor float64 `json:"factor"` // a value in Row.Unit / the same value in Unit
}

// A Subject is a benchmark, or one unit of it.
type Subject struct {
	Pkg  string `json:"pkg,omitempty"`
	Name string `json:"name"`           // as Row.Name
	Unit string `json:"unit,omitempty"` // as Row.Unit; "" is all units
}

// A Look is a number of samples of each side after which a regression may be found, and
// the part of Options.Alpha that this test may spend.
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
	// Unit is the name of the unit as the files write it, for example "ns/op". All
	// values of the row are in that unit. If files write a unit in several ways, such
	// as "ns/op" and "sec/op", Unit is the first.
	Unit   string   `json:"unit"`
	Better string   `json:"better,omitempty"` // "higher", "lower", or "" if not known
	Margin *float64 `json:"margin"`           // the share of the old value by which new may be worse; nil: not gated
	// Points says that values are percentages of observations, whose counts are compared. Margin,
	// Change, Bound, Detectable and Noise are then differences of percentages: 0.02 is two percentage
	// points. Change is computed from the percentages of all observations.
	Points bool    `json:"points,omitempty"`
	Old    Summary `json:"old"`
	New    Summary `json:"new"`
	// Pairs is the number of rounds in which both sides have a value, if the samples are pairs
	// and some results lack the value. Only these are compared.
	Pairs int `json:"pairs,omitempty"`
	// Change is new median / old median - 1. If the samples are pairs, it is the
	// mean change from old to new within a pair, without a steady drift of the
	// machine, and with a limit for what pairs of disturbed processes count.
	Change *float64 `json:"change"`
	// P is the p-value that benchstat prints: the two-sided probability of at
	// least this difference between samples of one distribution.
	P *float64 `json:"p"`
	// PWorse is the probability that the samples look this bad if the new
	// version is worse by exactly the margin. PAdjusted is PWorse adjusted for
	// the number of cells. The row is a regression if PAdjusted <= Report.Alpha.
	PWorse    *float64 `json:"p_worse"`
	PAdjusted *float64 `json:"p_adjusted"`
	// Bound is the confidence bound of the change for the worse: the samples
	// allow no worse change with a confidence of 1-Report.Alpha. It is a share of the
	// old value, with its sign. The row is NoWorse if the bound is within the
	// margin; if Planned is set, only at one of the Looks.
	Bound *float64 `json:"bound"`
	// Detectable is the smallest change for the worse that would be found with
	// probability Report.Power, by as many and as noisy samples. It is a share
	// of the old value, with its sign.
	Detectable *float64 `json:"detectable"`
	// Noise is how far chance alone moves Change from 0: of two equal versions,
	// Change exceeds Noise in one of 20 comparisons. Noise is half the width of
	// the 95 % confidence interval of the change, a share of the old value. It is
	// set for units with a direction.
	Noise *float64 `json:"noise"`
	// Wanted is the approximate number of samples of each side with which Noise
	// would be at most the margin. It is set if the row cannot be judged because
	// of its noise, unless the margin is 0.
	Wanted   int     `json:"wanted,omitempty"`
	Lacks    bool    `json:"lacks,omitempty"` // the row cannot be judged because too many results of a side lack a value
	Improved bool    `json:"improved"`        // new is better than old: the reverse comparison without a margin is a regression
	Verdict  Verdict `json:"verdict"`
	// Source is the figure in the words of the tool that wrote it, or nil. The caller of Compare sets
	// it; reports then name the tool's key and values.
	Source *Source `json:"source,omitempty"`
}

// A Summary describes the samples of one side.
type Summary struct {
	N      int      `json:"n"`            // number of values
	Of     int      `json:"of,omitempty"` // number of results, if some lack a value
	Median *float64 `json:"median"`
	// Low and High are the 95 % confidence interval of the median, nil if there
	// are too few samples.
	Low  *float64 `json:"low"`
	High *float64 `json:"high"`
}

// A Problem is a reason for the verdict CannotJudge. It applies to all rows if Name is
// empty, otherwise to the rows of one benchmark, or to the row of one unit of that
// benchmark.
type Problem struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"` // from 1; 0 means the whole file
	Pkg     string `json:"pkg,omitempty"`
	Name    string `json:"name,omitempty"` // as Row.Name
	Unit    string `json:"unit,omitempty"` // as Row.Unit
	Message string `json:"message"`
}

// missing begins the Message of a Problem with a row or unit that one of the files lacks.
const missing = "missing in "

// whole reports whether the problem applies to all rows.
func (p Problem) whole() bool { return p.Name == "" }

// concerns reports whether the problem applies to r.
func (p Problem) concerns(r *Row) bool {
	return p.whole() || p.Pkg == r.Pkg && p.Name == r.Name && (p.Unit == "" || p.Unit == r.Unit)
}

// position returns the position of the problem as "file:line", or "".
func (p Problem) position() string {
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

// plural returns n and its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
