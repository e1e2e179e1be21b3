package results

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Doubt is a reason why figures of a row may be wrong, or mean something else than they
// seem to.
type Doubt struct {
	Text  string
	Units []string // that the text names; nil if it names none, and applies to all
	Note  bool     // worth knowing, but the figures are right
}

// toleratedError is the largest client-err-%, in percent, of figures that are believed: a
// benchmark withholds figures that the client distorts by more.
const toleratedError = 5

// Doubt returns why figures of the row may be wrong, or "": of these units, or of all if
// there are none.
func (r *Row) Doubt(units ...string) string {
	var reasons []string
	for _, d := range r.Doubts {
		if text := d.about(units); text != "" && !d.Note && !slices.Contains(reasons, text) {
			reasons = append(reasons, text)
		}
	}
	return strings.Join(reasons, "; ")
}

// about returns the text without the units that are not among these, or "" if the doubt is not
// about them.
func (d *Doubt) about(units []string) string {
	if len(units) == 0 || d.Units == nil {
		return d.Text
	}
	for _, u := range units {
		if !slices.Contains(d.Units, u) {
			continue
		}
		head, list, found := strings.Cut(d.Text, ": ")
		for part := range strings.SplitSeq(list, ", ") {
			if found && strings.HasPrefix(part, u+" ") {
				return head + ": " + part
			}
		}
		return d.Text
	}
	return ""
}

// doubt adds a reason, unless the row has it.
func (r *Row) doubt(d Doubt) {
	if !slices.ContainsFunc(r.Doubts, func(o Doubt) bool { return o.Text == d.Text }) {
		r.Doubts = append(r.Doubts, d)
	}
}

// doubts finds reasons in the row's own figures and records, where the log has not said so.
func (r *Row) doubts() {
	known := func(units []string) bool {
		return slices.ContainsFunc(r.Doubts, func(d Doubt) bool {
			return !slices.ContainsFunc(units, func(u string) bool { return !slices.Contains(d.Units, u) })
		})
	}
	for _, run := range r.Runs {
		if run.End == nil {
			continue
		}
		if units := run.End.Withheld; len(units) > 0 && !known(units) {
			r.doubt(Doubt{Text: "the client distorted " + strings.Join(units, ", "), Units: units})
		}
		if units := run.End.Buffered; len(units) > 0 && !known(units) {
			r.doubt(Doubt{Text: "answers came in bursts because something buffered the streams: " + strings.Join(units, ", ") + " mean nothing", Units: units})
		}
	}
	blamed := slices.ContainsFunc(r.Doubts, func(d Doubt) bool { return d.Units != nil && strings.Contains(d.Text, "the client") })
	if s, has := r.Spread(sample.ClientError); has != "" && s.High > toleratedError && !blamed {
		r.doubt(Doubt{Text: fmt.Sprintf("the client may have distorted figures by %.3g%% (%s)", s.High, sample.ClientError)})
	}
}

// harmless are parts of lines that benchmarks log although the figures are what they seem.
var harmless = []string{
	"had to open a connection;", "no steady state:", "output tokens were not all stated by the server",
	"asked for ", "SLO ", "these have no TPOT", "the distortion by the client is unknown",
}

// logged returns the doubt of a line that a benchmark logged.
func logged(text string, known []string) Doubt {
	d := Doubt{Text: firstLine(text)}
	d.Note = slices.ContainsFunc(harmless, func(part string) bool { return strings.Contains(d.Text, part) })
	words := strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" ,:;()\n\t", c) })
	for _, w := range words {
		if slices.Contains(known, w) && !slices.Contains(d.Units, w) {
			d.Units = append(d.Units, w)
		}
	}
	return d
}

// firstLine returns the first line of a text.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSuffix(strings.TrimSpace(line), ":")
}
