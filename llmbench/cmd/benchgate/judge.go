package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
)

// judging is how two files are judged, and how the report is printed.
type judging struct {
	render func(*gate.Report, io.Writer) error
	units  string // path, or ""
	gate.Options
}

// renderings are the formats of reports.
var renderings = map[string]func(*gate.Report, io.Writer) error{
	"text": (*gate.Report).Text, "md": (*gate.Report).Markdown, "json": (*gate.Report).JSON,
}

func (j *judging) flags(fs *flag.FlagSet) {
	j.render = (*gate.Report).Text
	fs.Func("format", "print the report as `text`, md (Markdown) or json (default text)", func(v string) error {
		j.render = renderings[v]
		if j.render == nil {
			return errors.New("want text, md or json")
		}
		return nil
	})
	fs.StringVar(&j.units, "units", "", "read Unit lines from this `file` too; its margins have their way")
	fs.Float64Var(&j.Alpha, "alpha", gate.DefaultAlpha, "bound the `probability` that equal versions are called a regression")
	fs.Func("ignore", "let configuration `keys` differ, a comma-separated list, besides "+strings.Join(gate.Ignored(), ", "), func(v string) error {
		j.Ignore = append(j.Ignore, strings.Split(v, ",")...)
		return nil
	})
}

// compare judges the files at two paths.
func (j *judging) compare(old, new string) (*gate.Report, error) {
	if j.Alpha == 0 {
		return nil, errors.New("alpha: 0, want more than 0 and at most 0.5")
	}
	var files [3]gate.File
	for i, path := range []string{j.units, old, new} {
		if i == 0 && path == "" {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		files[i] = gate.File{Name: path, Data: bytes.NewReader(data)}
	}
	return gate.Compare(files[0], files[1], files[2], j.Options)
}

// print prints a report and returns the exit status of its verdict.
func (j *judging) print(r *gate.Report, stdout, stderr io.Writer) int {
	if err := j.render(r, stdout); err != nil {
		return fail(stderr, err)
	}
	switch r.Verdict {
	case gate.Pass:
		return 0
	case gate.Regression:
		return exitRegression
	}
	return exitCannotJudge
}
