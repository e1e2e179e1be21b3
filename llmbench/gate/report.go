package gate

import "fmt"

// A Verdict is the answer for one row, or for all of them.
type Verdict string

const (
	Pass        Verdict = "pass"         // not shown to be worse by more than allowed
	Regression  Verdict = "regression"   // worse by more than allowed
	CannotJudge Verdict = "cannot judge" // the samples do not deserve an answer
	NotGated    Verdict = "not gated"    // of a row only: its unit has no margin
)

// A Report is the outcome of a comparison. A pointer that is nil is a figure
// that is not known; no figure is NaN or infinite.
type Report struct {
	// Verdict is CannotJudge when there is any problem, else Regression when a
	// row is one, else Pass.
	Verdict Verdict `json:"verdict"`
	// Settled tells that no sample that is still to come can change the verdict.
	Settled  bool      `json:"settled"`
	Planned  int       `json:"planned,omitempty"` // as in Options
	Samples  int       `json:"samples"`           // of each side; where those of rows differ, the most
	Alpha    float64   `json:"alpha"`             // as in Options, or what the plan leaves of it
	Power    float64   `json:"power"`             // that of Row.Detectable
	Cells    int       `json:"cells"`             // gated rows, the comparisons that Alpha is for
	Old      string    `json:"old"`               // name of the file
	New      string    `json:"new"`               // name of the file
	Config   []Setting `json:"config"`            // what holds for every row of both files
	Rows     []Row     `json:"rows"`              // benchmarks in the order of the files, units within
	Problems []Problem `json:"problems"`          // why the files cannot be judged
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
	// Unit is the tidied name, of which values are multiples: "sec/op" for
	// "ns/op" (https://pkg.go.dev/golang.org/x/perf/benchunit#Tidy).
	Unit   string   `json:"unit"`
	Better string   `json:"better,omitempty"` // "higher", "lower", or not known
	Margin *float64 `json:"margin"`           // share of the old value that may be lost; nil: not gated
	Old    Summary  `json:"old"`
	New    Summary  `json:"new"`
	Change *float64 `json:"change"` // new median / old median - 1
	// P is what benchstat prints: the two-sided probability of a difference as
	// large as this between samples of one distribution.
	P *float64 `json:"p"`
	// PWorse is the probability that samples look this bad when what is new is
	// worse by exactly the margin, and PHolm the same adjusted for the number of
	// cells. PHolm <= Report.Alpha is a regression.
	PWorse *float64 `json:"p_worse"`
	PHolm  *float64 `json:"p_holm"`
	// Detectable is the smallest change for the worse that samples as many and
	// as noisy as these show in Report.Power of comparisons.
	Detectable *float64 `json:"detectable"`
	// Noise is what the medians of equal versions as noisy as these differ by in
	// one of 20 comparisons at most, as a share: half the width of both confidence
	// intervals, added as errors are; of units with a direction.
	Noise    *float64 `json:"noise"`
	Improved bool     `json:"improved"` // new is better than old, tested like a regression with no margin
	Verdict  Verdict  `json:"verdict"`
}

// A Summary describes the samples of one side.
type Summary struct {
	N      int      `json:"n"`
	Median *float64 `json:"median"`
	// Low and High bound the median with 95 % confidence; nil: too few samples.
	Low  *float64 `json:"low"`
	High *float64 `json:"high"`
}

// A Problem is a reason for not judging: all rows, when it has no Name, else
// those of a benchmark, or of one of its units.
type Problem struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"` // from 1; 0: the file as a whole
	Pkg     string `json:"pkg,omitempty"`
	Name    string `json:"name,omitempty"` // as Row.Name
	Unit    string `json:"unit,omitempty"` // as Row.Unit
	Message string `json:"message"`
}

// whole reports whether a problem is one of a file, not of some of its rows.
func (p Problem) whole() bool { return p.Name == "" }

// concerns reports whether a problem keeps r from being judged.
func (p Problem) concerns(r *Row) bool {
	return p.whole() || p.Pkg == r.Pkg && p.Name == r.Name && (p.Unit == "" || p.Unit == r.Unit)
}

// position is where a problem is, "file:line", or "".
func (p Problem) position() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// subject is the rows of r a problem is about, or "".
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

// count is the number of gated rows with a verdict.
func (r *Report) count(v Verdict) (n int) {
	for _, row := range r.Rows {
		if row.Verdict == v {
			n++
		}
	}
	return n
}

// headline is the verdict in a sentence.
func (r *Report) headline() string {
	if r.Settled && 0 < r.Samples && r.Samples < r.Planned {
		why := map[Verdict]string{Pass: "a regression is out of reach", Regression: "it was looked for early", CannotJudge: "more do not mend that"}[r.Verdict]
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

// plural is n and its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
