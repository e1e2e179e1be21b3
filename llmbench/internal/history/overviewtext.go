package history

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// sparkRuns is the number of runs that a line of Text shows.
const sparkRuns = 60

// Text writes the overview as text for a terminal: what changed in the week of the newest run, and a line for each series.
func (o *Overview) Text(w io.Writer) error {
	var b strings.Builder
	newest := o.runs[len(o.runs)-1]
	fmt.Fprintf(&b, "%s\n\n", o.headline())
	for _, e := range o.recent() {
		run := o.runs[e.night]
		fmt.Fprintf(&b, "  %s  %.12s  %s\n", run.Time.UTC().Format(time.DateOnly), run.Commit, e.sentence())
		if e.cause != nil {
			fmt.Fprintf(&b, "              after commit %.12s, in commit %.12s at the latest\n", e.cause.Good.Commit, e.cause.Bad.Commit)
		}
	}
	if len(o.recent()) > 0 {
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "The newest of %s, %.12s of %s: %s\n\n", numbers.Count(len(o.runs), "run"), newest.Commit, newest.Time.UTC().Format(time.DateOnly), o.report.Summary)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, p := range o.panels {
		last := p.points[len(p.points)-1]
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", p.spark(), p.format(last.value), p.shiftText(), p.Series.text(), p.machine)
	}
	t.Flush()
	_, err := io.WriteString(w, redact.Printable(b.String()))
	return err
}

// shiftText describes the newest shift of a panel.
func (p *panel) shiftText() string {
	if len(p.shifts) == 0 {
		return "-"
	}
	s := p.shifts[len(p.shifts)-1]
	word := "better"
	if s.worse {
		word = "WORSE"
	}
	return fmt.Sprintf("%+.1f%% %s", 100*s.change, word)
}

// spark draws the last points of a panel as blocks of eight heights.
func (p *panel) spark() string {
	const blocks = "▁▂▃▄▅▆▇█"
	points := p.points[max(0, len(p.points)-sparkRuns):]
	low, high := points[0].value, points[0].value
	for _, x := range points {
		low, high = min(low, x.value), max(high, x.value)
	}
	var b strings.Builder
	for _, x := range points {
		height := 0
		if high > low {
			height = min(7, int(8*(x.value-low)/(high-low)))
		}
		b.WriteRune([]rune(blocks)[height])
	}
	return b.String()
}
