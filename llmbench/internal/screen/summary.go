package screen

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// Report returns what servers stated about themselves, the table, how two systems compare, and, as the last line, the
// summary. No line before the summary is longer than width columns. The summary may be longer, so that a command in it can
// be copied. Report returns "" if there is nothing to show.
func (o *Overview) Report(width int) string {
	if len(o.rows) == 0 {
		return ""
	}
	wrapped := func(paragraph string) (said string) {
		for line := range strings.SplitSeq(text.WrapSoft(redact.Printable(paragraph), max(1, width)), "\n") {
			said += strings.TrimRight(line, " ") + "\n"
		}
		return said
	}
	said := ""
	for _, line := range o.stated() {
		said += wrapped(line)
	}
	if said != "" {
		said += "\n"
	}
	said += o.String(width) + "\n"
	for _, paragraph := range o.comparisons() {
		said += wrapped(paragraph) + "\n"
	}
	return said + o.summary() + "\n"
}

// Undecided begins a note on a benchmark that cannot be judged.
const Undecided = "cannot judge: "

// mostNamed is the maximum number of metrics that the summary lists.
const mostNamed = 3

// summary returns a line about all results.
func (o *Overview) summary() string {
	parts := []string{fmt.Sprintf("%s, %d skipped", numbers.Count(o.Results, "result"), o.Skipped)}
	failed, undecided := 0, 0
	var withheld, why []string
	var worst fault
	for _, r := range o.rows {
		if slices.ContainsFunc(r.notes, func(n string) bool { return strings.HasPrefix(n, "failed: ") }) {
			failed++
		}
		if slices.ContainsFunc(r.notes, func(n string) bool { return strings.HasPrefix(n, Undecided) }) {
			undecided++
		}
		for _, w := range r.withheld {
			withheld = append(withheld, w.Unit+" of "+Short(r.name))
			because := "the client may have changed them"
			switch {
			case w.Parts:
				because = "figures from which they are computed are withheld"
			case w.Unread:
				because = "answers may have text that was not read"
			case w.Idle:
				because = "users had no sessions for a part of the time"
			case w.Most == 0:
				because = "answers came in bursts"
			}
			why = appendNew(why, because)
		}
		if f := r.worst(); f.share > worst.share || worst.of == "" {
			worst = f
		}
	}
	if failed > 0 {
		parts[0] += fmt.Sprintf(", %d failed", failed)
	}
	if undecided > 0 {
		parts[0] += fmt.Sprintf(", %d cannot be judged", undecided)
	}
	if worst.of != "" {
		parts = append(parts, fmt.Sprintf("largest error against the server's own log %s %% (%s)", number(100*worst.share), worst.of))
	}
	if n := len(withheld); n > 0 {
		if n == 1 {
			why[0] = strings.Replace(why[0], "changed them", "changed it", 1)
		}
		if n > mostNamed {
			withheld = append(withheld[:mostNamed:mostNamed], fmt.Sprintf("and %d more", n-mostNamed))
		}
		parts = append(parts, fmt.Sprintf("withheld: %s (%s), because %s", numbers.Count(n, "figure"), strings.Join(withheld, ", "), strings.Join(why, ", or ")))
	}
	if len(o.next) == 1 && o.next[0] != "" {
		parts = append(parts, "next: "+o.next[0])
	}
	return redact.Printable(strings.ReplaceAll(strings.Join(parts, "; "), "\n", " "))
}

// A fault says by which share a metric differs from its true value, and which metric this is.
type fault struct {
	share float64
	of    string // "" if no metric has a true value
}

// worst returns the largest fault of the row's metrics. It ignores metrics that the client may have
// changed.
func (r *row) worst() (w fault) {
	for unit, truths := range r.truths {
		m, measured := r.median(unit)
		v, known := median(truths)
		if !measured || !known || v <= 0 || slices.Contains(r.doubted, unit) {
			continue
		}
		if f := (fault{math.Abs(m/v - 1), unit + " of " + Short(r.name)}); w.of == "" || f.share > w.share || f.share == w.share && f.of < w.of {
			w = f
		}
	}
	return w
}
