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

// A comparison compares two files and prints the report, as the flags say.
type comparison struct {
	render func(*gate.Report, io.Writer) error
	units  string // path, or ""
	gate.Options
}

// renderings are the formats of reports, by the value of -format.
var renderings = map[string]func(*gate.Report, io.Writer) error{
	"text": (*gate.Report).Text, "md": (*gate.Report).Markdown, "json": (*gate.Report).JSON,
}

func (c *comparison) flags(fs *flag.FlagSet) {
	c.render = (*gate.Report).Text
	fs.Func("format", "print the report as `text`, md (Markdown) or json (default text)", func(v string) error {
		c.render = renderings[v]
		if c.render == nil {
			return errors.New("want text, md or json")
		}
		return nil
	})
	fs.StringVar(&c.units, "units", "", "also read Unit lines from this `file`; its margins override those in the results")
	fs.Float64Var(&c.Alpha, "alpha", gate.DefaultAlpha, "limit the `probability` that equal versions end in a regression")
	fs.Func("ignore", "allow these configuration `keys` to differ, a comma-separated list, besides "+strings.Join(gate.Ignored(), ", "), func(v string) error {
		c.Ignore = append(c.Ignore, strings.Split(v, ",")...)
		return nil
	})
}

// compare compares the files at two paths.
func (c *comparison) compare(old, new string) (*gate.Report, error) {
	if c.Alpha == 0 {
		return nil, errors.New("alpha: 0, want more than 0 and at most 0.5")
	}
	var files [3]gate.File
	for i, path := range []string{c.units, old, new} {
		if i == 0 && path == "" {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		files[i] = gate.File{Name: path, Data: bytes.NewReader(data)}
	}
	return gate.Compare(files[0], files[1], files[2], c.Options)
}

// print prints a report and returns the exit status of its verdict.
func (c *comparison) print(r *gate.Report, stdout, stderr io.Writer) int {
	if err := c.render(r, stdout); err != nil {
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
