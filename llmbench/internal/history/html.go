package history

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/rowname"
)

var (
	//go:embed overview.tmpl
	pageText string
	//go:embed overview.css
	pageStyle string
	//go:embed overview.js
	pageScript string
)

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"style":      func() template.CSS { return template.CSS(pageStyle) },
	"script":     func() template.JS { return template.JS(pageScript) },
	"styleHash":  func() string { return sourceHash(pageStyle) },
	"scriptHash": func() string { return sourceHash(pageScript) },
}).Parse(pageText))

// sourceHash returns the expression that allows a script or style with this text in a content security policy
// (https://www.w3.org/TR/CSP3/#grammardef-hash-source).
func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// A htmlPage is what the template shows.
type htmlPage struct {
	Title, Headline, Newest string
	DatesOfCommits          bool // the dates are the dates of commits; otherwise of runs
	Facts                   [][2]string
	Open                    []htmlOpen
	Recent                  []htmlEvent
	Events                  []htmlEvent
	Groups                  []htmlGroup
	Runs                    string // JSON: commit and date of each run, for the script
	Commits                 string
}

// A htmlOpen is a row of the table of open changes.
type htmlOpen struct {
	Title     string
	Lines     []string // all moves, if there are several
	Good, Bad htmlCommit
	Accept    string // the command that accepts it
}

// A htmlEvent is a row of the table of events.
type htmlEvent struct {
	Kind      eventKind
	Date      string
	Run       htmlCommit // the run that revealed it
	Good, Bad *htmlCommit
	Lines     []string
}

// A htmlCommit is a commit with the URL of its page, or "".
type htmlCommit struct{ Hash, Short, Link string }

// A htmlGroup is a section with small multiples.
type htmlGroup struct {
	ID, Title string
	Panels    []htmlPanel
}

// A htmlPanel is one picture.
type htmlPanel struct {
	Title, Machine, Now, Shift string
	Worse                      bool
	Picture                    template.HTML
	Points                     string // JSON: x, y, index of the run, value and distance from the level of each point
}

// HTML writes the overview as one page that needs no other file and no network. The page's content security policy
// forbids the browser to load anything, and to run any script except the one in the page.
func (o *Overview) HTML(w io.Writer, opts PageOptions) error {
	newest := len(o.runs) - 1
	p := htmlPage{Title: opts.Title, Headline: o.headline(), Commits: opts.Commits, DatesOfCommits: o.made,
		Newest: fmt.Sprintf("The newest run, %.12s of %s: %s.", o.runs[newest].Commit, o.day(newest), o.report.newest())}
	points := 0
	for i := range o.panels {
		points += len(o.panels[i].points)
	}
	p.Facts = [][2]string{{"runs", fmt.Sprintf("%d, %s to %s", len(o.runs), o.day(0), o.day(newest))},
		{"series", fmt.Sprintf("%d, with %d results", len(o.panels), points)}}
	if all := common(o.names); all != "" {
		p.Facts = append(p.Facts, [2]string{"all series", all})
	}
	p.Facts = append(p.Facts, [2]string{"false alarms", fmt.Sprintf("in at most one run of %.0f on average; changes of less than %.3g%% do not count", o.report.Nights, 100*o.report.Min)})
	var runs [][2]string
	for i, run := range o.runs {
		runs = append(runs, [2]string{run.Commit, o.day(i)})
	}
	text, err := json.Marshal(runs)
	if err != nil {
		return err
	}
	p.Runs = string(text)
	for _, c := range o.open {
		h := htmlOpen{Title: o.onMachine(c), Good: opts.commit(c.Good), Bad: opts.commit(c.Bad), Accept: o.report.accept(c.Bad.Run)}
		if len(c.Moves) > 1 {
			h.Lines = printer{}.moves(c.Moves)
		}
		p.Open = append(p.Open, h)
	}
	for _, e := range o.recent() {
		p.Recent = append(p.Recent, o.htmlEvent(e, opts))
	}
	for _, e := range o.events {
		p.Events = append(p.Events, o.htmlEvent(e, opts))
	}
	if p.Groups, err = o.groups(); err != nil {
		return err
	}
	return page.Execute(w, p)
}

