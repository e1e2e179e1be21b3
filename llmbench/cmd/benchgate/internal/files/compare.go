package files

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/resultfile"
)

// A Comparison compares two sides and prints the report, as its flags say.
type Comparison struct {
	Format string // of the report: a key of Renderings
	All    bool   // a text has all rows, and not only those that decide
	Units  string // path of the file of -units, or ""
	Col    string // the key of -col for gate.CompareColumns, or ""
	// Versions describe the old and the new side if benchgate itself measured them. Reports then omit the
	// folder of the files, because it is a temporary one.
	Versions [2]string
	Files    resultfile.Options
	gate.Options
}

// Renderings holds the formats of reports, keyed by the value of -format.
var Renderings = map[string]func(*gate.Report, io.Writer) error{
	"text": (*gate.Report).Text, "md": (*gate.Report).Markdown, "json": (*gate.Report).JSON,
}

// Flags adds all flags of a comparison.
func (c *Comparison) Flags(fs *flag.FlagSet) {
	c.ReportFlags(fs)
	fs.Func("added", "the `policy` for benchmarks that only new has: allow shows them and judges the others, fail makes the verdict \"cannot judge\" (default allow)", oneOf(&c.FailAdded, "fail", "allow", "want allow or fail"))
	fs.Func("removed", "the `policy` for benchmarks that only old has, as of -added (default fail)", oneOf(&c.AllowRemoved, "allow", "fail", "want allow or fail"))
	fs.BoolVar(&c.Partial, "partial", false, "accept runs without PASS, as in filtered or published files; otherwise the verdict is \"cannot judge\"")
	fs.BoolVar(&c.OneStart, "one-start", false, "count results of one process, as of go test -count, as samples of their own; otherwise they are one sample, their mean")
	fs.Func("require", "the `verdict` that every gated row needs for exit status 0: pass (not shown to be worse than its margin) or no-worse (shown not to be) (default pass)", oneOf(&c.RequireNoWorse, "no-worse", "pass", "want pass or no-worse"))
}

// ReportFlags adds the flags for the format of the report and for what is allowed.
func (c *Comparison) ReportFlags(fs *flag.FlagSet) {
	c.Format = "text"
	fs.Func("format", "the `format` of the report: text, md (Markdown) or json (default text)", func(v string) error {
		if c.Format = v; Renderings[v] == nil {
			return errors.New("want text, md or json")
		}
		return nil
	})
	fs.BoolVar(&c.All, "v", false, "print all rows in text, and not only those that decide")
	fs.StringVar(&c.Units, "units", "", "also read Unit lines from this `file`; its margins override those in the results")
	fs.Float64Var(&c.Alpha, "alpha", gate.DefaultAlpha, "the largest `probability` that equal versions end in a regression")
	fs.Func("ignore", "allow these `keys` of configuration lines to differ, a comma-separated list, besides "+strings.Join(gate.Ignored(), ", "), func(v string) error {
		c.Ignore = append(c.Ignore, strings.Split(v, ",")...)
		return nil
	})
}

// oneOf returns a parser for a flag that sets v to true for the value on, and to false for off.
func oneOf(v *bool, on, off, want string) func(string) error {
	return func(s string) error {
		if s != on && s != off {
			return errors.New(want)
		}
		*v = s == on
		return nil
	}
}

// Compare compares two sides, old and new. If col is set, there is one side, and compare compares its results
// with each other. Otherwise one side is compared with its budgets. A side is a file, a pattern or a folder.
func (c *Comparison) Compare(paths ...string) (*gate.Report, error) {
	if c.Alpha == 0 {
		return nil, errors.New("-alpha: 0: want at least 0.001 and at most 0.5")
	}
	var units gate.File
	if c.Units != "" {
		data, err := os.ReadFile(c.Units)
		if err != nil {
			return nil, err
		}
		units = gate.File{Name: c.Units, Data: bytes.NewReader(data)}
	}
	column, _, _ := strings.Cut(c.Col, "@")
	c.Files.Ignore = slices.Concat(gate.Ignored(), c.Ignore, []string{column})
	sides, texts, err := resultfile.ReadSides(paths, c.Files)
	if err != nil {
		return nil, err
	}
	files := make([]gate.File, len(paths))
	for i, path := range paths {
		files[i] = gate.File{Name: sides[i].Path, Data: bytes.NewBuffer(texts[i].Bytes)}
		if c.Versions[i] != "" {
			files[i].Name, files[i].Version = filepath.Base(path), c.Versions[i]
		}
	}
	var r *gate.Report
	switch {
	case c.Col != "":
		r, err = gate.CompareColumns(units, files[0], c.Col, c.Options)
	case len(files) == 1:
		r, err = gate.CheckBudgets(units, files[0], c.Options)
	default:
		r, err = gate.Compare(units, files[0], files[1], c.Options)
	}
	if err == nil {
		explain(r, sides, texts)
	}
	return r, err
}

// Print prints a report and returns the exit status of its verdict.
func (c *Comparison) Print(r *gate.Report, stdout, stderr io.Writer) int {
	render := Renderings[c.Format]
	if c.Format == "text" && !c.All {
		render = (*gate.Report).Brief
	}
	if err := command.Show(stdout, c.Format == "json", func(w io.Writer) error { return render(r, w) }); err != nil {
		return command.Fail(stderr, err)
	}
	switch r.Verdict {
	case gate.Pass:
		return 0
	case gate.Regression:
		return command.Regression
	}
	return command.CannotJudge
}
