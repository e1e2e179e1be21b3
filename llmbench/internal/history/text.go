package history

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/markdown"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// JSON writes the report as one JSON object.
func (r *Report) JSON(w io.Writer) error {
	all := r.filled()
	for _, other := range r.Others {
		filled := other.filled()
		all.Others = append(all.Others, &filled)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(&all)
}

// filled returns a copy of r without Others, in which no list is nil.
func (r *Report) filled() Report {
	all := *r
	all.Others = nil
	all.Causes, all.Improved, all.Known = list(r.Causes), list(r.Improved), list(r.Known)
	all.Suspects, all.Controls, all.Cleared, all.Same, all.Young = list(r.Suspects), list(r.Controls), list(r.Cleared), list(r.Same), list(r.Young)
	all.Withheld = list(r.Withheld)
	all.Missing, all.Unsound, all.LeftOut, all.Epochs, all.Order = list(r.Missing), list(r.Unsound), list(r.LeftOut), list(r.Epochs), list(r.Order)
	return all
}

// list returns a copy of all that is never nil, so that JSON has [] rather than null.
func list[T any](all []T) []T { return append([]T{}, all...) }

// Text writes the report as text for a terminal. The summary is both its first and its last line.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	p := printer{b: &b, head: func(s string) string { return "\n" + s + "\n" }, item: "  "}
	fmt.Fprintln(&b, p.plain(r.Summary))
	for _, one := range r.all() {
		if len(r.Others) > 0 {
			fmt.Fprintf(&b, "\nmachine %q", one.Machine)
		}
		fmt.Fprintf(&b, "\nrun: %s\ncommit: %s of %s\n", p.plain(one.Run), p.plain(one.Commit), one.Time.Format(time.RFC3339))
		if one.shared != "" {
			fmt.Fprintf(&b, "all series: %s\n", p.plain(one.shared))
		}
		p.body(one)
	}
	fmt.Fprintf(&b, "\n%s\n", p.plain(r.Summary))
	_, err := io.WriteString(w, b.String())
	return err
}

