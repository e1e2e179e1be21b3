package dashboard

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
)

// The elements of JUnit's XML format that CI systems read
// (https://github.com/jenkinsci/xunit-plugin/blob/master/src/main/resources/org/jenkinsci/plugins/xunit/types/model/xsd/junit-10.xsd).
type (
	suites struct {
		XMLName xml.Name `xml:"testsuites"`
		Suites  []suite  `xml:"testsuite"`
	}
	suite struct {
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Skipped  int        `xml:"skipped,attr"`
		Cases    []testCase `xml:"testcase"`
		Out      string     `xml:"system-out,omitempty"`
	}
	testCase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Failure *outcome `xml:"failure"`
		Error   *outcome `xml:"error"`
		Skipped *outcome `xml:"skipped"`
	}
	outcome struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// JUnit returns a verdict of benchgate as test results. Each gated row becomes a test case. A regression is a
// failure. A row that cannot be judged is an error, like a test that could not run. A row that only one side
// has is skipped, if that is allowed. Units that are not gated have no test case. If no row accounts for the
// verdict, a test case named "comparison" does.
func JUnit(r *gate.Report) ([]byte, error) {
	s := suite{Name: "benchgate"}
	shown := make([]bool, len(r.Problems))
	for _, row := range r.Rows {
		if row.Verdict == gate.NotGated {
			continue
		}
		c := testCase{Class: strings.TrimPrefix(row.Pkg+"."+row.Name, "."), Name: row.Unit}
		var reasons []string
		for i, p := range r.Problems {
			if p.Name == row.Name && p.Pkg == row.Pkg && (p.Unit == "" || p.Unit == row.Unit) {
				reasons, shown[i] = append(reasons, p.Message), true
			}
		}
		switch said := cmp.Or(r.Said(&row), describe(&row)); {
		case row.Verdict == gate.Regression:
			c.Failure = &outcome{said, "regression", figures(r, &row)}
		case row.Verdict == gate.CannotJudge, len(reasons) > 0:
			if len(reasons) == 0 {
				reasons = append(reasons, said)
			}
			c.Error = &outcome{strings.Join(reasons, "; "), "cannot judge", figures(r, &row)}
		case row.Verdict == gate.Added:
			c.Skipped = &outcome{Message: "only " + r.New + " has this row"}
		case row.Verdict == gate.Removed:
			c.Skipped = &outcome{Message: "only " + r.Old + " has this row"}
		}
		s.add(c)
	}
	var rest []string
	for i, p := range r.Problems {
		if !shown[i] {
			rest = append(rest, strings.TrimPrefix(p.Name+": "+p.Message, ": "))
		}
	}
	switch {
	case len(rest) > 0:
		s.add(testCase{Class: "benchgate", Name: "comparison", Error: &outcome{Message: strings.Join(rest, "; "), Type: "cannot judge"}})
	case r.Verdict == gate.CannotJudge && s.Errors == 0:
		s.add(testCase{Class: "benchgate", Name: "comparison", Error: &outcome{Message: "some rows are not shown to be no worse", Type: "cannot judge"}})
	case len(s.Cases) == 0:
		s.add(testCase{Class: "benchgate", Name: "comparison"})
	}
	s.Out = strings.Join(r.Notes, "\n")
	data, err := xml.MarshalIndent(suites{Suites: []suite{s}}, "", "  ")
	return slices.Concat([]byte(xml.Header), data, []byte("\n")), err
}

// add appends a test case and updates the counters.
func (s *suite) add(c testCase) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
}

// describe returns a text with the change of a row and the allowed change.
func describe(row *gate.Row) string {
	if row.Change == nil || row.Margin == nil {
		return string(row.Verdict)
	}
	said := fmt.Sprintf("%s, may be %s worse", row.ChangeText(), row.Gate)
	if row.Verdict == gate.CannotJudge && row.Noise != nil {
		said += ", noise " + row.Size(*row.Noise, 3)
	}
	return said
}

// figures returns a text with the medians of both sides of a row.
func figures(r *gate.Report, row *gate.Row) string {
	var sides []string
	for _, side := range []struct {
		name string
		gate.Summary
	}{{r.Old, row.Old}, {r.New, row.New}} {
		if side.Median != nil {
			sides = append(sides, fmt.Sprintf("%s: %.6g %s, median of %s", side.name, *side.Median, row.Unit, numbers.Count(side.N, "sample")))
		}
	}
	return strings.Join(sides, "; ")
}
