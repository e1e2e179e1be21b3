package history

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// sparkRuns is the number of runs that a line of Text shows.
const sparkRuns = 60

// Text writes the overview as text for a terminal: the open changes, what was found in the last week, and a line for each
// series.
func (o *Overview) Text(w io.Writer) error {
	var b strings.Builder
	newest := len(o.runs) - 1
	fmt.Fprintf(&b, "%s\n", o.headline())
	if all := common(o.names); all != "" {
		fmt.Fprintf(&b, "all series: %s\n", all)
	}
	if len(o.open) > 0 {
		b.WriteString("\nopen until they are gone, or accepted by history ack:\n")
	}
	for _, c := range o.open {
		fmt.Fprintf(&b, "  %s\n    %s\n    %s\n", o.onMachine(c), c.between(), o.report.accept(c.Bad.Run))
	}
	if recent := o.recent(); len(recent) > 0 {
		b.WriteString("\nfound in the last 7 days, and not open:\n")
		for _, e := range recent {
			fmt.Fprintf(&b, "  %s  %.12s  %s\n", o.found(e.night), o.runs[e.night].Commit, e.sentence())
			if e.cause != nil {
				fmt.Fprintf(&b, "    %s\n", e.cause.between())
			}
		}
	}
	fmt.Fprintf(&b, "\nThe newest of %s, %.12s of %s: %s\n\n", numbers.Count(len(o.runs), "run"), o.runs[newest].Commit, o.day(newest), o.report.newest())
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, p := range o.panels {
		last := p.points[len(p.points)-1]
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", p.spark(), p.format(last.value), p.shiftText(), p.Series.text(), p.machine)
	}
	t.Flush()
	_, err := io.WriteString(w, redact.Printable(b.String()))
	return err
}

// onMachine describes a cause in one line, with its machine if the history has several.
func (o *Overview) onMachine(c Cause) string {
	if slices.ContainsFunc(o.runs, func(run *Run) bool { return run.Machine != c.Machine }) {
		return fmt.Sprintf("%s on machine %q", c.text(), c.Machine)
	}
	return c.text()
}

// between says between which commits the change began.
func (c Cause) between() string {
	return fmt.Sprintf("after commit %.12s of %s, in commit %.12s of %s at the latest", c.Good.Commit, c.Good.Time.Format(time.DateOnly), c.Bad.Commit, c.Bad.Time.Format(time.DateOnly))
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
