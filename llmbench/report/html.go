package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"

	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
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
		case *Picture:
			return labelled{before + v.Title, v.Table}, nil
		case *Figures:
			return labelled{before + v.Title, v.Table}, nil
		case *Tools:
			return labelled{before + v.Title, v.Table}, nil
		}
		return labelled{}, fmt.Errorf("no table in %T", of)
	},
	"of":         func(t Table, label string) labelled { return labelled{label, t} },
	"why":        func(t *Tools) labelled { return labelled{"Why tools differ: " + t.Title, t.Why} },
	"style":      func() template.CSS { return template.CSS(pageStyle + chart.Style) },
	"script":     func() template.JS { return template.JS(chart.Script + pageScript) },
	"styleHash":  func() string { return hash(pageStyle + chart.Style) },
	"scriptHash": func() string { return hash(chart.Script + pageScript) },
	"bare": func(s string) bool {
		return s == "" || s == "-" || s == "?" || s[0] >= '0' && s[0] <= '9' || s[0] == '-' || s[0] == '+'
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
	Table Table
}

// Class returns the CSS classes of the table. A "large" table may be wider than the window.
func (l labelled) Class() string {
	if len(l.Table.Head) > 10 {
		return "large"
	}
	return ""
}

// Exact returns an HTML attribute with the exact value of a cell, or "".
func (l labelled) Exact(row, column int) template.HTMLAttr {
	if row >= len(l.Table.Exact) || column >= len(l.Table.Exact[row]) || l.Table.Exact[row][column] == "" {
		return ""
	}
	return template.HTMLAttr(` title="` + template.HTMLEscapeString(l.Table.Exact[row][column]) + `"`)
}

// HTML writes the report as one page that needs no other file and no network. The page's content
// security policy forbids the browser to load anything, and to run any script except the one in the
// page.
func (r *Report) HTML(w io.Writer) error { return page.Execute(w, r) }
