package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/pictures"
)

var (
	//go:embed page.tmpl
	pageText string
	//go:embed page.css
	pageStyle string
	//go:embed page.js
	pageScript string
)

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"label": func(of any, before string) (labelled, error) {
		switch v := of.(type) {
		case *pictures.Picture:
			return labelled{before + v.Title, v.Table, ""}, nil
		case *block:
			return labelled{before + v.Title, v.Table, v.ID}, nil
		case *toolsTable:
			return labelled{before + v.Title, v.Table, ""}, nil
		}
		return labelled{}, fmt.Errorf("no table in %T", of)
	},
	"of":         func(t pictures.Table, label string) labelled { return labelled{label, t, ""} },
	"why":        func(t *toolsTable) labelled { return labelled{"Why tools differ: " + t.Title, t.Why, ""} },
	"style":      func() template.CSS { return template.CSS(pageStyle + chart.Style) },
	"script":     func() template.JS { return template.JS(chart.Script + pageScript) },
	"styleHash":  func() string { return hash(pageStyle + chart.Style) },
	"scriptHash": func() string { return hash(chart.Script + pageScript) },
	"mark": func(system int) template.HTMLAttr {
		if system < 0 {
			return ""
		}
		return mark("of", system)
	},
}).Parse(pageText))

// hash returns the expression that allows a script or style with this text in a content security
// policy (https://www.w3.org/TR/CSP3/#grammardef-hash-source).
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// labelled is a table with the name that a screen reader reads out.
type labelled struct {
	Label string
	Table pictures.Table
	Name  string // the name of a file with the table, or ""
}

// longHead is the number of characters from which on the head of a column may break within words.
const longHead = 28

// Class returns the CSS classes of the table. A "large" table may be wider than the window. The heads of a "long" one may
// break within words, such as the names of systems.
func (l labelled) Class() string {
	switch {
	case len(l.Table.Head) > 10:
		return "large"
	case slices.ContainsFunc(l.Table.Head, func(head string) bool { return len(head) >= longHead }):
		return "long"
	}
	return ""
}

// Unit returns an HTML attribute with the unit of a column in benchmark files, or "".
func (l labelled) Unit(column int) template.HTMLAttr {
	if column >= len(l.Table.Units) || l.Table.Units[column] == "" {
		return ""
	}
	return template.HTMLAttr(` data-unit="` + template.HTMLEscapeString(l.Table.Units[column]) + `"`)
}

// Column returns HTML attributes of the head of a column: its unit, and the mark of its system.
func (l labelled) Column(column int) template.HTMLAttr {
	if column >= len(l.Table.Systems) || l.Table.Systems[column] == 0 {
		return l.Unit(column)
	}
	return l.Unit(column) + " " + mark("of", l.Table.Systems[column]-1)
}

// Cell returns HTML attributes of a cell: whether it is a number, the mark of the system that leads in it, and its exact
// value.
func (l labelled) Cell(row, column int, text string) template.HTMLAttr {
	var attributes template.HTMLAttr
	class := ""
	if column > 0 && bare(text) {
		class = "n"
	}
	switch {
	case row < len(l.Table.Leads) && column < len(l.Table.Leads[row]) && l.Table.Leads[row][column] > 0:
		attributes = " " + mark(strings.TrimSpace(class+" lead"), l.Table.Leads[row][column]-1)
	case class != "":
		attributes = ` class="n"`
	}
	if column > 0 && row < len(l.Table.Exact) && column < len(l.Table.Exact[row]) && l.Table.Exact[row][column] != "" {
		attributes += template.HTMLAttr(` title="` + template.HTMLEscapeString(l.Table.Exact[row][column]) + `"`)
	}
	return attributes
}

// bare reports whether the text of a cell is a number or says that there is none.
func bare(s string) bool {
	return s == "" || s == "-" || s == "?" || s[0] >= '0' && s[0] <= '9' || s[0] == '-' || s[0] == '+'
}

// mark returns HTML attributes: a class, and the colour and the mark that a system has in pictures.
func mark(class string, system int) template.HTMLAttr {
	color, glyph := chart.Colors(system)
	return template.HTMLAttr(fmt.Sprintf(`class="%s c%d" data-mark="%s"`, class, color, glyph))
}

// Line returns the most important of what was measured in one line.
func (r *Report) Line() string {
	var values []string
	for _, f := range r.Facts {
		switch {
		case slices.Contains(values, f[1]):
		case f[0] == "Simulated":
			values = append(values, "simulated: "+f[1])
		case slices.Contains([]string{"Systems", "Model", "Hardware", "Load", "Date"}, f[0]):
			values = append(values, f[1])
		}
	}
	if len(values) == 0 && len(r.Facts) > 0 {
		return "What was measured"
	}
	return strings.Join(values, " · ")
}

// Screen returns the CSS class of the picture and the table of the first screen: a narrow picture is beside the table.
func (r *Report) Screen() string {
	if r.Headline != nil && r.Headline.Half() && r.Lead != nil {
		return "screen"
	}
	return ""
}

// HTML writes the report as one page that needs no other file and no network. The page's content
// security policy forbids the browser to load anything, and to run any script except the one in the
// page.
func (r *Report) HTML(w io.Writer) error { return page.Execute(w, r) }
