package answer

import (
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compare"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
)

// A Kind says what an answer is about.
type Kind string

// These are the kinds of answers.
const (
	Verdict    Kind = "verdict"    // a verdict of package gate
	Comparison Kind = "comparison" // a comparison of systems at equal loads
	Load       Kind = "load"       // one system over its load
	Many       Kind = "many"       // many groups
	Catalogue  Kind = "catalogue"  // many benchmarks of one system
	Run        Kind = "run"        // single loads
)

// An Answer is what the results tell, in words.
type Answer struct {
	Kind      Kind
	Measured  []Fact
	Short     string   // the answer in at most compare.MaxWords words, unless names are long
	Tiles     []Tile   // the figures of the answer
	Stated    []string // what follows from what servers said about themselves
	Next      []string // what to measure next, or to do
	Sentences []string
	Warnings  []string
	Notes     []string // what is worth knowing but puts no value in doubt
	// About is the group that the first sentence is about. It is nil for a verdict, and if there
	// are no results.
	About *systems.Group
	// Compared holds the systems that a comparison names, the best first. By holds the units by
	// which they were compared. Each row has one of these units.
	Compared []*systems.System
	By       []string
	// Adds says that one of the first two systems in Compared is a gateway to the other one, so that the question is
	// what the gateway adds and not which of them is faster.
	Adds   bool
	Groups []Told // of many groups, those with a comparison first, and then those with the most to tell
}

// A Told is what a group tells: its paragraphs, and the systems that they compare.
type Told struct {
	Kind     Kind // Comparison, Load or Run
	Group    *systems.Group
	Says     []string
	Compared []*systems.System
	By       []string      // as in Answer
	Adds     bool          // as in Answer
	Short    compare.Short // of a comparison
}

// A Fact is one thing that was measured or used, such as the model.
type Fact struct{ Key, Value string }
