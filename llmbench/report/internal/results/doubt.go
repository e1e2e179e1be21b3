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
	// Samples holds the samples that the doubt is about, counted from 0. Nil means all samples; none means a sample
	// that has no result.
	Samples []int
}

// toleratedError is the largest client-err-%, in percent, at which values are believed. A benchmark
// withholds the values that the client distorts by more.
const toleratedError = 5

// Doubt returns why values of the row may be wrong, or "" if there is no reason. It checks the
// given units, and the units from which they are computed. If none are given, it checks all units.
func (r *Row) Doubt(units ...string) string {
	var reasons []string
	for _, unit := range slices.Clone(units) {
		units = append(units, parts(unit)...)
	}
	for i := range r.Doubts {
		d := &r.Doubts[i]
		if text := r.about(d, units); text != "" && !d.Note && !slices.Contains(reasons, text) {
			reasons = append(reasons, text)
		}
	}
	return strings.Join(reasons, "; ")
}

// Withholds reports whether a doubt names a unit of which the row has no value.
func (r *Row) Withholds(unit string) bool {
	return len(r.Values[unit]) == 0 && slices.ContainsFunc(r.Doubts, func(d Doubt) bool { return !d.Note && slices.Contains(d.Units, unit) })
}

// parts returns the units from which a unit is computed.
func parts(unit string) []string {
	u, _ := sample.Find(sample.Units, unit)
	return strings.Fields(u.Parts)
}

// about returns the text of a doubt about the given units, or about all units if none are given. It returns "" if the
// row's values of these units are of other samples.
func (r *Row) about(d *Doubt, units []string) string {
	of := units
	for _, more := range [][]string{d.Units, r.Units} {
		if len(of) == 0 {
			of = more
		}
	}
	touched := slices.DeleteFunc(slices.Clone(of), func(u string) bool { return !r.touches(d, u) })
	switch {
	case len(of) > 0 && len(touched) == 0:
		return ""
	case len(units) == 0:
		return d.Text
	}
	return d.about(touched)
}

// touches reports whether a doubt about a unit is about one of the row's values. A unit without values counts as
// touched, because the doubt says why there are none.
func (r *Row) touches(d *Doubt, unit string) bool {
	of := r.samples[unit]
	return d.Samples == nil || len(of) == 0 && len(d.Samples) > 0 ||
		slices.ContainsFunc(of, func(sample int) bool { return slices.Contains(d.Samples, sample) })
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

// doubt adds a reason. If the row has the same reason already, doubt adds its samples.
func (r *Row) doubt(d Doubt) {
	i := slices.IndexFunc(r.Doubts, func(o Doubt) bool { return o.Text == d.Text })
	if i < 0 {
		r.Doubts = append(r.Doubts, d)
		return
	}
	same := &r.Doubts[i]
	if same.Samples == nil || d.Samples == nil {
		same.Samples = nil
		return
	}
	same.Samples = append(same.Samples, d.Samples...)
	slices.Sort(same.Samples)
	same.Samples = slices.Compact(same.Samples)
}

// doubts looks in the row's records and values for reasons to doubt the row. It adds the reasons that
// the log does not contain. Then it leaves out the values in doubt; see Values.
func (r *Row) doubts() {
	for _, run := range r.Runs {
		samples := r.sampleOf(run)
		for _, d := range notesOf(run) {
			if d.Samples = samples; samples != nil || !slices.ContainsFunc(r.Doubts, func(o Doubt) bool { return o.Text == d.Text }) {
				r.doubt(d)
			}
		}
		for _, d := range listsOf(run) {
			d.Samples = samples
			known := func(o Doubt) bool { return o.covers(d.Units) && (samples == nil || o.in(samples[0])) }
			if !slices.ContainsFunc(r.Doubts, known) {
				r.doubt(d)
			}
		}
	}
	var large []int // the samples with a large error that no other doubt blames on the client
	most := 0.0
	for i, of := range r.samples[sample.ClientError] {
		v := r.Values[sample.ClientError][i]
		blamed := slices.ContainsFunc(r.Doubts, func(d Doubt) bool { return d.Kind == records.NoteClient && !d.Note && d.in(of) })
		if v > toleratedError && !blamed {
			large, most = append(large, of), max(most, v)
		}
	}
	if large != nil {
		r.doubt(Doubt{Text: fmt.Sprintf("the client may have distorted figures by %.3g%% (%s)", most, sample.ClientError), Kind: records.NoteClient, Samples: large})
	}
	r.leaveOut()
}

// in reports whether the doubt is about a sample.
func (d *Doubt) in(sample int) bool { return d.Samples == nil || slices.Contains(d.Samples, sample) }

// covers reports whether the doubt is about all of the units.
func (d *Doubt) covers(units []string) bool {
	return !d.Note && !slices.ContainsFunc(units, func(u string) bool { return !slices.Contains(d.Units, u) })
}

// leaveOut removes the values in doubt of each unit that has a sound value too.
func (r *Row) leaveOut() {
	for i, d := range r.Doubts {
		if len(d.Samples) == r.count {
			r.Doubts[i].Samples = nil
		}
	}
	for unit, samples := range r.samples {
		var values []float64
		var kept []int
		units := append(parts(unit), unit)
		for i, of := range samples {
			wrong := slices.ContainsFunc(r.Doubts, func(d Doubt) bool {
				return !d.Note && (d.Units == nil || slices.ContainsFunc(units, func(u string) bool { return slices.Contains(d.Units, u) })) && d.in(of)
			})
			if !wrong {
				values, kept = append(values, r.Values[unit][i]), append(kept, of)
			}
		}
		if len(kept) > 0 {
			r.Values[unit], r.samples[unit] = values, kept
		}
	}
}

// notesOf returns the doubts that the notes in a run's records cause.
func notesOf(run *records.Run) (all []Doubt) {
	if run.End != nil {
		for _, n := range run.End.Notes {
			all = append(all, doubtOf(n))
		}
	}
	return all
}

// listsOf returns the doubts about the units that a run's records list. Older records have only these lists.
func listsOf(run *records.Run) (all []Doubt) {
	if run.End == nil {
		return nil
	}
	if units := run.End.Withheld; len(units) > 0 {
		all = append(all, Doubt{Text: "the client distorted " + strings.Join(units, ", "), Kind: records.NoteClient, Units: units})
	}
	if units := run.End.Buffered; len(units) > 0 {
		all = append(all, Doubt{Text: "answers came in bursts because something buffered the streams: " + strings.Join(units, ", ") + " mean nothing", Kind: records.NoteBursts, Units: units})
	}
	return all
}

// SoundRuns returns the runs of which the figures of the given units are not in doubt, or all runs if there are none.
func (r *Row) SoundRuns(units ...string) []*records.Run {
	sound := slices.DeleteFunc(slices.Clone(r.Runs), func(run *records.Run) bool {
		return slices.ContainsFunc(slices.Concat(notesOf(run), listsOf(run)), func(d Doubt) bool { return !d.Note && d.about(units) != "" })
	})
	if len(sound) == 0 {
		return r.Runs
	}
	return sound
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
