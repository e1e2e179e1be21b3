package gatewaytest

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
)

// count returns the number of cases that were checked, that failed, and that were not checked, and of findings that gaps
// declare.
func (r *Report) count() (checked, failed, skipped, declared int) {
	for _, c := range r.Results {
		switch {
		case c.Failed():
			checked, failed = checked+1, failed+1
		case c.Skipped != "":
			skipped++
		default:
			checked++
		}
		for _, f := range c.Findings {
			if f.Gap != "" {
				declared++
			}
		}
	}
	return checked, failed, skipped, declared
}

// Summary is one line: how many cases were checked and how many failed.
func (r *Report) Summary() string {
	checked, failed, skipped, declared := r.count()
	s := fmt.Sprintf("%d of %d cases failed", failed, checked)
	if declared > 0 {
		s += fmt.Sprintf("; findings that gaps declare: %d", declared)
	}
	if skipped > 0 {
		s += fmt.Sprintf("; cases not checked: %d", skipped)
	}
	if len(r.Stale) > 0 {
		s += fmt.Sprintf("; gaps that no longer occur: %d", len(r.Stale))
	}
	return s
}

// Text returns the report for a terminal: each finding that no gap declares, what was not checked, the gaps that would declare
// all findings, and the summary.
func (r *Report) Text() string {
	var b strings.Builder
	for _, c := range r.Results {
		for _, f := range c.Findings {
			if f.Gap == "" {
				fmt.Fprintf(&b, "%v\n\n", f)
			}
		}
	}
	for i, c := range r.Results {
		if c.Skipped != "" {
			b.WriteString(c.Class + "/" + c.Case)
			if i+1 < len(r.Results) && r.Results[i+1].Skipped == c.Skipped {
				b.WriteString(", ")
			} else {
				fmt.Fprintf(&b, ": not checked: %s\n", c.Skipped)
			}
		}
		for _, fact := range c.Facts {
			fmt.Fprintf(&b, "%s/%s: %s\n", c.Class, c.Case, fact)
		}
	}
	for _, g := range r.Stale {
		fmt.Fprintf(&b, "the gap %q no longer occurs: remove it\n", g)
	}
	return b.String() + undeclared(r.Results) + r.Summary() + "\n"
}

// Markdown returns the report as a table of findings, with those that gaps declare.
func (r *Report) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.\n", r.Summary())
	if len(r.Findings()) > 0 {
		b.WriteString("\n| finding | what the gateway does | went in | came out | gap |\n| --- | --- | --- | --- | --- |\n")
	}
	cell := strings.NewReplacer("|", `\|`, "`", "'", "\n", " ")
	code := func(s string) string {
		if s == "" {
			return ""
		}
		return "`" + cell.Replace(s) + "`"
	}
	for _, f := range r.Findings() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", f.ID(), cell.Replace(f.Says), code(f.In), code(f.Out), code(f.Gap))
	}
	for _, g := range r.Stale {
		fmt.Fprintf(&b, "\nThe gap `%s` no longer occurs.\n", g)
	}
	return b.String()
}

// The elements of JUnit's format that CI systems read (https://github.com/testmoapp/junitxml).
type (
	junitSuites struct {
		XMLName xml.Name `xml:"testsuites"`
		Suites  []junitSuite
	}
	junitSuite struct {
		XMLName  xml.Name `xml:"testsuite"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Skipped  int      `xml:"skipped,attr"`
		Cases    []junitCase
	}
	junitCase struct {
		XMLName xml.Name      `xml:"testcase"`
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Seconds float64       `xml:"time,attr"`
		Failure *junitMessage `xml:"failure"`
		Skipped *junitMessage `xml:"skipped"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit returns the report as XML in JUnit's format, with a suite for each class. Gaps that no longer occur are a suite
// "gaps".
func (r *Report) JUnit() []byte {
	var all junitSuites
	suite := func(name string) *junitSuite {
		i := slices.IndexFunc(all.Suites, func(s junitSuite) bool { return s.Name == name })
		if i < 0 {
			i = len(all.Suites)
			all.Suites = append(all.Suites, junitSuite{Name: name})
		}
		all.Suites[i].Tests++
		return &all.Suites[i]
	}
	for _, c := range r.Results {
		s := suite(c.Class)
		j := junitCase{Class: c.Class, Name: c.Case, Seconds: c.Took.Seconds(), Out: strings.Join(c.Facts, "\n")}
		var failure junitMessage
		for _, f := range c.Findings {
			if f.Gap == "" {
				failure.Message = cmp.Or(failure.Message, f.Says)
				failure.Text += f.String() + "\n"
			}
		}
		switch {
		case failure.Text != "":
			s.Failures++
			j.Failure = &failure
		case c.Skipped != "":
			s.Skipped++
			j.Skipped = &junitMessage{Message: c.Skipped}
		}
		s.Cases = append(s.Cases, j)
	}
	for _, g := range r.Stale {
		s := suite("gaps")
		s.Failures++
		s.Cases = append(s.Cases, junitCase{Class: "gaps", Name: g, Failure: &junitMessage{Message: "the gap no longer occurs: remove it"}})
	}
	out, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		panic(err) // all members can be written as XML
	}
	return append([]byte(xml.Header), append(out, '\n')...)
}
