package gate

import "fmt"

// A Verdict is the decision about one row or about a whole report.
type Verdict string

const (
	Pass        Verdict = "pass"         // not shown to be worse by more than the margin
	Regression  Verdict = "regression"   // worse by more than the margin
	CannotJudge Verdict = "cannot judge" // a problem keeps the samples from being compared
	NotGated    Verdict = "not gated"    // for rows only: the unit has no margin
)

// A Report is the result of a comparison. A nil pointer is a figure that is not known.
// No figure is NaN or infinite.
type Report struct {
	// Verdict is CannotJudge if there is any problem, otherwise Regression if
	// any row is a regression, otherwise Pass.
	Verdict Verdict `json:"verdict"`
	// Settled reports that further samples cannot change the verdict.
	Settled  bool      `json:"settled"`
	Planned  int       `json:"planned,omitempty"` // Options.Planned
	Samples  int       `json:"samples"`           // number of samples of each side, the maximum over the gated rows
	Alpha    float64   `json:"alpha"`             // Options.Alpha, or the part of it that this comparison may spend
	Power    float64   `json:"power"`             // the probability that Row.Detectable refers to
	Cells    int       `json:"cells"`             // number of gated rows, the comparisons that Alpha covers
	Old      string    `json:"old"`               // name of the file
	New      string    `json:"new"`               // name of the file
	Config   []Setting `json:"config"`            // the configuration that all rows of both files have in common
	Rows     []Row     `json:"rows"`              // in the order of the files: by benchmark, then by unit
	Problems []Problem `json:"problems"`          // the reasons for CannotJudge
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
	// Unit is the tidied name of the unit, for example "sec/op" for "ns/op"
	// (https://pkg.go.dev/golang.org/x/perf/benchunit#Tidy). All values of the
	// row are in that unit.
	Unit   string   `json:"unit"`
	Better string   `json:"better,omitempty"` // "higher", "lower", or "" if not known
	Margin *float64 `json:"margin"`           // the share of the old value by which new may be worse; nil: not gated
	Old    Summary  `json:"old"`
	New    Summary  `json:"new"`
	Change *float64 `json:"change"` // new median / old median - 1
	// P is the p-value that benchstat prints: the two-sided probability of at
	// least this difference between samples of one distribution.
	P *float64 `json:"p"`
	// PWorse is the probability that the samples look this bad if the new
	// version is worse by exactly the margin. PHolm is PWorse adjusted for the
	// number of cells. The row is a regression if PHolm <= Report.Alpha.
	PWorse *float64 `json:"p_worse"`
	PHolm  *float64 `json:"p_holm"`
	// Detectable is the smallest change for the worse that would be found with
	// probability Report.Power, by as many and as noisy samples. It is a share
	// of the old value, with its sign.
	Detectable *float64 `json:"detectable"`
	// Noise estimates how much the medians of two equal versions differ: by
	// more than Noise in at most one of 20 comparisons. It is a share, the root
	// of the summed squares of the half widths of both confidence intervals. It
	// is set for units with a direction.
	Noise    *float64 `json:"noise"`
	Improved bool     `json:"improved"` // new is better than old: the reverse comparison without a margin is a regression
	Verdict  Verdict  `json:"verdict"`
}

// A Summary describes the samples of one side.
type Summary struct {
	N      int      `json:"n"`
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

// headline returns the verdict as a sentence.
func (r *Report) headline() string {
	if r.Settled && 0 < r.Samples && r.Samples < r.Planned {
		why := map[Verdict]string{Pass: "further samples cannot make a regression", Regression: "found at the interim look", CannotJudge: "further samples cannot solve the problems"}[r.Verdict]
		return fmt.Sprintf("%s (after %d of %d samples a side: %s)", r.sentence(), r.Samples, r.Planned, why)
	}
	return r.sentence()
}

func (r *Report) sentence() string {
	switch r.Verdict {
	case Regression:
		return fmt.Sprintf("regression: %d of %s worse than allowed", r.count(Regression), plural(r.Cells, "gated cell"))
	case CannotJudge:
		return fmt.Sprintf("cannot judge: %d of %s regressed, %d passed", r.count(Regression), plural(r.Cells, "gated cell"), r.count(Pass))
	}
	return fmt.Sprintf("pass: none of %s is shown to be worse than allowed", plural(r.Cells, "gated cell"))
}

// plural returns n and its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
