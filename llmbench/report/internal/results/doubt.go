package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Doubt is a reason why values of a row may be wrong, or may mean something other than they seem
// to mean.
type Doubt struct {
	Text  string
	Kind  string   // the kind of the records.Note; "" for a text that a benchmark's own code logged
	Units []string // the units that the doubt is about; nil means all units
	Note  bool     // if true, the text is worth knowing, but the values are right
}

// toleratedError is the largest client-err-%, in percent, at which values are believed. A benchmark
// withholds the values that the client distorts by more.
const toleratedError = 5

// Doubt returns why values of the row may be wrong, or "" if there is no reason. It checks the
// given units. If none are given, it checks all units.
func (r *Row) Doubt(units ...string) string {
	var reasons []string
	for _, d := range r.Doubts {
		if text := d.about(units); text != "" && !d.Note && !slices.Contains(reasons, text) {
			reasons = append(reasons, text)
		}
	}
	return strings.Join(reasons, "; ")
}

// about returns the text of the doubt, without the units that are not in the list. If the doubt is
// about none of the units in the list, it returns "".
func (d *Doubt) about(units []string) string {
	if len(units) == 0 || d.Units == nil {
		return d.Text
	}
	for _, u := range units {
		if !slices.Contains(d.Units, u) {
			continue
		}
		head, list, found := strings.Cut(d.Text, ": ")
		_, part, named := strings.Cut(", "+list, ", "+u+" ")
		if !found || !named {
			return d.Text
		}
		for _, next := range d.Units { // the part of the text about a unit may contain commas
			part, _, _ = strings.Cut(part, ", "+next+" ")
		}
		return head + ": " + u + " " + part
	}
	return ""
}

// doubt adds a reason, unless the row has the same reason already.
func (r *Row) doubt(d Doubt) {
	if !slices.ContainsFunc(r.Doubts, func(o Doubt) bool { return o.Text == d.Text }) {
		r.Doubts = append(r.Doubts, d)
	}
}

// doubts looks in the row's records and values for reasons to doubt the row. It adds the reasons that
// the log does not contain.
func (r *Row) doubts() {
	known := func(units []string) bool {
		return slices.ContainsFunc(r.Doubts, func(d Doubt) bool {
			return !d.Note && !slices.ContainsFunc(units, func(u string) bool { return !slices.Contains(d.Units, u) })
		})
	}
	for _, run := range r.Runs {
		if run.End == nil {
			continue
		}
		for _, n := range run.End.Notes {
			r.doubt(doubtOf(n))
		}
		// Older records contain no notes.
		if units := run.End.Withheld; len(units) > 0 && !known(units) {
			r.doubt(Doubt{Text: "the client distorted " + strings.Join(units, ", "), Kind: records.NoteClient, Units: units})
		}
		if units := run.End.Buffered; len(units) > 0 && !known(units) {
			r.doubt(Doubt{Text: "answers came in bursts because something buffered the streams: " + strings.Join(units, ", ") + " mean nothing", Kind: records.NoteBursts, Units: units})
		}
	}
	blamed := slices.ContainsFunc(r.Doubts, func(d Doubt) bool { return d.Kind == records.NoteClient && !d.Note })
	if s, has := r.Spread(sample.ClientError); has != "" && s.High > toleratedError && !blamed {
		r.doubt(Doubt{Text: fmt.Sprintf("the client may have distorted figures by %.3g%% (%s)", s.High, sample.ClientError), Kind: records.NoteClient})
	}
}

// doubtOf returns the doubt that a note of the harness causes.
func doubtOf(n records.Note) Doubt {
	return Doubt{Text: cmp.Or(FirstLine(n.Text), n.Kind), Kind: n.Kind, Units: n.Units, Note: !n.Doubt}
}

// logged returns the doubt that a text causes which a benchmark logged. If the text has neither the
// form of the harness's notes nor the form that older releases used, the benchmark's own code wrote
// it. Such a text puts no value in doubt.
func logged(text string, known []string) Doubt {
	if n, ok := records.ParseNote(text); ok {
		return doubtOf(n)
	}
	if n, ok := oldNote(text, known); ok {
		return doubtOf(n)
	}
	return Doubt{Text: FirstLine(text), Note: true}
}

// FirstLine returns the first line of a text.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSuffix(strings.TrimSpace(line), ":")
}
