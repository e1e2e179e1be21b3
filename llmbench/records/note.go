package records

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// A Note is a remark of the harness about the metrics of a run. The line about the end has the notes, and
// the benchmark logs each note in the form of [Note.String].
type Note struct {
	Kind  string   `json:"kind"`            // what the note is about: one of the constants, or a word of a later release
	Doubt bool     `json:"doubt,omitempty"` // the metrics may be wrong, or may mean something else than they seem to
	Units []string `json:"units,omitempty"` // units that the note is about; none means all
	Text  string   `json:"text"`            // one or several lines
}

// Kinds of notes.
const (
	NoteClient      = "client"      // the client distorted metrics, or it is unknown whether it did
	NoteBursts      = "bursts"      // answers came in bursts
	NoteStart       = "start"       // the first deltas of answers came together, and the later ones one by one
	NoteUnread      = "unread"      // answers have members that the dialect does not know, and that may have text
	NoteFinish      = "finish"      // answers ended with a finish reason that their API does not document
	NoteRate        = "rate"        // requests were not sent at the requested rate
	NoteDuration    = "duration"    // a pass for a time ended before its time was over
	NoteRecorder    = "recorder"    // requests waited because writing their records was slow
	NoteClock       = "clock"       // instants are from another clock than usual, or the clock was set
	NotePriority    = "priority"    // the client's place in the queue for a CPU
	NoteServer      = "server"      // metrics or counts of the server
	NoteFailures    = "failures"    // failures that are tolerated
	NoteShards      = "shards"      // the processes that made the measurement together
	NoteLengths     = "lengths"     // answers that are longer or shorter than requested
	NoteCache       = "cache"       // prompts that the server had in its cache
	NoteTokens      = "tokens"      // output tokens that were not reported or not streamed, or several in a delta
	NoteConnections = "connections" // connections that were opened or closed during the passes
	NoteSteady      = "steady"      // there was no steady state
	NoteAnswers     = "answers"     // none of the checked answers is correct
	NotePause       = "pause"       // all streams stood still for a time
	NoteHook        = "hook"        // what LLMBENCH_BEFORE_PASS or LLMBENCH_AFTER_PASS has printed
)

var (
	noteForm = regexp.MustCompile(`^llmbench (warns|notes) \(([a-z][a-z0-9-]*)(?:: (\S+?(?:, \S+?)*))?\): `)
	noteKind = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
)

// String returns the note in the form of a log line, which [ParseNote] parses:
//
//	llmbench warns (client: p99-itl-ns, p50-ttft-ns): p99-itl-ns (by up to 10 %), p50-ttft-ns (by up to 6.5 %) are withheld: …
//	llmbench notes (connections): 15 of 16 requests had to open a connection …
//
// The verb is "warns" if the note puts metrics in doubt. The line omits the units if the note is about all
// of them.
func (n Note) String() string {
	verb, about := "notes", n.Kind
	if n.Doubt {
		verb = "warns"
	}
	if len(n.Units) > 0 {
		about += ": " + strings.Join(n.Units, ", ")
	}
	return fmt.Sprintf("llmbench %s (%s): %s", verb, about, n.Text)
}

// ParseNote parses a text in the form of [Note.String]. It returns false if the text does not have this
// form: such a text is not a note of the harness.
func ParseNote(logged string) (n Note, ok bool) {
	form := noteForm.FindStringSubmatch(logged)
	if form == nil {
		return n, false
	}
	n = Note{Kind: form[2], Doubt: form[1] == "warns", Text: strings.TrimPrefix(logged, form[0])}
	if form[3] != "" {
		n.Units = strings.Split(form[3], ", ")
	}
	return n, n.check() == nil
}

func (n *Note) check() error {
	switch {
	case !noteKind.MatchString(n.Kind):
		return fmt.Errorf("a note of the kind %q: want a word such as client", n.Kind)
	case strings.TrimSpace(n.Text) == "":
		return errors.New("a note without a text: want one")
	}
	for _, u := range n.Units {
		if len(strings.Fields(u)) != 1 || strings.TrimSpace(u) != u {
			return fmt.Errorf("a note about the unit %q: want the name of a unit", u)
		}
	}
	return nil
}