func (o *Overview) htmlEvent(e event, opts PageOptions) htmlEvent {
	h := htmlEvent{Kind: e.kind, Date: o.found(e.night), Run: opts.commit(RunID{Commit: o.runs[e.night].Commit})}
	if e.cause == nil {
		h.Lines = []string{e.detail}
		return h
	}
	good, bad := opts.commit(e.cause.Good), opts.commit(e.cause.Bad)
	h.Good, h.Bad = &good, &bad
	h.Lines = printer{}.moves(e.cause.Moves)
	return h
}

// commit returns the commit of a run.
func (o PageOptions) commit(r RunID) htmlCommit {
	return htmlCommit{r.Commit, fmt.Sprintf("%.12s", r.Commit), o.link(r.Commit)}
}

// groups returns the pictures: first of open changes, then of what changed in the last week, then of each benchmark.
func (o *Overview) groups() ([]htmlGroup, error) {
	all := []htmlGroup{{ID: "open", Title: "Open changes"}, {ID: "recent", Title: "Changed in the last 7 days"}}
	index := map[string]int{}
	for i := range o.panels {
		p := &o.panels[i]
		h, err := o.htmlPanel(p)
		if err != nil {
			return nil, err
		}
		switch {
		case p.open:
			all[0].Panels = append(all[0].Panels, h)
			continue
		case o.changedLately(p):
			all[1].Panels = append(all[1].Panels, h)
			continue
		}
		at, ok := index[p.Benchmark]
		if !ok {
			at = len(all)
			index[p.Benchmark] = at
			all = append(all, htmlGroup{ID: fmt.Sprint("g", at), Title: cmp.Or(o.names.Benchmark(p.benchmark), common(o.names))})
		}
		h.Title = rowname.Unit(p.Unit) // the heading has the benchmark
		all[at].Panels = append(all[at].Panels, h)
	}
	return slices.DeleteFunc(all, func(g htmlGroup) bool { return len(g.Panels) == 0 }), nil
}

func (o *Overview) htmlPanel(p *panel) (htmlPanel, error) {
	h := htmlPanel{Title: p.Series.text(), Machine: p.machine, Now: p.format(p.points[len(p.points)-1].value)}
	if len(p.shifts) > 0 {
		h.Shift, h.Worse = p.shiftText(), p.shifts[len(p.shifts)-1].worse
	}
	d := newDrawing(p, o)
	d.draw()
	h.Picture = template.HTML(d.b.String())
	rows := make([][5]any, len(p.points))
	for _, l := range p.levels {
		for i := l.from; i < l.to; i++ {
			x := p.points[i]
			rows[i] = [5]any{tenth(d.x(x.night)), tenth(d.y(x.value)), x.night, p.format(x.value), fmt.Sprintf("%+.1f%%", 100*(x.value/l.median-1))}
		}
	}
	text, err := json.Marshal(rows)
	h.Points = string(text)
	return h, err
}

// A drawing draws a panel as SVG.
type drawing struct {
	p         *panel
	o         *Overview
	low, high float64
	left      float64 // where the plot begins, beside the largest and the smallest value
	b         strings.Builder
}

// The size of a picture, and its margins.
const pictureWidth, pictureHeight, pictureMargin, pictureHead = 360, 132, 6, 14

// letter is about the width of a digit of an axis.
const letter = 5.6

func newDrawing(p *panel, o *Overview) *drawing {
	d := &drawing{p: p, o: o, low: math.Inf(1), high: math.Inf(-1)}
	for _, x := range p.points {
		d.low, d.high = min(d.low, x.value), max(d.high, x.value)
	}
	for _, l := range p.levels {
		d.low, d.high = min(d.low, l.low), max(d.high, l.high)
	}
	if d.low == d.high {
		d.low, d.high = d.low*0.99, d.high*1.01
	}
	d.left = pictureMargin + letter*float64(max(utf8.RuneCountInString(p.format(d.low)), utf8.RuneCountInString(p.format(d.high)))) + 4
	return d
}