// Markdown writes the report as the Markdown text of an issue.
func (r *Report) Markdown(w io.Writer) error {
	var b strings.Builder
	p := printer{b: &b, head: func(s string) string { return "\n### " + strings.ToUpper(s[:1]) + s[1:] + "\n\n" }, item: "- ", code: "`"}
	fmt.Fprintf(&b, "**%s**\n", p.plain(r.Summary))
	for _, one := range r.all() {
		if len(r.Others) > 0 {
			fmt.Fprintf(&b, "\n## %s\n", p.plain(fmt.Sprintf("Machine %q", one.Machine)))
		}
		fmt.Fprintf(&b, "\nRun %s of commit %s, %s.", p.coded(one.Run), p.coded(one.Commit), one.Time.Format(time.RFC3339))
		if one.shared != "" {
			fmt.Fprintf(&b, " All series: %s.", p.coded(one.shared))
		}
		b.WriteString("\n")
		p.body(one)
		p.reproduce(one)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// accept returns the command that accepts a run.
func (r *Report) accept(run string) string {
	return strings.Join(slices.DeleteFunc([]string{"go tool benchgate history ack", r.place, run}, func(s string) bool { return s == "" }), " ")
}

// all returns the report and those about other machines.
func (r *Report) all() []*Report { return append([]*Report{r}, r.Others...) }

// A printer prints the parts that Text and Markdown have in common.
type printer struct {
	b    *strings.Builder
	head func(string) string
	item string // printed before each line of a list
	code string // printed before and after names
}

func (p printer) line(format string, args ...any) { fmt.Fprintf(p.b, p.item+format+"\n", args...) }

// coded returns a name as code. A name must not end its own code span.
func (p printer) coded(name string) string {
	if p.code == "" {
		return redact.Printable(name)
	}
	return p.code + strings.ReplaceAll(redact.Printable(name), p.code, "'") + p.code
}

// plain escapes a text that has no code, since results choose some of its words.
func (p printer) plain(text string) string {
	if p.code == "" {
		return redact.Printable(text)
	}
	return markdown.Escape(redact.Printable(text))
}

// plainAll applies plain to each text.
func (p printer) plainAll(texts []string) (all []string) {
	for _, text := range texts {
		all = append(all, p.plain(text))
	}
	return all
}

func (p printer) list(head string, lines []string) {
	if len(lines) > 0 {
		p.b.WriteString(p.head(head))
	}
	for _, l := range lines {
		p.line("%s", l)
	}
}

// folded is list, for a list that few readers need: Markdown shows it when its head is clicked.
func (p printer) folded(head string, lines []string) {
	if p.code == "" || len(lines) == 0 {
		p.list(head, lines)
		return
	}
	fmt.Fprintf(p.b, "\n<details><summary>%s: %s</summary>\n\n", strings.ToUpper(head[:1])+head[1:], numbers.Count(len(lines), "series"))
	for _, l := range lines {
		p.line("%s", l)
	}
	p.b.WriteString("\n</details>\n")
}

func (p printer) body(r *Report) {
	p.list("out of order", p.plainAll(r.Order))
	p.causes("for the worse, found in this run", r.Causes)
	p.causes("known: found in earlier runs, and still open", r.Known)
	p.list("out of line; rerun before you believe it", p.moves(r.Suspects))
	p.list("rerun these, too: the machine was slow, and they show whether it still is", p.series(r.Controls))
	p.list("out of line until reruns disagreed", p.moves(r.Cleared))
	p.slow("a slow run: taken out of each series", r.SlowOnce, r.Machine)
	p.slow("a slow run, but not when it was rerun: taken out of each series", r.Recovered, r.Machine)
	p.causes("for the better", r.Improved)
	p.list("a new baseline begins, because this changed", p.plainAll(r.Epochs))
	p.list("missing, although earlier runs had it", p.plainAll(r.Missing))
	p.list("withheld in this run", p.plainAll(r.Withheld))
	p.list("not sound: not judged, and never a baseline", p.plainAll(r.Unsound))
	p.list("left out", p.plainAll(r.LeftOut))
	p.folded("too few earlier runs to judge", p.series(r.Young))
	p.folded("no change shown", p.series(r.Same))
	if len(r.Causes)+len(r.Known)+len(r.Missing) > 0 {
		p.list("if all of this is as it should be, accept it", []string{p.coded(r.accept(r.Run))})
	}
	p.b.WriteString(p.head("confidence"))
	if r.Detectable > 0 {
		p.line("a change of %.1f%% in a typical series is found within seven runs in four of five cases, and one of %.1f%% puts its first run out of line", 100*r.Detectable, 100*r.AtOnce)
	}
	p.line("at most one run in %.0f has a false alarm on average, whatever the number of series; changes of less than %.3g%% do not count", r.Nights, 100*r.Min)
}

// slow prints that all series of a machine are worse, if m is not nil.
func (p printer) slow(head string, m *Move, machine string) {
	if m == nil {
		return
	}
	text := p.plain(fmt.Sprintf("all series of machine %q are worse by about %.1f%%", machine, 100*m.Change))
	if m.Reruns > 0 {
		text += "; needs " + numbers.Count(m.Reruns, "rerun")
	}
	p.list(head, []string{text})
}

func (p printer) causes(head string, all []Cause) {
	if len(all) == 0 {
		return
	}
	p.b.WriteString(p.head(head))
	for _, c := range all {
		p.cause(c)
	}
}

func (p printer) cause(c Cause) {
	p.line("after commit %s of %s, in commit %s of %s at the latest:", p.coded(fmt.Sprintf("%.12s", c.Good.Commit)), c.Good.Time.Format(time.DateOnly),
		p.coded(fmt.Sprintf("%.12s", c.Bad.Commit)), c.Bad.Time.Format(time.DateOnly))
	for _, m := range p.moves(c.Moves) {
		p.b.WriteString("  ")
		p.line("%s", m)
	}
}

func (p printer) moves(all []Move) (lines []string) {
	for _, m := range all {
		text := fmt.Sprintf("%s: %+.1f%%, 95%% confidence interval %+.1f%% to %+.1f%%, p %s", p.plain(m.Series.text()), 100*m.Change, 100*m.Low, 100*m.High, pValue(m.P))
		if m.Reruns > 0 {
			text += fmt.Sprintf("; needs %s", numbers.Count(m.Reruns, "rerun"))
		}
		lines = append(lines, text)
	}
	return lines
}

// pValue formats a p-value. Values below 1e-12 are not printed, because rounding errors dominate them.
func pValue(p float64) string {
	if p < 1e-12 {
		return "< 1e-12"
	}
	return fmt.Sprintf("%.1g", p)
}

func (p printer) series(all []Series) (lines []string) {
	for _, s := range all {
		lines = append(lines, p.plain(s.text()))
	}
	return lines
}

// reproduce prints, for each cause, the commands that compare the commits before and after it.
func (p printer) reproduce(r *Report) {
	known := slices.DeleteFunc(slices.Clone(r.Causes), func(c Cause) bool { return noCommit(c.Good.Commit) || noCommit(c.Bad.Commit) })
	if len(known) == 0 {
		return
	}
	p.b.WriteString(p.head("how to reproduce it"))
	for _, c := range known {
		pattern := "."
		if m := c.Moves[0]; m.pattern != "" {
			pattern = m.pattern
		}
		fmt.Fprintf(p.b, "On machine %s, commit %s against %s:\n\n    git checkout %s\n    go tool benchgate ab -base=%s -max=25 -- -bench=%s -benchtime=1x ./...\n",
			p.plain(strconv.Quote(r.Machine)), p.coded(fmt.Sprintf("%.12s", c.Bad.Commit)), p.coded(fmt.Sprintf("%.12s", c.Good.Commit)),
			quoted(redact.Printable(c.Bad.Commit)), quoted(redact.Printable(c.Good.Commit)), quoted(redact.Printable(pattern)))
	}
}

// quoted returns s as one word for a shell. The texts come from result files, which may be anybody's. Package
// shellquote would put a backslash before each $ of a pattern, which is hard to read.
func quoted(s string) string {
	if s != "" && strings.Trim(s, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._/") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Patterns returns a value of the go test flag -bench for each benchmark that needs reruns, and the number of
// reruns that each of them needs. It includes the controls.
func (r *Report) Patterns() (patterns []string, reruns []int) {
	for _, m := range r.Suspects {
		if m.Reruns == 0 {
			continue
		}
		if i := slices.Index(patterns, m.pattern); i >= 0 {
			reruns[i] = max(reruns[i], m.Reruns)
			continue
		}
		patterns, reruns = append(patterns, m.pattern), append(reruns, m.Reruns)
	}
	each := 1
	if r.SlowOnce != nil {
		each = max(each, r.SlowOnce.Reruns)
	}
	for _, s := range r.Controls {
		if !slices.Contains(patterns, s.pattern) {
			patterns, reruns = append(patterns, s.pattern), append(reruns, each)
		}
	}
	return patterns, reruns
}
