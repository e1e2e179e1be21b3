package report

import (
	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/answer"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/pictures"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Data is the input of a report, which [Read] returns.
type Data = results.Data

// A Report holds an answer, pictures and tables. HTML writes it as a page. Its first screen has the
// title, the facts, the short answer, the tiles, the headline and the lead.
type Report struct {
	Title    string
	Facts    [][2]string       // what was measured: names and values
	Short    string            // the answer in one sentence of at most 20 words; "" if it has none
	Stated   []string          // what follows from what servers said about themselves
	Tiles    []answer.Tile     // the figures of the answer
	Next     []string          // what to measure next, or to do
	Answer   []string          // paragraphs; the first is the most important
	Lead     *block            // the values that the answer is about, or nil
	Topics   []*block          // what the benchmarks of one server tell, by what they are about
	Headline *pictures.Picture // the picture that shows the answer, or nil
	Warnings []string          // what files, logs and records say against values
	Notes    []string          // what else logs and records say
	Sections []*section        // the rest of the page, in the order of the page

	Pictures []*pictures.Picture // all pictures of the page
	Figures  []*block            // all results of each group, with the digits that the files have
	Tools    []*toolsTable
	Runs     pictures.Table // the runs that the records describe
	Common   []string       // what they have in common, if they are many
	Config   pictures.Table // the configuration of the benchmarks of each file
	Sources  []results.Source
	Command  string // the command line that made the report, or ""

	brief pictures.Table // for texts
	rows  []*results.Row // for JSON
}

// A section is a part of the page with its pictures.
type section struct {
	ID, Title string
	Text      []string // paragraphs
	Pictures  []*pictures.Picture
	Folds     []*fold
}

// A fold is a part of a section that a reader must open.
type fold struct {
	Title    string
	Chosen   bool     // the reader chooses folds by the rows of the table of leaders, in the same order
	Text     []string // paragraphs
	Pictures []*pictures.Picture
	Tools    []*toolsTable
}

// A block is a table with a title and a caption.
type block struct {
	ID, Title string
	Caption   string
	Table     pictures.Table
}

// A toolsTable holds what every tool would report for one pass.
type toolsTable struct {
	ID, Title string
	Caption   string
	Table     pictures.Table
	Why       pictures.Table
}

// Options say how a report is made. The zero value is useful.
type Options struct {
	Title   string   // the title of the page
	Parts   []string // the keys of names that separate pictures; nil means workload and model
	Command string   // the command line that makes the report, which the report shows
	// If Verdict is not nil, the report shows it.
	Verdict *gate.Report
	// SLO holds the limits by which systems are ranked. The records tell which requests keep them,
	// so benchmarks without records are left out. Zero means the limits of the benchmarks.
	SLO sample.SLO
	// Prices has the price of an hour of each system, by a name of the system: a value in its benchmarks' names or in its
	// configuration lines, such as its backend or its model, or the name of its file. The name "" is for all systems. The
	// report then has the price of a million output tokens, in the currency of these prices.
	Prices map[string]float64
}
