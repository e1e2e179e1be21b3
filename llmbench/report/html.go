package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
)

var (
	//go:embed page.tmpl
	pageText string
	//go:embed page.css
	pageStyle string
)

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"picture": func(p *Picture) (template.HTML, error) {
		text, err := p.inline()
		return template.HTML(text), err // the SVG writer escapes its texts
	},
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
	"of":    func(t Table, label string) labelled { return labelled{label, t} },
	"why":   func(t *Tools) labelled { return labelled{"Why tools differ: " + t.Title, t.Why} },
	"style": func() template.CSS { return template.CSS(pageStyle) },
	"bare": func(s string) bool {
		return s == "" || s == "-" || s == "?" || s[0] >= '0' && s[0] <= '9' || s[0] == '-' || s[0] == '+'
	},
}).Parse(pageText))

// labelled is a table with the name that a screen reader reads out.
type labelled struct {
	Label string
	Table Table
}

// HTML writes the report as one page that needs no other file and no network. The page's
// content security policy forbids the browser to load anything.
func (r *Report) HTML(w io.Writer) error { return page.Execute(w, r) }
