package llmbench

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/judge"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/mergepatch"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/priority"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A run is the measurement of a benchmark that calls [Run], or of one arm of [Arms].
type run struct {
	*measurement
	name string
	// b is the benchmark to log to. It is nil while the metrics of an arm are measured by another arm's
	// benchmark; see [Arms]. Until the arm's own benchmark runs, log texts are collected in said.
	b *testing.B
	ending
	// For an arm of [Arms], armsSeed is the seed of the order of the arms, and next returns the argument of
	// Load.Fresh for the next pass. Otherwise they are 0 and nil.
	armsSeed uint32
	next     func() int
	first    *plan  // of the first pass, until it begins; nil for an arm
	sent     []int  // by class, of passes for a time: the most requests of a pass
	cut      string // that the last pass was interrupted, and what was measured until then; "" if it was not

	server, gateway observation        // nothing in processes that are not the leader
	own             map[string]float64 // the load's own metrics
	notes           []string           // notes for the table at the end
	// uncounted means that the server did not count some requests or tokens of the last pass, even after
	// countsDelay. The check of the next pass then does not wait for late counts.
	uncounted bool
	toldPlace bool // tellPlace has added its note
}

// log logs a text or a note, or keeps it until the arm's own benchmark runs.
func (r *run) log(what any) {
	if text, ok := what.(string); ok {
		what = r.target.Redact(text)
	}
	if r.b == nil {
		r.said = append(r.said, what)
		return
	}
	r.b.Helper()
	r.b.Log(what)
}

// logf is like log, with a format.
func (r *run) logf(format string, args ...any) { r.log(fmt.Sprintf(format, args...)) }

// failf makes the benchmark fail when it ends. The benchmark still has a result.
func (r *run) failf(format string, args ...any) {
	r.failed = append(r.failed, r.target.Redact(fmt.Sprintf(format, args...)))
}

// tell adds a note with the given text to the end of the records. It logs the note unless the note is
// reassuring and -v is not set. Units that cannot be in the result are removed from the note.
func (r *run) tell(n records.Note, format string, args ...any) {
	n.Text = r.target.Redact(fmt.Sprintf(format, args...))
	if about := r.reported().Named(n.Units); len(n.Units) > 0 {
		n.Units, n.Doubt = about, n.Doubt && len(about) > 0
	}
	r.end.Notes = append(r.end.Notes, n)
	if !reassuring(n) || testing.Verbose() {
		r.log(n)
	}
}

// note is like tell, for a note that already has its text. It also shows the note in the table at the end.
func (r *run) note(n records.Note) {
	r.tell(n, "%s", n.Text)
	if told := r.end.Notes[len(r.end.Notes)-1]; !reassuring(told) || testing.Verbose() {
		r.notes = append(r.notes, n.Text)
	}
}

// reassuring reports whether a note can be hidden: it casts doubt on nothing, and it is not about failed
// requests, missing metrics, the source of metrics, streams that something holds back, or a pass that ended before its time was over.
func reassuring(n records.Note) bool {
	switch n.Kind {
	case records.NoteAnswers, records.NoteFailures, records.NoteServer, records.NoteClient, records.NoteSteady, records.NoteTokens, records.NoteFinish, records.NoteClock, records.NotePause, records.NoteStart, records.NoteDuration:
		return false
	}
	return !n.Doubt
}

// reported returns the units that can be in the result, without metrics.
func (r *run) reported() *judge.Figures { return &judge.Figures{Units: r.load.units(), Shown: r.shown} }

// Limits, in bytes, of what wrongAnswers shows: the end of a prompt, and the text that says what is wrong
// with the answer.
const (
	shownPrompt = 80
	shownWrong  = 160
)

// tellPlace adds a note, once, if the threads of this process had another place in the queue for a CPU during a pass
// than the configuration says.
func (r *run) tellPlace(pass int, had priority.Place, why string) {
	want := r.target.place(r.cfg)
	if had == want || want == "" || r.toldPlace {
		return
	}
	r.toldPlace = true
	if why == "" {
		why = "a limit has changed since the process began"
	}
	r.tell(records.Note{Kind: records.NotePriority}, "pass %d: the threads of the client had the priority %q at the end, and not %q: %s", pass, had, want, why)
}

// wrongAnswers returns a note with one of the checked answers if none of them is right. In this case the
// server, the prompt or the check usually is not what the user thinks.
func (r *run) wrongAnswers(metrics map[string]float64) []records.Note {
	if right, checked := metrics[sample.Accuracy]; !checked || right > 0 {
		return nil
	}
	text := fmt.Sprintf("0 of %.0f right", metrics[sample.CheckedRequests])
	t := r.target
	for s := range r.all() {
		if s.Checked && s.Turn == 0 && s.Pass == r.prompts.passes-1 {
			prompt := t.Redact(r.prompts.last.at(s.Request).Prompt)
			if cut := len(prompt) - shownPrompt; cut > 0 {
				prompt = "…" + strings.ToValidUTF8(prompt[cut:], "")
			}
			text += fmt.Sprintf("; for example asked %q: %s", prompt, graphic(t.Excerpt(s.Wrong, shownWrong)))
			break
		}
	}
	return []records.Note{{Kind: records.NoteAnswers, Units: []string{sample.Accuracy}, Text: text}}
}

// graphic replaces characters that could change the screen by spaces, because servers write some of the
// text.
func graphic(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return ' '
	}, text)
}

// askForDeltas says how requests to t can ask for the number of tokens in each delta. It returns "" if they cannot, or
// do so already.
func askForDeltas(t Target) string {
	body, err := t.dialect().Body(dialect.Query{Model: "m", Prompt: "a", MaxTokens: 2, Stream: true})
	if err == nil && len(t.Body) > 0 {
		body, err = mergepatch.Apply(body, t.Body)
	}
	var has struct {
		Options map[string]any `json:"stream_options"`
	}
	if err != nil || json.Unmarshal(body, &has) != nil || has.Options == nil || has.Options["continuous_usage_stats"] == true {
		return ""
	}
	return " (with vLLM and SGLang, LLMBENCH_BODY='{\"stream_options\":{\"continuous_usage_stats\":true}}' asks for the tokens of each delta)"
}
