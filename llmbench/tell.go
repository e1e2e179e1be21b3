package llmbench

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/judge"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A run is the measurement of a benchmark.
type run struct {
	*measurement
	name string
	// b is the benchmark, or nil while its figures are measured in another one; see [Arms]. What is said
	// meanwhile waits in said, and is logged when the benchmark runs.
	b *testing.B
	ending
	// Of an arm of [Arms]: the seed of the order, and the number of the next pass for Load.Fresh. Otherwise 0 and nil.
	armsSeed uint32
	next     func() int

	observer Observer           // or nil
	observed map[string]float64 // the observer's figures, of all passes so far
	notes    []string           // what was logged about the figures
	// uncounted means that the server never counted a part of the last pass: the check of the
	// next one does not wait for that.
	uncounted bool
}

// log logs what is said about a run.
func (r *run) log(what any) {
	if r.b == nil {
		r.said = append(r.said, what)
		return
	}
	r.b.Helper()
	r.b.Log(what)
}

// logf is log for a text with a format.
func (r *run) logf(format string, args ...any) { r.log(fmt.Sprintf(format, args...)) }

// failf fails the benchmark, which has a result all the same.
func (r *run) failf(format string, args ...any) {
	r.failed = append(r.failed, fmt.Sprintf(format, args...))
}

// tell adds a note with that text to the end of the records, and logs it unless it is reassuring.
// The note names only units that the result may have.
func (r *run) tell(n records.Note, format string, args ...any) {
	n.Text = fmt.Sprintf(format, args...)
	if about := r.ofResult(n.Units); len(n.Units) > 0 {
		n.Units, n.Doubt = about, n.Doubt && len(about) > 0
	}
	r.end.Notes = append(r.end.Notes, n)
	if !reassuring(n) || testing.Verbose() {
		r.log(n)
	}
}

// note is tell for a note that has its text, and that the table at the end shows too.
func (r *run) note(n records.Note) {
	r.tell(n, "%s", n.Text)
	if told := r.end.Notes[len(r.end.Notes)-1]; !reassuring(told) || testing.Verbose() {
		r.notes = append(r.notes, n.Text)
	}
}

// reassuring reports whether a note puts nothing in doubt, and says nothing of requests that failed,
// of figures that are missing, nor where figures come from.
func reassuring(n records.Note) bool {
	switch n.Kind {
	case records.NoteAnswers, records.NoteFailures, records.NoteServer, records.NoteClient, records.NoteSteady, records.NoteTokens, records.NoteClock:
		return false
	}
	return !n.Doubt
}

// ofResult returns the names, among names, of units that the result may have.
func (r *run) ofResult(names []string) []string {
	f := judge.Figures{Units: r.load.units(), Shown: r.shown}
	return f.Named(names)
}

// Of a prompt and of what is wrong with its answer so many bytes are shown.
const (
	shownPrompt = 80
	shownWrong  = 160
)

// wrongAnswers shows one of the checked answers if none of them is right: then the server, the prompt
// or the check is mostly not what the user thinks.
func (r *run) wrongAnswers(metrics map[string]float64) []records.Note {
	if right, checked := metrics[sample.Accuracy]; !checked || right > 0 {
		return nil
	}
	text := fmt.Sprintf("0 of %.0f right", metrics[sample.CheckedRequests])
	t := r.target
	for s := range r.all() {
		if s.Checked && s.Turn == 0 && s.Pass == r.prompts.passes-1 {
			prompt := t.Redact(r.prompts.last.At(s.Request).Prompt)
			if cut := len(prompt) - shownPrompt; cut > 0 {
				prompt = "…" + strings.ToValidUTF8(prompt[cut:], "")
			}
			text += fmt.Sprintf("; for example asked %q: %s", prompt, graphic(t.Excerpt(s.Wrong, shownWrong)))
			break
		}
	}
	return []records.Note{{Kind: records.NoteAnswers, Units: []string{sample.Accuracy}, Text: text}}
}

// graphic replaces what could change the screen, because servers write some of the text.
func graphic(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return ' '
	}, text)
}

// figuresOfTokens returns the units of the result that depend on the number of output tokens.
func (r *run) figuresOfTokens() []string {
	f := judge.Figures{Units: r.load.units(), Shown: r.shown}
	return f.OfTokens()
}