func (d *drawing) x(night int) float64 {
	return d.left + (pictureWidth-pictureMargin-d.left)*(float64(night)+0.5)/float64(len(d.o.runs))
}

func (d *drawing) y(v float64) float64 {
	return pictureHead + (pictureHeight-2*pictureHead)*(d.high-v)/(d.high-d.low)
}

// tenth rounds a coordinate.
func tenth(v float64) float64 { return math.Round(10*v) / 10 }

func (d *drawing) draw() {
	p := d.p
	label := fmt.Sprintf("%s: %s, newest %s", p.Series.text(), numbers.Count(len(p.points), "result"), p.format(p.points[len(p.points)-1].value))
	fmt.Fprintf(&d.b, `<svg viewBox="0 0 %d %d" role="img" tabindex="0" aria-label="%s">`, pictureWidth, pictureHeight, template.HTMLEscapeString(label))
	for _, l := range p.levels {
		left, right := d.x(p.points[l.from].night), d.x(p.points[l.to-1].night)
		fmt.Fprintf(&d.b, `<rect class="band" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, left, d.y(l.high), max(1, right-left), max(0.5, d.y(l.low)-d.y(l.high)))
		fmt.Fprintf(&d.b, `<path class="level" d="M%.1f %.1fH%.1f"/>`, left, d.y(l.median), max(right, left+1))
	}
	d.b.WriteString(`<path class="line" d="`)
	for i, x := range p.points {
		letter := "L"
		if i == 0 || x.baseline {
			letter = "M"
		}
		fmt.Fprintf(&d.b, "%s%.1f %.1f", letter, d.x(x.night), d.y(x.value))
	}
	d.b.WriteString(`"/>`)
	for _, x := range p.points {
		if x.baseline {
			fmt.Fprintf(&d.b, `<path class="baseline" d="M%.1f %dV%d"/>`, d.x(x.night), pictureHead, pictureHeight-pictureHead)
		}
		if x.suspect {
			fmt.Fprintf(&d.b, `<circle class="suspect" cx="%.1f" cy="%.1f" r="3"/>`, d.x(x.night), d.y(x.value))
		}
	}
	for _, s := range p.shifts {
		class, sign := "better", "▼"
		if s.worse {
			class = "worse"
		}
		if s.change > 0 {
			sign = "▲"
		}
		at := d.x(s.begins)
		fmt.Fprintf(&d.b, `<path class="%s" d="M%.1f %dV%d"/>`, class, at, pictureHead, pictureHeight-pictureHead)
		fmt.Fprintf(&d.b, `<text class="%s" x="%.1f" y="11" text-anchor="middle">%s %+.1f%%</text>`, class, max(26, min(pictureWidth-26, at)), sign, 100*s.change)
	}
	d.axes()
	d.b.WriteString(`<path class="cursor" d=""/></svg>`)
}

// axes writes the largest and the smallest value at the left, and dates below: of the first and the last run, and of runs
// between them.
func (d *drawing) axes() {
	text := func(x, y float64, anchor, s string) {
		fmt.Fprintf(&d.b, `<text class="axis" x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, x, y, anchor, template.HTMLEscapeString(s))
	}
	text(d.left-4, pictureHead+8, "end", d.p.format(d.high))
	text(d.left-4, pictureHeight-pictureHead, "end", d.p.format(d.low))
	const ticks = 3 // with wide digits, more dates would touch
	last := len(d.o.runs) - 1
	before := ""
	for i := range ticks {
		night := i * last / (ticks - 1)
		day := d.o.day(night)
		if day == before {
			continue
		}
		before = day
		x, anchor := d.x(night), "middle"
		switch {
		case last == 0:
		case i == 0:
			anchor = "start"
		case i == ticks-1:
			anchor = "end"
		}
		fmt.Fprintf(&d.b, `<path class="tick" d="M%.1f %dv3"/>`, x, pictureHeight-pictureHead)
		text(x, pictureHeight-2, anchor, day)
	}
}
