package records

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// A Note is what the harness says about the figures of a run. The line about the end has the
// notes, and the benchmark logs each one in the form of [Note.String].
type Note struct {
	Kind  string   `json:"kind"`            // what the note is about: one of the constants, or a word of a later release
	Doubt bool     `json:"doubt,omitempty"` // the figures may be wrong, or mean something else than they seem to
	Units []string `json:"units,omitempty"` // of the figures that the note is about; none: of all
	Text  string   `json:"text"`            // one line or several
}

// Kinds of notes.
const (
	NoteClient      = "client"      // the client distorted figures, or nobody can tell whether it did
	NoteBursts      = "bursts"      // answers came in bursts
	NoteRate        = "rate"        // requests were not sent at the rate that was asked for
	NoteRecorder    = "recorder"    // requests waited for their records
	NoteClock       = "clock"       // instants are of another clock than usual, or the clock was set
	NoteServer      = "server"      // figures or counts of the server
	NoteFailures    = "failures"    // failures that are tolerated
	NoteShards      = "shards"      // processes that made the measurement together
	NoteLengths     = "lengths"     // answers that are longer or shorter than was asked for
	NoteCache       = "cache"       // prompts that the server had in its cache
	NoteTokens      = "tokens"      // output tokens that the server did not state or not stream, or several in a delta
	NoteConnections = "connections" // connections that were opened or closed on the way
	NoteSteady      = "steady"      // there was no steady state
	NoteAnswers     = "answers"     // none of the checked answers is right
)

var (
	noteForm = regexp.MustCompile(`^llmbench (warns|notes) \(([a-z][a-z0-9-]*)(?:: (\S+?(?:, \S+?)*))?\): `)
	noteKind = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
)

// String returns the form of a note in a log, which [ParseNote] reads:
//
//	llmbench warns (client: p99-itl-ns, p50-ttft-ns): p99-itl-ns, p50-ttft-ns are withheld: …
//	llmbench notes (connections): 15 of 16 requests had to open a connection …
//
// A note warns if it puts figures in doubt. The units are left out if the note is about all.
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

// ParseNote returns the note that a logged text has the form of. It reports whether there is
// one: other texts are not of the harness.
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
